import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { sessionPlace } from '../../../src/extension/documents/addresses.ts';
import { FIRST_NAME } from '../../../src/extension/folders/gatewayNames.ts';
import { driver, eventually } from '../harness/driver.ts';
import type { TreeRow } from '../harness/driverProtocol.ts';
import { scratchFolder } from './disk.ts';
import { withControl } from './gateway.ts';
import { approveAll } from './person.ts';

async function row(label: string, fits: (row: TreeRow) => boolean = () => true): Promise<TreeRow> {
  const found = await eventually(
    `the row of ${label}`,
    async () => (await driver.rows('Records')).find((one) => one.label === label),
    (seen) => seen !== undefined && fits(seen),
  );
  assert.ok(found);
  return found;
}

/** Chooses an item of a quick pick by a part of its label. */
async function choose(label: string): Promise<void> {
  await driver.waitFor(`.quick-input-list .monaco-list-row:has-text("${label}")`);
  await driver.type(label);
  await driver.press('Enter');
}

/** The view *Records*: what agents may read, and how a person grants and revokes it. */
describe('Records', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await approveAll();
    await vscode.commands.executeCommand('waygate.records.focus');
  });

  it('shows the history as granted, and the agents’ logs as not granted', async () => {
    const history = await row('History of this gateway', ({ description }) => /\d records?$/.test(description));
    assert.ok(history);
    assert.equal((await row('Logs of your agents')).description, 'not granted');
    await driver.screenshot('records-rows');
  });

  it('adds a source in three questions, and shows its streams', async () => {
    const adding = vscode.commands.executeCommand('waygate.addRecordSource');
    await choose('Logs of your agents');
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("tool_calls")');
    await driver.press('Enter');
    await choose('For 30 Days');
    await adding;
    const added = await row('Logs of your agents', ({ description }) => description.includes('until'));
    assert.match(added.description, /^[\d,]+ records?, until \d{4}-\d\d-\d\d$/);
    const { sources } = await withControl((control) => control.request('records', {}));
    assert.equal(sources.find(({ connection }) => connection === 'agents')?.isGranted, true);
  });

  it('revokes a source by the button of its row', async () => {
    await driver.clickRowAction('Records', 'Logs of your agents', 'Revoke Record Source…');
    await row('Logs of your agents', ({ description }) => description === 'not granted');
  });

  it('opens a recorded session as a document with links between its items', async () => {
    const folder = join(scratchFolder(), 'sessions');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'session.jsonl');
    const lines = [
      { id: 'u1', type: 'user_turn', text: 'Search for open invoices' },
      { id: 'tc1', type: 'tool_call', text: 'invoices.search()', parent_id: 'u1' },
    ];
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const document = await vscode.workspace.openTextDocument(vscode.Uri.from(sessionPlace(FIRST_NAME, file)));
    assert.ok(document.getText().includes('### tool_call tc1 ← [u1](#user_turn-u1)'), document.getText());
  });
});
