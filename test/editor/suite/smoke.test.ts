import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';

describe('the editor', () => {
  it('runs the extension under development on the workspace of this run', () => {
    assert.ok(vscode.extensions.getExtension('waygate.waygate'));
    assert.equal(vscode.workspace.workspaceFolders?.length, 1);
  });

  it('is seen from outside as it sees itself', async () => {
    await vscode.commands.executeCommand('workbench.view.explorer');
    const rows = await eventually(
      'the explorer to list the workspace',
      () => driver.rows('Explorer'),
      (seen) => seen.length > 0,
    );
    const names = (
      await vscode.workspace.fs.readDirectory(vscode.workspace.workspaceFolders?.[0]?.uri as vscode.Uri)
    ).map(([name]) => name);
    assert.deepEqual(rows.map(({ label }) => label).sort(), names.sort());
  });
});
