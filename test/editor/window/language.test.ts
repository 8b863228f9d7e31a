import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../../support/hostProcess.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

const LANGUAGE = 'qps-ploc';

/** Adds a bundle in which every text stands in brackets. */
function translate(folder: string): void {
  mkdirSync(join(folder, 'l10n'), { recursive: true });
  const texts = JSON.parse(readFileSync('l10n/bundle.l10n.json', 'utf8')) as Record<string, string>;
  const translated = Object.entries(texts).map(([message, text]) => [message, `[${text}]`]);
  writeFileSync(join(folder, 'l10n', `bundle.l10n.${LANGUAGE}.json`), JSON.stringify(Object.fromEntries(translated)));
}

it('an ordinary window shows the texts of its language in the tree, the status bar, a list and a page', async () => {
  const workspace = testWorkspace();
  const file = servers.fixture();
  workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { files: file } }));
  workspace.approve();
  const page = await openWindow(workspace, { alter: translate });
  // The workbench takes its language from here, and passes it to the extension host.
  await page.addInitScript(`globalThis._VSCODE_NLS_LANGUAGE = '${LANGUAGE}'`);
  await page.reload();
  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  const window = workbench(page, join('.out', 'screenshots'));
  await until('a translated row', async () =>
    (await window.rows('Tools')).some(
      ({ label, description }) => label === 'files' && /^\[\d+ tools\]/.test(description),
    ),
  );
  const item = page.locator('.statusbar-item:has-text("Waygate") a');
  await until('the status bar', async () =>
    /\[\[\d+ tools\] from \[1 server\]\]\./.test((await item.getAttribute('aria-label')) ?? ''),
  );
  await window.screenshot('another-language');

  const header = page.locator('.pane-header[aria-label^="Tools Section"]');
  // The buttons of a row are visible while the pointer is on it.
  await header.hover();
  await header.locator('.action-label[aria-label="Find Tool…"]').click();
  const list = page.locator('.quick-input-widget');
  await list.locator('.quick-input-title', { hasText: '[Find Tool]' }).waitFor();
  expect(await list.locator('input[type="text"]').first().getAttribute('placeholder')).toBe(
    '[Part of a path or a description]',
  );
  await page.keyboard.press('Escape');

  await item.click();
  await until('the dashboard', async () => {
    for (const frame of page.frames()) {
      const text = await frame.evaluate('document.body.innerText').catch(() => '');
      // Words of the extension, and words of the page itself.
      if (String(text).includes('[Ready]') && String(text).includes('[Servers]')) return true;
    }
    return false;
  });
}, 240_000);
