import { it } from 'vitest';
import { setServer } from './configurations.ts';
import { WAITING } from './shopServers.ts';
import type { Tour } from './tour.ts';

const LENS = '.codelens-decoration a';

/** Servers of a new workspace, which wait for the user. The first of all: the others need them. */
export function approvalStates(opened: () => Tour): void {
  it('servers wait for their approval', async () => {
    const { page, camera, row, run, only, window } = opened();
    await row('Tools', 'filesystem', /needs approval/);
    await only('Tools');
    await page.locator('.notifications-toasts .notification-list-item').first().waitFor();
    await camera.take('approval-offer');
    await page.keyboard.press('Escape');
    await run('Waygate: Approve Servers');
    await page.locator(LENS).first().waitFor();
    await window.clickRow('Tools', 'filesystem');
    await run('Waygate: Approve Servers');
    // The configuration, which the click opened, has lenses too.
    await page.locator('.tab.active', { hasText: 'What Waygate would run' }).waitFor();
    await page.locator(LENS, { hasText: 'Approve all' }).first().waitFor();
    await camera.take('approval-document');
    await page.locator('.editor-actions .action-label[aria-label^="Approve"]').first().click();
    await page.locator('.quick-input-list .monaco-list-row').first().waitFor();
    await camera.take('approval-list');
    await page.locator('.quick-input-widget .quick-input-header .monaco-checkbox').first().click();
    await page.locator('.quick-input-widget .quick-input-action .monaco-button').first().click();
    for (const name of ['filesystem', 'shop', 'works']) await row('Tools', name, / tools\b/);
  });

  it('a server whose command has changed', async () => {
    const { page, camera, row, run, tidy, workspace } = opened();
    setServer(workspace, 'late', { ...WAITING });
    await row('Tools', 'late', /needs approval/);
    workspace.approve();
    await run('Waygate: Refresh Catalogs');
    await row('Tools', 'late', / tools\b/);
    setServer(workspace, 'late', { ...WAITING, args: [...WAITING.args, '--wild'] });
    await row('Tools', 'late', /needs approval/);
    await run('Waygate: Approve Servers');
    await page.locator(`${LENS}:has-text("Show what changed")`).first().click();
    await page.locator('.monaco-diff-editor').first().waitFor();
    await camera.take('approval-change');
    setServer(workspace, 'late', undefined);
    await tidy();
  });
}
