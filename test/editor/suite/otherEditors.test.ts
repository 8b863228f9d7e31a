import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { scratchFolder } from './disk.ts';
import { fixture, settledGateway } from './gateway.ts';
import { acceptPlace, keep } from './results.ts';

/** Name of the gateway of the first folder. */
const GATEWAY = 'waygate';
const BYTES = Buffer.from([0, 1, 2, 255, ...Buffer.from('Waygate')]);
const TABLE = ['id,name', ...Array.from({ length: 200 }, (_, i) => `${i},name ${i}`)].join('\n');

/** Ids of the editors of others, with the folders of their stand-ins: the real ones come from the marketplace only. */
const EDITORS = { 'ms-vscode.hexeditor': 'hexeditor', 'ms-toolsai.datawrangler': 'datawrangler' };

async function install(folder: string): Promise<void> {
  const vsix = join(scratchFolder(), `${folder}.vsix`);
  const vsce = fixture(join('..', '..', 'node_modules', '@vscode', 'vsce', 'vsce'));
  const options = ['package', '--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', vsix];
  execFileSync(process.execPath, [vsce, ...options], { cwd: fixture(join('editors', folder)), stdio: 'ignore' });
  await vscode.commands.executeCommand('workbench.extensions.installExtension', vscode.Uri.file(vsix));
}

const tab = (): unknown => vscode.window.tabGroups.activeTabGroup.activeTab?.input;
const frame = (): Promise<string> => driver.frameText().catch(() => '');

describe('Editors of other extensions', () => {
  before(async () => {
    await settledGateway();
    for (const [id, folder] of Object.entries(EDITORS)) {
      await install(folder);
      await eventually(`the extension ${id}`, () => vscode.extensions.getExtension(id) !== undefined);
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    for (const id of Object.keys(EDITORS))
      await vscode.commands.executeCommand('workbench.extensions.uninstallExtension', id);
  });

  it('show bytes that are no text in the hex editor', async () => {
    const handle = keep('bytes', `base64Content('${BYTES.toString('base64')}')`, 'application/octet-stream');
    await vscode.commands.executeCommand('waygate.openResult', { folder: GATEWAY, handle });
    await eventually(
      'the hex editor',
      tab,
      (input) => input instanceof vscode.TabInputCustom && input.viewType === 'hexEditor.hexedit',
    );
    await eventually('the bytes', frame, (text) => text.includes(`hexeditor shows ${BYTES.length} bytes`));
  });

  it('open a table in Data Wrangler, from a copy that the user has saved', async () => {
    const handle = keep('table', `textContent(${JSON.stringify(TABLE)})`, 'text/csv');
    await vscode.commands.executeCommand('waygate.viewTable', { folder: GATEWAY, handle });
    await eventually('the table', frame, (text) => text.includes('rows 1 to 100 of 200'));
    await driver.clickInFrame('button:has-text("Open in Data Wrangler…")');
    const file = await acceptPlace('Save Result', 'table.csv');
    const input = await eventually(
      'Data Wrangler',
      tab,
      (seen) => seen instanceof vscode.TabInputCustom && seen.viewType === 'jupyter-data-wrangler',
    );
    assert.equal((input as vscode.TabInputCustom).uri.fsPath, file);
    assert.equal(readFileSync(file, 'utf8'), TABLE);
    rmSync(file);
  });
});
