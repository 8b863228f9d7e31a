import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { userConfigFile } from '../../../src/config/state/stateFolder.ts';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, OUR_TOOLS, startedTools } from './agent.ts';
import { scratchFolder } from './disk.ts';
import { fixture, gatewayStatus } from './gateway.ts';
import { approveAll, toolsRow } from './person.ts';

const API_TOOLS = OUR_TOOLS.map((name) => name.replace('mcp_waygate_', 'mcp_api-waygate_'));

const apiTools = (): string[] => vscode.lm.tools.map(({ name }) => name).filter((name) => name.includes('api-waygate'));

async function browse(tool: string): Promise<string> {
  const result = await vscode.lm.invokeTool(tool, { input: { path: '/' }, toolInvocationToken: undefined });
  return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

const roots = async (): Promise<string[]> =>
  (await driver.rows('Tools')).filter(({ depth }) => depth === 1).map(({ label }) => label);

const dashboards = (): string[] =>
  vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputWebview)
    .map(({ label }) => label);

const statusItem = async (): Promise<string> =>
  (await driver.statusBar()).find(({ text }) => text.includes('Waygate'))?.label ?? '';

/** File system of one empty folder. */
const EMPTY: vscode.FileSystemProvider = {
  onDidChangeFile: new vscode.EventEmitter<vscode.FileChangeEvent[]>().event,
  watch: () => new vscode.Disposable(() => undefined),
  stat: ({ path }) => {
    if (path !== '/virtual') throw vscode.FileSystemError.FileNotFound();
    return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
  },
  readDirectory: () => [],
  createDirectory: () => undefined,
  readFile: () => {
    throw vscode.FileSystemError.FileNotFound();
  },
  writeFile: () => undefined,
  delete: () => undefined,
  rename: () => undefined,
};

/** A workspace of two folders, each with a configuration. */
describe('Folders', () => {
  let folder: string;
  let file: string;
  const configuration = JSON.stringify({ servers: { second: { command: 'node', args: [fixture('server.mjs')] } } });

  before(async () => {
    // A busy window loads the suite before it has its workspace.
    await eventually('the workspace', () => vscode.workspace.workspaceFolders !== undefined);
    folder = join(scratchFolder(), 'api');
    file = join(folder, '.vscode', 'waygate.json');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await approveAll();
    await startedTools(OUR_TOOLS.length);
  });

  it('runs a gateway for each, with its tools below a row of its own', async () => {
    const before = await gatewayStatus();
    mkdirSync(join(folder, '.vscode'), { recursive: true });
    vscode.workspace.updateWorkspaceFolders(1, 0, { uri: vscode.Uri.file(folder), name: 'api' });
    await eventually('the folder', () => vscode.workspace.workspaceFolders?.length === 2);
    await toolsRow('memory', ({ depth }) => depth === 1);
    // The configuration may appear later than its folder.
    writeFileSync(file, configuration);
    await toolsRow('second', ({ depth, description }) => depth === 2 && description === 'needs approval');
    assert.deepEqual(await roots(), ['workspace', 'api']);
    await toolsRow('memory', ({ depth }) => depth === 2);
    const offers = (await driver.notifications()).filter((text) =>
      text.startsWith('The folder api configures 1 server'),
    );
    assert.equal(offers.length, 1);
    await driver.clickRowAction('Tools', 'second', 'Approve Servers');
    await driver.click('.codelens-decoration a:has-text(\'Approve "second"\')');
    await toolsRow('second', ({ description }) => / tools\b/.test(description));
    await driver.screenshot('folders');
    const after = await gatewayStatus();
    assert.deepEqual([after.worker.pid, after.servers.length], [before.worker.pid, before.servers.length]);
  });

  it('shows a mistake in the file that both read once', async () => {
    const own = userConfigFile();
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, '{"retry": {"maxAttempts": 0}}');
    for (const workspace of [undefined, folder]) {
      const read = async (): Promise<boolean> =>
        (await gatewayStatus(workspace)).configuration.problems.some(({ location }) => location.file === own);
      await eventually('the problem', read);
    }
    const marked = (): number => vscode.languages.getDiagnostics(vscode.Uri.file(own)).length;
    await eventually('the mark', marked);
    assert.equal(marked(), 1);
    rmSync(own);
    await eventually('no mark', () => marked() === 0);
  });

  it('keeps a server that the editor starts while the configuration changes', async () => {
    const sessions = async (): Promise<string[]> => (await gatewayStatus(folder)).sessions.map(({ id }) => id);
    // Longer than the time after which the definition follows each change.
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    assert.deepEqual(await sessions(), []);
    const starting = vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
    writeFileSync(file, configuration.replace('"servers"', '"tolerantArgs": true, "servers"'));
    await starting;
    const [first] = await eventually('its session', sessions, (ids) => ids.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.deepEqual(await sessions(), [first]);
  });

  it('registers a server for each, whose tools Copilot keeps apart', async () => {
    await eventually(
      'the tools of both',
      async () => {
        await vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
        return apiTools().sort();
      },
      (names) => names.length === API_TOOLS.length,
      60_000,
    );
    assert.deepEqual(apiTools().sort(), API_TOOLS);
    const [ours, theirs] = [await invoke('tool_browse', { path: '/' }), await browse('mcp_api-waygate_tool_browse')];
    assert.match(ours, /\/memory/);
    assert.doesNotMatch(ours, /\/second/);
    assert.match(theirs, /\/second/);
    assert.doesNotMatch(theirs, /\/memory/);
  });

  it('runs the command of a row on its folder, and asks which folder in the palette', async () => {
    await driver.chooseFromRowMenu('Tools', 'api', 'Open Dashboard');
    await eventually(
      'the dashboard of the folder',
      () => driver.frameText().catch(() => ''),
      (text) => text.includes('second') && !text.includes('memory'),
    );
    assert.deepEqual(dashboards(), ['Waygate: api']);
    const opening = vscode.commands.executeCommand('waygate.openDashboard');
    await driver.waitFor('.quick-input-title:has-text("Open Dashboard: Choose a Folder")');
    await driver.screenshot('choose-folder');
    await driver.click('.quick-input-list .monaco-list-row:has-text("workspace")');
    await opening;
    await eventually(
      'the dashboard of the other folder',
      () => driver.frameText().catch(() => ''),
      (text) => text.includes('memory') && !text.includes('second'),
    );
    assert.deepEqual(dashboards(), ['Waygate: api', 'Waygate: workspace']);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('has one item in the status bar, with the tools of both and the worse state', async () => {
    const { catalog } = await gatewayStatus();
    const row = await toolsRow('second', ({ description }) => / tools\b/.test(description));
    const tools = [`workspace: ${catalog.toolCount} tools`, `api: ${row.description.replace(/ · .*$/, '')}`];
    await eventually('the tools of both', statusItem, (label) => tools.every((words) => label.includes(words)));
    writeFileSync(file, configuration.replace('"node"', '"no-such-program"'));
    await eventually('the warning', async () =>
      (await driver.statusBar()).some(({ label }) => label.includes(', 2 folders.') && /problem/.test(label)),
    );
    // Two folders have a gateway, but only one has a server that waits for an approval.
    await vscode.commands.executeCommand('waygate.approveServers');
    await driver.waitFor('.codelens-decoration a:has-text("Approve \\"second\\"")');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    writeFileSync(file, configuration);
    await toolsRow('second', ({ description }) => / tools\b/.test(description));
  });

  it('shows problems in the configuration of their folder alone', async () => {
    const problemsOf = (path: string): string[] =>
      vscode.languages
        .getDiagnostics(vscode.Uri.file(path))
        .filter(({ source }) => source === 'Waygate')
        .map(({ message }) => message);
    writeFileSync(file, '{ "servers": { "second": { "comand": "node" } } }');
    await eventually('the problem', () => problemsOf(file).some((message) => message.includes('comand')));
    assert.deepEqual(problemsOf(join(scratchFolder(), 'workspace', '.vscode', 'waygate.json')), []);
    writeFileSync(file, configuration);
    await eventually('its end', () => problemsOf(file).length === 0);
  });

  it('ends the gateway of a folder that is removed, and keeps the other and its session', async () => {
    const before = await gatewayStatus();
    vscode.workspace.updateWorkspaceFolders(1, 1);
    await eventually(
      'the rows without a folder',
      roots,
      (labels) => labels.includes('memory') && !labels.includes('api'),
    );
    await eventually('the end of its tools', () => apiTools().length === 0);
    assert.match(await invoke('tool_browse', { path: '/' }), /\/memory/);
    const after = await gatewayStatus();
    assert.equal(after.worker.pid, before.worker.pid);
    assert.equal(after.sessions[0]?.client, before.sessions[0]?.client);
  });

  it('leaves out a folder that is on no disk', async () => {
    const provider = vscode.workspace.registerFileSystemProvider('memory', EMPTY);
    vscode.workspace.updateWorkspaceFolders(1, 0, { uri: vscode.Uri.parse('memory:/virtual'), name: 'virtual' });
    await eventually('the folder', () => vscode.workspace.workspaceFolders?.length === 2);
    await toolsRow('memory', ({ depth }) => depth === 1);
    assert.match(await invoke('tool_browse', { path: '/' }), /\/memory/);
    await eventually('the end of the folder', () => {
      if (vscode.workspace.workspaceFolders?.length === 2) vscode.workspace.updateWorkspaceFolders(1, 1);
      return vscode.workspace.workspaceFolders?.length === 1;
    });
    provider.dispose();
  });
});
