import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { EXTENSION_ID, fixture, settledGateway } from './gateway.ts';
import { configure, readConfiguration, toolsRow } from './person.ts';

const OFFER = '.codelens-decoration a';

/** Returns the installed extension's own files that this process has loaded. */
function loadedBundles(): string[] {
  const { extensionPath = '' } = vscode.extensions.getExtension(EXTENSION_ID) ?? {};
  const loaded = Object.keys(createRequire(__filename).cache);
  return loaded
    .filter((file) => file.startsWith(join(extensionPath, 'dist')))
    .map((file) => basename(file))
    .sort();
}

/** First file by its name, because it needs servers that are not approved yet. */
describe('Approval', () => {
  it('comes with little code: nobody has imported or edited anything yet', () => {
    // The help for waygate.json comes with the first gateway, which may run already.
    assert.deepEqual(
      loadedBundles().filter((name) => name !== 'editorLanguage.cjs'),
      ['extension.cjs'],
    );
  });

  it('runs no server of the workspace before the user has seen its full command and approved it', async () => {
    const waiting = await settledGateway();
    assert.deepEqual(
      waiting.servers.map(({ state, pid }) => [state, pid]),
      waiting.servers.map(() => ['needs_approval', undefined]),
    );
    await vscode.commands.executeCommand('waygate.tools.focus');
    await eventually(
      'a row for each that waits',
      () => driver.rows('Tools'),
      (rows) => rows.length === 3 && rows.every(({ description }) => description.startsWith('needs approval')),
    );
    await vscode.commands.executeCommand('waygate.approveServers');
    const document = await eventually('what would run, in a document', () =>
      vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'waygate-approval'),
    );
    const shown = document?.getText() ?? '';
    const { servers } = readConfiguration();
    for (const { args = [] } of Object.values(servers)) {
      assert.ok(shown.includes(`/node ${args.join(' ')}`), shown);
    }
    await driver.waitFor(OFFER);
    assert.deepEqual(await driver.texts(OFFER), [
      'Approve "everything"',
      'Approve "filesystem"',
      'Approve "memory"',
      'Approve all 3 servers',
    ]);
    await driver.picture('approve');
  });

  it('runs a server approved by the button below it, and others approved in the list', async () => {
    await driver.click(`${OFFER}:has-text('Approve "filesystem"')`);
    await toolsRow('filesystem', ({ description }) => / tools\b/.test(description));
    const states = (await settledGateway()).servers.map(({ name, state }) => [name, state]);
    assert.deepEqual(states, [
      ['everything', 'needs_approval'],
      ['filesystem', 'ready'],
      ['memory', 'needs_approval'],
    ]);
    await eventually(
      'only those that still wait',
      () => driver.texts(OFFER),
      (offers) => offers.length === 3,
    );
    await driver.click('.editor-actions .action-label[aria-label^="Approve"]');
    // Nothing is checked, so that Enter approves nothing.
    await driver.waitFor('.quick-input-widget .quick-input-list .monaco-list-row');
    assert.deepEqual(await driver.texts('.quick-input-widget .quick-input-count'), ['0 Selected']);
    await driver.click('.quick-input-widget .quick-input-header .monaco-checkbox');
    await driver.click('.quick-input-widget .quick-input-action .monaco-button');
    await eventually('the others to run', settledGateway, ({ servers }) =>
      servers.every(({ state }) => state === 'ready'),
    );
    await eventually('the document to go', () =>
      vscode.window.tabGroups.all.every(({ tabs }) => tabs.every(({ label }) => label !== 'What Waygate would run')),
    );
  });

  it('is requested again if the command has changed since it was shown', async () => {
    const restore = await configure(({ servers }) => {
      servers.late = { command: 'node', args: [fixture('server.mjs')] };
    });
    await toolsRow('late', ({ description }) => description === 'needs approval');
    await vscode.commands.executeCommand('waygate.approveServers');
    await driver.waitFor(`${OFFER}:has-text('Approve "late"')`);
    await configure(({ servers }) => {
      servers.late = { command: 'node', args: [fixture('server.mjs'), '--wild'] };
    });
    await driver.click(`${OFFER}:has-text('Approve "late"')`);
    await eventually(
      'what it would run now',
      () => vscode.window.activeTextEditor?.document.getText() ?? '',
      (text) => text.includes('--wild'),
    );
    const { servers } = await settledGateway();
    assert.equal(servers.find(({ name }) => name === 'late')?.state, 'needs_approval');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore();
  });

  it('has the button for all at the top too, and compares a changed command with the approved one', async () => {
    const restore = await configure(({ servers }) => {
      for (const name of ['a', 'b', 'c', 'late']) servers[name] = { command: 'node', args: [fixture('server.mjs')] };
    });
    await vscode.commands.executeCommand('waygate.approveServers');
    await driver.waitFor(`${OFFER}:has-text("Approve all 4 servers")`);
    const offers = await driver.texts(OFFER);
    assert.equal(offers[0], 'Approve all 4 servers');
    assert.equal(offers.filter((text) => text === 'Approve all 4 servers').length, 2);
    await driver.click(`${OFFER}:has-text('Approve "late"')`);
    await toolsRow('late', ({ description }) => / tools\b/.test(description));
    await configure(({ servers }) => {
      servers.late = { command: 'node', args: [fixture('server.mjs'), '--wild'] };
    });
    await toolsRow('late', ({ description }) => description === 'needs approval');
    await vscode.commands.executeCommand('waygate.approveServers');
    await driver.click(`${OFFER}:has-text("Show what changed")`);
    const compared = await eventually('the comparison', () => {
      const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
      return input instanceof vscode.TabInputTextDiff ? input : undefined;
    });
    const texts = await eventually(
      'both commands',
      () =>
        [compared?.original, compared?.modified].map(
          (uri) => vscode.workspace.textDocuments.find((one) => String(one.uri) === String(uri))?.getText() ?? '',
        ),
      (both) => both.every((text) => text.includes('server.mjs')),
    );
    assert.deepEqual(
      texts.map((text) => text.includes('--wild')),
      [false, true],
    );
    await driver.screenshot('approval-change');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await restore();
  });
});
