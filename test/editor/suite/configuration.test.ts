import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, startedTools, toolId } from './agent.ts';
import { scratchFolder } from './disk.ts';
import { configurationFile, gatewayStatus, settledGateway, workspaceFolder } from './gateway.ts';
import { approveAll, configure, readConfiguration } from './person.ts';

const WARNING = '.tree-explorer-viewlet-tree-view .message:has-text("VS Code also starts memory itself")';

/** Folder of the user's files, which contains the storage of extensions. */
function userFolder(): string {
  const storage = readdirSync(scratchFolder(), { recursive: true, encoding: 'utf8' }).find((path) =>
    /(^|[\\/])User[\\/]globalStorage$/.test(path),
  );
  assert.ok(storage, 'the editor keeps a folder for the user');
  return dirname(join(scratchFolder(), storage));
}

/** Changed, imported and broken configurations while the gateway runs. */
describe('The configuration', () => {
  before(async () => {
    await approveAll();
    await startedTools(3);
  });

  it('shows a new server after a change of the configuration and a refresh', async () => {
    const restore = await configure(({ servers }) => {
      servers['second-memory'] = { ...servers.memory };
    });
    await eventually(
      'the new server in the tree',
      async () => (await driver.rows('Tools')).map((row) => row.label),
      (labels) => labels.includes('second-memory'),
    );
    assert.match(await invoke('tool_browse', { path: '/' }), /\/second-memory/);
    await restore();
  });

  it('keeps calls in flight and their session when the configuration changes, and the gateway stays visible', async () => {
    const file = configurationFile();
    const before = await settledGateway();
    const id = await toolId('/everything/trigger-long-running-operation');
    const call = invoke('tool_execute', { tool_id: id, args: { duration: 8, steps: 2 } });
    await eventually(
      'the call',
      () => gatewayStatus(),
      (status) => status.servers.some(({ name, state }) => name === 'everything' && state === 'ready'),
    );
    const seen = new Set<string>();
    let looking = true;
    const looked = (async () => {
      while (looking) {
        const rows = await driver.rows('Tools');
        if (!rows.some(({ label }) => label === 'filesystem'))
          seen.add(`rows: ${rows.map(({ label }) => label).join()}`);
        const item = (await driver.statusBar()).find(({ text }) => text.includes('Waygate'))?.label ?? 'no item';
        // A new server may be starting; the gateway is available.
        if (/starting…|stopping|replaced|not running|no item/.test(item)) seen.add(item);
      }
    })();
    const good = readFileSync(file, 'utf8');
    const configuration = JSON.parse(good) as { servers: Record<string, unknown> };
    configuration.servers['third-memory'] = configuration.servers.memory;
    writeFileSync(file, JSON.stringify(configuration, null, 2));
    await eventually(
      'the new server in the tree',
      async () => (await driver.rows('Tools')).map((row) => row.label),
      (labels) => labels.includes('third-memory'),
    );
    assert.match(await invoke('tool_browse', { path: '/' }), /\/third-memory/);
    assert.match(await call, /Long running operation completed/);
    looking = false;
    await looked;
    assert.deepEqual([...seen], []);
    const after = await gatewayStatus();
    assert.equal(after.worker.pid, before.worker.pid);
    assert.equal(after.sessions[0]?.client, before.sessions[0]?.client);
    writeFileSync(file, good);
    await vscode.commands.executeCommand('waygate.refresh');
  });

  it('imports the servers of another client as previewed, with secrets as references', async () => {
    const file = configurationFile();
    const before = readFileSync(file, 'utf8');
    const other = join(workspaceFolder(), '.mcp.json');
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    writeFileSync(
      other,
      JSON.stringify({ mcpServers: { elsewhere: { command: 'node', args: ['x.js'], env: { GITHUB_TOKEN: secret } } } }),
    );
    const importing = vscode.commands.executeCommand('waygate.importServers');
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("elsewhere")');
    await driver.screenshot('import-servers');
    await driver.click('.quick-input-widget .quick-input-action .monaco-button');
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("Write")');
    await driver.screenshot('import-comparison');
    await driver.click('.quick-input-list .monaco-list-row:has-text("Write")');
    await driver.waitFor('.quick-input-title:has-text("Remove These Entries")');
    await driver.press('Escape');
    await importing;
    const after = readFileSync(file, 'utf8');
    assert.match(after, /"elsewhere"/);
    assert.doesNotMatch(after, new RegExp(secret));
    assert.match(after, /\$\{(input|secret):/);
    assert.ok(readFileSync(other, 'utf8').includes(secret), 'the original stays as it is');
    // The commands of the new servers are shown for approval at once.
    await driver.waitFor('.codelens-decoration a:has-text("Approve elsewhere")');
    await driver.click('#status\\.notifications');
    await driver.waitFor('.notifications-center.visible .monaco-button:has-text("Remove from Claude Code…")');
    await driver.screenshot('import-closing');
    await driver.click('.notifications-center.visible .monaco-button:has-text("Undo Import")');
    await eventually('the file as it was', () => readFileSync(file, 'utf8') === before);
    if ((await driver.texts('.notifications-center.visible')).length > 0) await driver.click('#status\\.notifications');
    rmSync(other);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('waygate.refresh');
  });

  it('warns of entries with which VS Code starts servers itself, removes them and brings them back', async () => {
    const { memory } = readConfiguration().servers;
    const user = userFolder();
    const files = [join(workspaceFolder(), '.vscode', 'mcp.json'), join(user, 'mcp.json')] as const;
    const text = JSON.stringify({ servers: { memory, mine: { command: 'mine' } } }, null, 2);
    mkdirSync(user, { recursive: true });
    for (const file of files) writeFileSync(file, text);
    await vscode.commands.executeCommand('waygate.tools.focus');
    await driver.waitFor(WARNING);
    await driver.screenshot('direct-duplicates');
    const importing = vscode.commands.executeCommand('waygate.importServers');
    // The first entry is configured already, and the other is not to be imported.
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("already there")');
    await driver.click('.quick-input-list .monaco-list-row:has-text("mine")');
    await driver.click('.quick-input-widget .quick-input-action .monaco-button');
    await driver.waitFor('.quick-input-title:has-text("Remove These Entries (backup kept)")');
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("other folders lose them too")');
    await driver.screenshot('remove-entries');
    // The entry of the workspace is preselected; the user's own is not.
    await driver.click('.quick-input-list .monaco-list-row:has-text("other folders lose them too")');
    await driver.click('.quick-input-widget .quick-input-action .monaco-button');
    await importing;
    for (const file of files) {
      assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { servers: { mine: { command: 'mine' } } });
      const backup = `${file}.waygate-backup`;
      assert.equal(readFileSync(backup, 'utf8'), text);
      assert.equal(statSync(backup).mode & 0o777, 0o600);
      rmSync(backup);
    }
    await eventually('the end of the warning', async () => (await driver.texts(WARNING)).length === 0);
    await driver.click('#status\\.notifications');
    await driver.click('.notifications-center.visible .monaco-button:has-text("Undo Removal")');
    await eventually('the entries', () => files.every((file) => readFileSync(file, 'utf8') === text));
    if ((await driver.texts('.notifications-center.visible')).length > 0) await driver.click('#status\\.notifications');
    await driver.waitFor(WARNING);
    for (const file of files) rmSync(file);
    await eventually('the end of the warning', async () => (await driver.texts(WARNING)).length === 0);
  });

  it('marks the error in a broken configuration, and keeps the last valid one', async () => {
    const file = configurationFile();
    const good = readFileSync(file, 'utf8');
    writeFileSync(file, good.replace('"servers"', '"servers'));
    await vscode.commands.executeCommand('waygate.refresh');
    const problems = await eventually(
      'the problem',
      () => vscode.languages.getDiagnostics(vscode.Uri.file(file)).filter((problem) => problem.source === 'Waygate'),
      (seen) => seen.length > 0,
    );
    assert.equal(problems[0]?.severity, vscode.DiagnosticSeverity.Error);
    assert.match(await invoke('tool_browse', { path: '/' }), /\/memory/);
    const item = await eventually(
      'the warning in the status bar',
      async () => (await driver.statusBar()).find((candidate) => candidate.text.includes('Waygate'))?.label ?? '',
      (label) => /degraded|problem/i.test(label),
    );
    assert.ok(item);
    await driver.screenshot('broken-configuration');
    writeFileSync(file, good);
    await vscode.commands.executeCommand('waygate.refresh');
  });
});
