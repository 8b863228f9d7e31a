import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import { invoke, OUR_TOOLS, startedTools } from './agent.ts';
import { configurationFile, gatewayStatus, withControl } from './gateway.ts';
import { approveAll, toolsRow } from './person.ts';

const stateOf = async (name: string): Promise<string | undefined> =>
  (await gatewayStatus()).servers.find((server) => server.name === name)?.state;

/** Returns the hidden tools; nothing while VS Code is writing the file. */
function excluded(): unknown {
  const text = readFileSync(configurationFile(), 'utf8');
  return text.trimEnd().endsWith('}') ? JSON.parse(text).servers.memory.tools?.exclude : undefined;
}

const activeUri = (): string => vscode.window.activeTextEditor?.document.uri.toString(true) ?? '';

const tabs = (): string[] => vscode.window.tabGroups.all.flatMap((group) => group.tabs).map(({ label }) => label);

/** Waits for a redraw of the tree: VS Code passes no row to a command meanwhile. */
const redrawn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));

/** Rows of the servers. Those of their tools are below them. */
const servers = async () => (await driver.rows('Tools')).filter(({ depth }) => depth === 1);

/** The view Tools: servers, their tools, and how a person finds, hides and stops them. */
describe('Tools', () => {
  before(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await approveAll();
    await startedTools(OUR_TOOLS.length);
    await vscode.commands.executeCommand('waygate.tools.focus');
  });

  it('has one row for each server, by name, with its tools and their cost', async () => {
    const names = (await gatewayStatus()).servers.map(({ name }) => name).sort();
    const rows = await eventually(
      'the cost of all',
      servers,
      (seen) =>
        seen.length === names.length && seen.every(({ description }) => / tools · [\d.]+k? tokens\b/.test(description)),
    );
    assert.deepEqual(
      rows.map(({ label }) => label),
      names,
    );
    await driver.screenshot('tools-rows');
  });

  it('opens the definition of a tool by a click', async () => {
    await driver.expand('Tools', 'memory');
    await toolsRow('read_graph', ({ depth }) => depth === 2);
    await driver.clickRow('Tools', 'read_graph');
    await eventually('the definition', activeUri, (uri) =>
      /^waygate:\/\/[^/]*\/tools\/memory\/read_graph(#|%23)/.test(uri),
    );
    const document = vscode.window.activeTextEditor?.document;
    assert.equal(document?.languageId, 'json');
    assert.equal(JSON.parse(document?.getText() ?? '{}').name, 'read_graph');
  });

  it('finds a tool by a part of its path, and reveals it', async () => {
    const finding = vscode.commands.executeCommand('waygate.findTool');
    await driver.waitFor('.quick-input-title:has-text("Find Tool")');
    await driver.type('text_file');
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("read_text_file")');
    await driver.screenshot('find-tool');
    await driver.press('Enter');
    await finding;
    const row = await toolsRow('read_text_file', ({ depth }) => depth >= 2);
    assert.ok(row);
  });

  it('finds tools as an agent would, and explains why', async () => {
    const finding = vscode.commands.executeCommand('waygate.findTool');
    await driver.waitFor('.quick-input-title:has-text("Find Tool")');
    await driver.click('.quick-input-widget .codicon-sparkle');
    await driver.type('remember a person');
    const { hits } = await withControl((control) =>
      control.request('explain', { query: 'remember a person', topK: 20 }),
    );
    const rows = await eventually(
      'the hits',
      () => driver.texts('.quick-input-list .monaco-list-row'),
      (texts) => texts.length > 0 && texts[0]?.includes(String(hits[0]?.score)) === true,
    );
    assert.match(rows[0] ?? '', /^1\./);
    await driver.screenshot('find-tool-ranked');
    await driver.hover('.quick-input-list .monaco-list-row:nth-child(2)');
    await driver.click('.quick-input-list .monaco-list-row:nth-child(2) .action-label[aria-label="Why"]');
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    await finding;
    await eventually('the explanation', tabs, (labels) => labels.some((label) => label.includes('remember a person')));
    const text = await eventually(
      'its text',
      () => driver.frameText().catch(() => ''),
      (seen) => seen.includes('How the query was understood'),
    );
    assert.match(text, /has place 2/);
    await driver.screenshot('why-ranked');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('hides a tool from agents, and an undo restores the file byte for byte', async () => {
    const before = readFileSync(configurationFile());
    await vscode.commands.executeCommand('workbench.actions.treeView.waygate.tools.collapseAll');
    await driver.expand('Tools', 'memory');
    await toolsRow('read_graph', ({ depth }) => depth === 2);
    await driver.chooseFromRowMenu('Tools', 'read_graph', 'Hide from Agents');
    await eventually('the file', excluded, (patterns) => JSON.stringify(patterns) === '["read_graph"]');
    await eventually('the row to go', async () =>
      (await driver.rows('Tools')).every((row) => row.label !== 'read_graph'),
    );
    await vscode.window.showTextDocument(vscode.Uri.file(configurationFile()));
    await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await eventually('the file as it was', () => readFileSync(configurationFile()).equals(before));
    await toolsRow('read_graph', ({ depth }) => depth === 2);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('keeps the checked tools of a server, and says which of its tokens stay', async () => {
    const before = readFileSync(configurationFile());
    const title = async (): Promise<string> => (await driver.texts('.quick-input-title'))[0] ?? '';
    const stay = async (): Promise<number[]> =>
      /^Choose Tools of memory: ([\d,]+) of ([\d,]+) tokens stay$/
        .exec(await title())
        ?.slice(1)
        .map((digits) => Number(digits.replaceAll(',', ''))) ?? [];
    const toggle = (name: string) => driver.click(`.quick-input-list .monaco-list-row:has-text("${name}")`);
    const { paths } = await withControl((control) => control.request('paths', {}));
    const memory = paths.filter(({ server }) => server === 'memory');
    const all = memory.reduce((sum, { tokens }) => sum + tokens, 0);
    const hidden = memory.find(({ name }) => name === 'read_graph')?.tokens ?? 0;
    assert.ok(hidden > 0);
    await driver.chooseFromRowMenu('Tools', 'memory', 'Choose Tools…');
    await eventually('the tokens of all', stay, (seen) => seen.join() === `${all},${all}`);
    await toggle('read_graph');
    await eventually('the tokens that stay', stay, (seen) => seen.join() === `${all - hidden},${all}`);
    await driver.screenshot('choose-tools');
    await driver.press('Enter');
    await eventually('the file', excluded, (patterns) => JSON.stringify(patterns) === '["read_graph"]');
    await toolsRow('memory', ({ description }) => description.startsWith(`${memory.length - 1} tools`));
    await driver.chooseFromRowMenu('Tools', 'memory', 'Choose Tools…');
    await eventually('the tokens without it', stay, (seen) => seen.join() === `${all - hidden},${all - hidden}`);
    await toggle('read_graph');
    await driver.press('Enter');
    await toolsRow('memory', ({ description }) => description.startsWith(`${memory.length} tools`));
    await vscode.window.showTextDocument(vscode.Uri.file(configurationFile()));
    for (const _ of ['the second choice', 'the first']) await vscode.commands.executeCommand('undo');
    await vscode.commands.executeCommand('workbench.action.files.save');
    await eventually('the file as it was', () => readFileSync(configurationFile()).equals(before));
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('copies the path of a tool, and a call that is ready but for its values', async () => {
    const copied = async (item: string): Promise<string> => {
      await vscode.env.clipboard.writeText('nothing');
      await driver.chooseFromRowMenu('Tools', 'search_nodes', item);
      await eventually('a copy', async () => (await vscode.env.clipboard.readText()) !== 'nothing');
      return vscode.env.clipboard.readText();
    };
    await driver.expand('Tools', 'memory');
    await toolsRow('search_nodes', ({ depth }) => depth === 2);
    const path = await copied('Copy Path');
    const { nodes } = await withControl((control) => control.request('children', { path: '/memory' }));
    const tool = nodes.find((node) => node.path === path);
    assert.equal(tool?.label, 'search_nodes');
    const ready = await copied('Copy Ready Call');
    assert.ok(ready.startsWith('tool_execute '));
    const call = JSON.parse(ready.slice('tool_execute '.length)) as Record<string, unknown>;
    assert.deepEqual(call, { tool_id: tool?.toolId, args: { query: '' } });
    // The copied arguments are those that the server requires, so the call runs.
    assert.match(await invoke('tool_execute', call), /^ok\b/);
  });

  it('opens the log and the entry of a server from its row, and switches it off and on', async () => {
    await driver.chooseFromRowMenu('Tools', 'memory', 'Show Server Log');
    await eventually('the log', activeUri, (uri) => /^waygate:\/\/[^/]*\/logs\/memory\.log$/.test(uri));
    await driver.chooseFromRowMenu('Tools', 'memory', 'Open Configuration');
    await eventually('its entry', () => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      const line = document?.fileName === configurationFile() && document.lineAt(selection?.active.line ?? 0).text;
      return line !== false && line.trimStart().startsWith('"memory"');
    });
    await driver.chooseFromRowMenu('Tools', 'memory', 'Switch Off');
    await toolsRow('memory', ({ description }) => description === 'off');
    await redrawn();
    await driver.chooseFromRowMenu('Tools', 'memory', 'Switch On');
    await toolsRow('memory', ({ description }) => / tools\b/.test(description));
    await driver.chooseFromRowMenu('Tools', 'memory', 'Show Log');
    await driver.waitFor('.part.panel .output-view-container, .part.panel .output-view');
    await vscode.commands.executeCommand('workbench.action.closePanel');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await redrawn();
  });

  it('stops and restarts a server from its row', async () => {
    const pidOf = async (name: string) => (await gatewayStatus()).servers.find((server) => server.name === name)?.pid;
    await driver.chooseFromRowMenu('Tools', 'memory', 'Stop');
    await eventually(
      'its end',
      () => stateOf('memory'),
      (state) => state === 'not_started',
    );
    await redrawn();
    await driver.chooseFromRowMenu('Tools', 'memory', 'Restart Server');
    await eventually(
      'its start',
      () => stateOf('memory'),
      (state) => state === 'ready',
    );
    await redrawn();
    const before = await pidOf('filesystem');
    await driver.clickRowAction('Tools', 'filesystem', 'Restart Server');
    await eventually(
      'another process',
      () => pidOf('filesystem'),
      (pid) => pid !== undefined && pid !== before,
    );
    await redrawn();
  });

  it('says what a refresh brought', async () => {
    // The result stands for ten seconds, and a busy window may need as long for the menu.
    const said = eventually(
      'the message',
      () => driver.texts('.tree-explorer-viewlet-tree-view .message'),
      (texts) => texts.some((text) => text === 'memory: nothing changed.'),
      50_000,
    );
    await driver.chooseFromRowMenu('Tools', 'memory', 'Refresh');
    await said;
  });
});
