import { it } from 'vitest';
import type { Tour } from './tour.ts';

const ROW = '.quick-input-list .monaco-list-row';

/** What agents may read of this machine. */
export function recordStates(opened: () => Tour): void {
  it('Records, and the questions of a grant', async () => {
    const { page, camera, window, row, rowOf, only, run, tidy, hover } = opened();
    await only('Records');
    await row('Records', 'History of this gateway', /\d records?/);
    await window.expand('Records', 'History of this gateway');
    await row('Records', 'calls');
    await camera.take('records-rows');
    await camera.take('records-hover', () => hover(rowOf('Records', 'Logs of your agents'), 'Agents cannot read it'));
    await run('Waygate: Add Record Source…');
    await page.locator(ROW, { hasText: 'Logs of your agents' }).first().waitFor();
    await camera.take('records-source');
    await page.locator(ROW, { hasText: 'Logs of your agents' }).first().click();
    await page.locator(ROW, { hasText: 'tool_calls' }).first().waitFor();
    await camera.take('records-streams');
    await page.keyboard.press('Enter');
    await page.locator(ROW, { hasText: 'For 30 Days' }).first().waitFor();
    await camera.take('records-time');
    await page.locator(ROW, { hasText: 'For 30 Days' }).first().click();
    await row('Records', 'Logs of your agents', /until/);
    await camera.take('records-granted');
    await window.clickRowAction('Records', 'Logs of your agents', 'Revoke Record Source…');
    await row('Records', 'Logs of your agents', /not granted/);
    await tidy();
  });
}
