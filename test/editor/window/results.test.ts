import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { attachControl } from '../../../src/host/attach/attachControl.ts';
import { runtimeOf } from '../../support/census.ts';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { atEnd, shared } from '../../support/lifetime.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

const DIALOG = '.monaco-dialog-box';

const opened = shared(async () => {
  const workspace = testWorkspace({ works: servers.fixture('--wild') });
  const client = await HostProcess.connect(workspace);
  const ids = { raw: await client.toolId('/works/raw'), echo: await client.toolId('/works/echo') };
  const control = await attachControl(runtimeOf(workspace), { start: false, holds: true });
  if (!control) throw new Error('No worker runs.');
  atEnd(() => control.dispose());
  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
  await page.locator('.pane-header[aria-label^="Results Section"]').click();
  const call = (tool: keyof typeof ids, args: object) => client.call('tool_execute', { tool_id: ids[tool], args });
  return { workspace, page, window, call, control };
});

const rows = () => opened().window.rows('Results');
const kept = async () => (await opened().control.request('artifacts', { limit: 100 })).artifacts;

/** Makes a call whose result has a picture for each text. */
async function callWithPictures(...texts: readonly string[]): Promise<void> {
  const content = texts.map((text) => ({
    type: 'image',
    data: Buffer.from(text).toString('base64'),
    mimeType: 'image/png',
  }));
  const groups = async () => (await rows()).filter(({ description }) => description.startsWith('2 results · ')).length;
  const before = await groups();
  await opened().call('raw', { frame: `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify({ content })}}` });
  await until('the row of the call', async () => (await groups()) > before);
}

/** Clicks *Delete* in a row, and agrees to the question. */
async function deleteFrom(label: string, question: string): Promise<void> {
  const { page, window } = opened();
  await window.clickRowAction('Results', label, 'Delete');
  await page.locator(DIALOG, { hasText: question }).waitFor();
  await window.screenshot(`window-delete-${label}`);
  await page.locator(`${DIALOG} .monaco-button`, { hasText: 'Delete' }).click();
  await page.locator(DIALOG).waitFor({ state: 'hidden' });
}

it('all results of a call are saved in a folder, beside the files that are there', async () => {
  const { page, window, workspace } = opened();
  await callWithPictures('one', 'two');
  await window.screenshot('window-result-group');
  const folder = join(workspace.folder, 'saved');
  mkdirSync(folder);
  for (const before of [0, 2]) {
    expect(readdirSync(folder)).toHaveLength(before);
    await window.clickRowAction('Results', 'raw', 'Save All');
    const box = page.locator('.quick-input-widget');
    await box.locator('.quick-input-title', { hasText: 'Save 2 Results in a Folder' }).waitFor();
    // The dialog fills its field when it has listed the workspace.
    await box.locator('.monaco-list-row', { hasText: 'saved' }).waitFor();
    await box.locator('.quick-input-box input').fill(`${folder}/`);
    // The folder has no other below it.
    await until('the folder in the list', async () => (await box.locator('.monaco-list-row').count()) === 1);
    await box.getByRole('button', { name: 'OK', exact: true }).click();
    await until('the files', () => readdirSync(folder).length === before + 2);
  }
  const names = ['raw.png', 'raw-2.png', 'raw-3.png', 'raw-4.png'];
  const texts = () => names.map((name) => readFileSync(join(folder, name), 'utf8')).sort();
  await until('their bytes', () => texts().join() === 'one,one,two,two');
  rmSync(folder, { recursive: true });
});

it('the results of a call lead to it, and are deleted together, each once', async () => {
  const { page, window } = opened();
  await callWithPictures('three', 'four');
  const pictures = async () => (await kept()).filter(({ toolId }) => toolId?.startsWith('works:raw'));
  const before = (await pictures()).length;
  await window.chooseFromRowMenu('Results', 'raw', 'Reveal Call');
  await page.locator('.monaco-list-row.selected[aria-label^="raw, works, ok"]').waitFor();
  // The click expands the row of the call.
  await window.clickRow('Results', 'raw');
  await until('its results', async () => (await rows())[1]?.depth === 2);
  await page.keyboard.press('Shift+ArrowDown');
  // The row of the call and the row of one of its results are selected.
  await deleteFrom('raw', 'Delete these 2 results?');
  await until('the deletion', async () => (await pictures()).length === before - 2);
});

it('the selected results of several calls are deleted, and no other', async () => {
  const { page, window, call } = opened();
  for (const number of [1, 2, 3]) await call('echo', { text: `${number} `.repeat(20_000) });
  const echoes = async () => (await rows()).filter(({ label }) => label === 'echo');
  await until('three rows', async () => (await echoes()).length === 3);
  const oldest = (await kept()).filter(({ toolId }) => toolId?.startsWith('works:echo')).at(-1);
  await window.clickRow('Results', 'echo');
  const second = page.locator(
    '.pane:has(.pane-header[aria-label^="Results Section"]) .monaco-list-row[data-index="1"]',
  );
  await second.click({ modifiers: ['Shift'] });
  await deleteFrom('echo', 'Delete these 2 results?');
  await until('the row of the third', async () => (await echoes()).length === 1);
  expect((await kept()).map(({ handle }) => handle)).toContain(oldest?.handle);

  await window.clickRow('Results', 'echo');
  await page.locator('.codelens-decoration a', { hasText: 'Delete' }).click();
  await page.locator(DIALOG, { hasText: 'Delete this result?' }).waitFor();
  await page.locator(`${DIALOG} .monaco-button`, { hasText: 'Delete' }).click();
  await until('the deletion by the button of the document', async () =>
    (await kept()).every(({ handle }) => handle !== oldest?.handle),
  );
});
