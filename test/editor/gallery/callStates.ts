import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { it } from 'vitest';
import { workspaceStateFolder } from '../../../src/config/state/stateFolder.ts';
import { connectAgent, type Tour } from './tour.ts';

const LENS = '.codelens-decoration a';
const LINES = '.editor-instance .view-lines';
const MENU = '.monaco-menu';

/** Keeps a text of 40 MB, which no answer of a server may have. */
function keepLarge({ folder, stateDir }: { folder: string; stateDir: string }): void {
  const source = (path: string): string => JSON.stringify(pathToFileURL(resolve('src', path)).href);
  const artifacts = join(workspaceStateFolder(folder, stateDir), 'artifacts');
  const script = `
    const { ArtifactStore } = await import(${source('results/artifacts/artifactStore.ts')});
    const { textContent } = await import(${source('results/envelope/partContent.ts')});
    const store = new ArtifactStore({ folder: ${JSON.stringify(artifacts)} });
    const text = Array.from({ length: 570_000 }, (_, i) => 'line ' + i + ': ' + 'order '.repeat(10)).join('\\n');
    await store.store({ kind: 'text', source: 'shop:archive', content: textContent(text), mediaType: 'text/plain', label: 'text', owner: 'workspace' });`;
  execFileSync(process.execPath, ['--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', script]);
}

/** Calls, what is kept of them, and the documents of both. */
export function callStates(opened: () => Tour): void {
  it('calls in Activity, and the documents of one', async () => {
    const { page, camera, window, row, rowOf, only, run, workspace, tidy, hover } = opened();
    const agent = await connectAgent(workspace, 'claude-code');
    const call = (tool_id: string, args: object, more: object = {}) =>
      agent.call('tool_execute', { tool_id, args, ...more } as Record<string, unknown>);
    await only('Activity');
    const orders = Array.from(
      { length: 800 },
      (_, i) => `${1_000 + i},${['Ada', 'Grace', 'Alan'][i % 3]},${(i * 7) % 800},open`,
    );
    await call('works:echo', { text: ['order,customer,amount,status', ...orders].join('\n') });
    await call('works:picture', {}, { render: 'json' });
    await call('works:crash', {});
    const running = call('works:wait', { ms: 600_000 });
    await row('Activity', 'wait', /running/);
    await row('Activity', 'crash', /works · [A-Z_]+/);
    await window.expand('Activity', 'crash');
    await camera.take('activity-rows');
    await camera.take('activity-hover', () => hover(rowOf('Activity', 'crash'), 'UPSTREAM_UNAVAILABLE'));
    await camera.take('activity-request-hover', () => hover(rowOf('Activity', 'echo'), 'echo: ok'));
    await page.mouse.move(700, 895);
    await rowOf('Activity', 'customer_list').click({ button: 'right' });
    await page.locator(MENU).first().waitFor();
    await camera.take('activity-menu');
    await page.keyboard.press('Escape');
    await window.clickRowAction('Activity', 'wait', 'Cancel Call');
    await running;
    await window.clickRow('Activity', 'crash');
    await page.locator(`${LINES}:has-text("What is known")`).first().waitFor();
    await page.locator(LENS).first().waitFor();
    await camera.take('document-fault');
    for (const [part, words, state] of [
      ['Request', 'arguments', 'document-request'],
      ['Attempts', 'Stages', 'document-attempts'],
    ] as const) {
      await window.clickRow('Activity', part);
      await page.locator(`${LINES}:has-text("${words}")`).first().waitFor();
      await camera.take(state);
    }
    await window.clickRow('Activity', 'customer_list');
    await page.locator(`${LINES}:has-text("data from shop")`).first().waitFor();
    await camera.take('document-answer');
    await run('Waygate: Export Calls as JSON…');
    await page.locator('.quick-input-widget input').first().waitFor();
    await camera.take('activity-export');
    await page.keyboard.press('Escape');
    await tidy();
  });

  it('the filter of Activity', async () => {
    const { page, camera, run, rowOf, tidy } = opened();
    await run('Waygate: Filter Calls…');
    const list = page.locator('.quick-input-list .monaco-list-row');
    await list.first().waitFor();
    await camera.take('activity-filter');
    await list
      .filter({ hasText: /failed/i })
      .first()
      .click();
    const go = page.locator('.quick-input-widget .quick-input-action .monaco-button').first();
    if (await go.isVisible()) await go.click();
    await page.locator('.tree-explorer-viewlet-tree-view .message').filter({ visible: true }).first().waitFor();
    await rowOf('Activity', 'customer_list').waitFor({ state: 'hidden' });
    await camera.take('activity-filtered');
    await page.locator('.pane-header[aria-label^="Activity Section"]').first().hover();
    await page.locator('.action-label[aria-label^="Clear Filter"]').first().click();
    await tidy();
  });

  it('Results, and the documents of results', async () => {
    const { page, camera, window, row, rowOf, only, workspace, run, shows, tidy } = opened();
    keepLarge(workspace);
    await run('Waygate: Restart Gateway');
    await only('Results');
    await row('Results', 'text', /MB/);
    await camera.take('results-rows');
    await rowOf('Results', 'echo').click({ button: 'right' });
    await page.locator(MENU).first().waitFor();
    await camera.take('results-menu');
    await page.keyboard.press('Escape');
    await window.clickRow('Results', 'echo');
    await page.locator(LENS, { hasText: 'View as Table' }).first().waitFor();
    await camera.take('document-result');
    await window.clickRow('Results', 'text');
    await page.locator(LENS, { hasText: 'Next part' }).first().waitFor();
    await camera.take('document-large');
    await page.locator(LENS, { hasText: 'Save As…' }).first().click();
    await page.locator('.quick-input-widget input').first().waitFor();
    await camera.take('results-save');
    await page.keyboard.press('Escape');
    await page.locator(LENS, { hasText: 'Find in all of it' }).first().click();
    await page.locator('.quick-input-title:has-text("Find in All")').first().waitFor();
    await camera.take('document-find-box');
    await page.keyboard.type('line 49999\\d:');
    await page.keyboard.press('Enter');
    await page.locator(`${LINES}:has-text("499995")`).first().waitFor();
    await camera.take('document-found');
    await rowOf('Results', 'picture')
      .and(page.locator(':has-text("PNG")'))
      .or(page.locator('.monaco-list-row', { hasText: 'PNG' }))
      .first()
      .click();
    await page.locator('.tab.active').filter({ hasText: '.png' }).waitFor();
    await camera.take('document-picture');
    await tidy();
    await window.clickRow('Results', 'echo');
    await page.locator(LENS, { hasText: 'View as Table' }).first().click();
    await shows('rows 1 to 100 of 800');
    await camera.take('table-first');
    await window.clickInFrame('#sort-2');
    await shows(/amount\s*▲/);
    await window.fillInFrame('#contains', 'grace');
    await shows(/of 26\d/);
    await camera.take('table-filtered');
    await window.fillInFrame('#contains', 'nobody');
    await shows('no row contains');
    await camera.take('table-empty');
    await tidy();
    await page.locator('.pane-body .monaco-list-row', { hasText: 'PNG' }).first().click({ button: 'right' });
    await page.locator(MENU).getByRole('menuitem', { name: 'Delete' }).click({ delay: 120 });
    await page.locator('.monaco-dialog-box').first().waitFor();
    await camera.take('results-delete');
    await page.keyboard.press('Escape');
    await tidy();
  });
}
