import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, onTestFinished } from 'vitest';
import { until } from '../../support/hostProcess.ts';
import { readConfiguration, writeConfiguration } from './configurations.ts';
import type { Tour } from './tour.ts';

const LENS = '.codelens-decoration a';
const ROW = '.quick-input-list .monaco-list-row';

/** `waygate.json` in the editor, and the commands of the first minutes. */
export function fileStates(opened: () => Tour): void {
  it('waygate.json: lenses, hovers, completion', async () => {
    const { page, camera, run, tidy, hover } = opened();
    await run('Waygate: Open Configuration');
    await page
      .locator(LENS, { hasText: / tools · / })
      .first()
      .waitFor();
    await camera.take('configuration-lenses');
    const word = (text: string) => page.locator('.view-line span', { hasText: text }).last();
    await camera.take('configuration-server-hover', () => hover(word('"filesystem"'), 'tools'));
    await page.mouse.move(1_200, 100);
    await tidy();
  });

  it('waygate.json: problems and their corrections', async () => {
    const { page, camera, run, workspace, tidy, hover } = opened();
    const before = readFileSync(workspace.configFile, 'utf8');
    onTestFinished(() => writeFileSync(workspace.configFile, before));
    const { filesystem, memory } = readConfiguration(workspace).servers;
    writeConfiguration(workspace, {
      servers: {
        filesystem,
        memory: { ...memory, agrs: ['-y'] },
        broken: { command: 'no-such-program' },
        clear: {
          command: 'node',
          args: ['clear.mjs'],
          env: { TOKEN: `ghp_${'a1B2'.repeat(9)}`, KEY: '${secret:KEY}' },
        },
      },
      rateLimits: { tool_execute: { maxCallsPerMinute: 40 } },
      policy: { rules: [{ action: 'alow' }, { action: 'allow', server: 'memry' }] },
    });
    await run('Waygate: Open Configuration');
    await run('Waygate: Refresh Catalogs');
    await run('Problems: Focus on Problems View');
    const problem = page.locator('.markers-panel .monaco-list-row', { hasText: 'agrs' }).first();
    await problem.waitFor();
    await page.locator('.notifications-toasts .notification-list-item').first().waitFor();
    await run('Notifications: Clear All Notifications');
    await camera.take('configuration-problems');
    await problem.dblclick();
    await run('View: Hide Panel');
    // The command opens nothing while VS Code still computes the corrections, which the bulb ends.
    await page
      .locator('.lightBulbWidget, .codicon-gutter-lightbulb, .codicon-gutter-lightbulb-auto-fix')
      .first()
      .waitFor();
    await page.keyboard.press('Control+.');
    await page.locator('.action-widget .monaco-list-row', { hasText: 'Change to' }).first().waitFor();
    await camera.take('configuration-quick-fix');
    await page.keyboard.press('Escape');
    // The end of the file has the secret, the limit and the rules.
    await page.keyboard.press('Control+End');
    const word = (text: string) => page.locator('.view-line span', { hasText: text }).last();
    await camera.take('configuration-secret-hover', () => hover(word('secret:KEY'), 'secret'));
    await camera.take('configuration-limit-hover', () => hover(word('"tool_execute"'), 'left'));
    await page.mouse.move(1_200, 100);
    await word('"memry"').dblclick();
    await page.keyboard.press('Control+Space');
    await page.locator('.suggest-widget.visible .monaco-list-row').first().waitFor();
    await camera.take('configuration-completion');
    await page.keyboard.press('Escape');
    writeFileSync(workspace.configFile, before);
    await tidy();
  });

  it('import of servers of another client', async () => {
    const { page, camera, run, workspace, tidy } = opened();
    const before = readFileSync(workspace.configFile, 'utf8');
    const entry = { command: 'node', args: ['tickets.js'], env: { TICKETS_TOKEN: `ghp_${'a1B2'.repeat(9)}` } };
    writeFileSync(join(workspace.folder, '.mcp.json'), JSON.stringify({ mcpServers: { tickets: entry } }));
    await run('Waygate: Import Servers');
    await page.locator(ROW, { hasText: 'tickets' }).first().waitFor();
    await camera.take('import-list');
    await page.locator('.quick-input-widget .quick-input-action .monaco-button').first().click();
    await page.locator(ROW, { hasText: 'Write' }).first().waitFor();
    await camera.take('import-preview');
    await page.locator(ROW, { hasText: 'Write' }).first().click();
    await page.locator('.quick-input-title:has-text("Remove These Entries")').first().waitFor();
    await camera.take('import-remove');
    await page.keyboard.press('Escape');
    const undo = page.locator('.notifications-toasts .monaco-button', { hasText: 'Undo Import' });
    await undo.waitFor();
    await page.locator('.tab.active', { hasText: 'What Waygate would run' }).waitFor();
    await camera.take('import-done');
    await undo.click();
    writeFileSync(workspace.configFile, before);
    await tidy();
  });

  it('the first steps, the skill, the limits and what use has taught', async () => {
    const { page, camera, run, tidy, workspace } = opened();
    const before = readFileSync(workspace.configFile, 'utf8');
    // VS Code learns of walkthroughs some time after its start, and shows another until then.
    await until('the steps', async () => {
      await run('View: Close All Editors');
      await run('Waygate: Get Started');
      await page.locator('.getting-started-step').first().waitFor();
      return (await page.locator('.getting-started-step', { hasText: 'Import your MCP servers' }).count()) > 0;
    });
    await camera.take('walkthrough-steps');
    await tidy();
    await run('Waygate: Install MCP Bootstrap Skill');
    await page.locator(ROW).first().waitFor();
    await camera.take('skill-folders');
    await page.keyboard.press('Escape');
    await run('Waygate: Show Log');
    await page.locator('.output-view, .panel').first().waitFor();
    await camera.take('log-output');
    await run('View: Toggle Panel Visibility');
    await run('Waygate: Forget What Use Has Taught…');
    await page.locator('.monaco-dialog-box, .notifications-toasts .notification-list-item').first().waitFor();
    await camera.take('learned-forget');
    await page.keyboard.press('Escape');
    await run('Preferences: Open Settings (UI)');
    const search = page.locator('.settings-editor .suggest-input-container').first();
    await search.click();
    await page.keyboard.type('waygate');
    // Where Node is found depends on the machine, so it is no setting of the user.
    await page.locator('.settings-editor .action-label', { hasText: 'Remote' }).first().click();
    await page.locator('.settings-editor .setting-item-label', { hasText: 'Node' }).first().waitFor();
    await camera.take('settings-page');
    writeFileSync(workspace.configFile, before);
    await tidy();
  });
}
