import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import {
  configurationFile,
  EXTENSION_ID,
  gatewayStatus,
  settledGateway,
  withControl,
  workspaceFolder,
} from './gateway.ts';

const OURS = /^mcp_waygate_/;
const OUR_TOOLS = [
  'mcp_waygate_prompt_browse',
  'mcp_waygate_prompt_get',
  'mcp_waygate_resource_browse',
  'mcp_waygate_resource_read',
  'mcp_waygate_tool_browse',
  'mcp_waygate_tool_execute',
  'mcp_waygate_tool_view',
];
const ourTools = (): string[] =>
  vscode.lm.tools.map((tool) => tool.name).filter((name) => OURS.test(name) || /waygate/i.test(name));

async function invoke(tool: string, input: object): Promise<string> {
  const result = await vscode.lm.invokeTool(`mcp_waygate_${tool}`, { input, toolInvocationToken: undefined });
  return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

async function toolId(path: string): Promise<string> {
  const text = await eventually(
    `a tool at ${path}`,
    () => invoke('tool_browse', { path }),
    (seen) => seen.includes('(tool)'),
  );
  return /\] (\S+) \(tool\)/.exec(text)?.[1] as string;
}

/** The door opens: from VS Code through host and worker to real servers, and into every view. */
describe('Waygate in VS Code', () => {
  it('runs nothing that the workspace names before the person has seen it whole and approved it', async () => {
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
    const asking = vscode.commands.executeCommand('waygate.approveServers');
    const shown = await eventually(
      'what would run, in a document',
      () => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'waygate-approval')?.getText() ?? '',
    );
    const { servers } = JSON.parse(readFileSync(configurationFile(), 'utf8')) as {
      servers: Record<string, { args: string[] }>;
    };
    for (const { args } of Object.values(servers)) assert.ok(shown.includes(`runs node ${args.join(' ')}`), shown);
    await driver.screenshot('approve-servers');
    await driver.click('.quick-input-widget .quick-input-action .monaco-button');
    await asking;
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('attaches to the gateway by itself, without a chat', async () => {
    const status = await settledGateway();
    assert.deepEqual(
      status.servers.map(({ name, state }) => [name, state]),
      [
        ['everything', 'ready'],
        ['filesystem', 'ready'],
        ['memory', 'ready'],
      ],
    );
    assert.ok(vscode.extensions.getExtension(EXTENSION_ID)?.isActive);
    const activation = performance.getEntriesByName('waygate.activate')[0];
    await driver.log(`activate took ${activation?.duration.toFixed(1)} ms`);
    assert.ok(activation && activation.duration < 100, 'less than 30 ms, with room for a machine that is busy');
  });

  it('offers its server to the editor, which lists its tools and nothing else of ours', async () => {
    const names = await eventually(
      'the tools',
      async () => {
        await vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
        return ourTools();
      },
      (seen) => seen.length >= OUR_TOOLS.length,
      60_000,
    );
    // One of the servers has resources and prompts.
    assert.deepEqual(names.sort(), OUR_TOOLS);
    const status = await gatewayStatus();
    assert.equal(status.sessions.length, 1);
  });

  it('brings a call through lm.invokeTool to the filesystem server, and its text back', async () => {
    const file = join(workspaceFolder(), 'files', 'door.txt');
    writeFileSync(file, 'the door is open\n');
    const id = await toolId('/filesystem/read_text_file');
    assert.equal(await invoke('tool_execute', { tool_id: id, args: { path: file } }), 'ok\nthe door is open\n\n');
  });

  it('shows the same tree as the worker has', async () => {
    await vscode.commands.executeCommand('waygate.tools.focus');
    const nodes = await withControl((control) => control.request('children', { path: '/' }));
    const rows = await eventually(
      'the namespaces',
      () => driver.rows('Tools'),
      (seen) => seen.length === nodes.nodes.length && seen.every(({ description }) => / tools$/.test(description)),
    );
    assert.deepEqual(
      rows.map((row) => [row.label, row.description]),
      nodes.nodes.map((node) => [node.label, `${node.toolCount} tools`]),
    );
    for (const { path, label, toolCount } of nodes.nodes) {
      await driver.expand('Tools', label);
      const children = await withControl((control) => control.request('children', { path }));
      assert.equal(children.nodes.length, toolCount, 'few enough to stand in one level');
      const expected = children.nodes.map((node) => node.label);
      const shown = await eventually(
        `the tools under ${path}`,
        async () => (await driver.rows('Tools')).filter((row) => row.depth === 2).map((row) => row.label),
        (seen) => seen.length === expected.length,
      );
      assert.deepEqual(shown, expected);
      if (label === 'filesystem') await driver.screenshot('tools');
      await driver.clickRow('Tools', label);
    }
  });

  it('tells the health in the status bar', async () => {
    const { catalog } = await gatewayStatus();
    const item = await eventually('the status bar item', async () =>
      (await driver.statusBar()).find((candidate) => candidate.text.includes('Waygate')),
    );
    assert.match(item?.text ?? '', new RegExp(`Waygate\\s+${catalog.toolCount}$`));
  });

  it('shows the same health on the dashboard', async () => {
    await vscode.commands.executeCommand('waygate.openDashboard');
    const { catalog, worker, servers } = await gatewayStatus();
    const text = await eventually(
      'the dashboard',
      () => driver.frameText().catch(() => ''),
      (seen) => seen.includes(`${catalog.toolCount} tools`),
    );
    assert.match(text, /Ready/);
    assert.ok(text.includes(String(worker.pid)), "the worker's pid");
    for (const server of servers) assert.ok(text.includes(server.name), server.name);
    await driver.expand('Tools', 'filesystem');
    await eventually(
      'its tools',
      () => driver.rows('Tools'),
      (rows) => rows.some((row) => row.depth === 2),
    );
    await driver.screenshot('window');
    await driver.clickRow('Tools', 'filesystem');
  });

  it('keeps the session when the worker is killed, and the next call works', async () => {
    const before = await gatewayStatus();
    process.kill(before.worker.pid, 'SIGKILL');
    const id = await toolId('/memory/read_graph');
    assert.match(await invoke('tool_execute', { tool_id: id, args: {} }), /entities/);
    assert.deepEqual(ourTools().sort(), OUR_TOOLS);
    const after = await settledGateway();
    assert.notEqual(after.worker.pid, before.worker.pid);
    assert.equal(after.sessions[0]?.client, before.sessions[0]?.client);
    const row = await eventually(
      'the tree again',
      () => driver.rows('Tools'),
      (seen) => seen.length >= 3,
    );
    assert.ok(row.some(({ label }) => label === 'memory'));
  });

  it('shows a new server after a change of the configuration and a refresh', async () => {
    const file = configurationFile();
    const configuration = JSON.parse(readFileSync(file, 'utf8')) as { servers: Record<string, unknown> };
    configuration.servers['second-memory'] = configuration.servers.memory;
    writeFileSync(file, JSON.stringify(configuration, null, 2));
    await vscode.commands.executeCommand('waygate.refresh');
    await eventually(
      'the new server in the tree',
      async () => (await driver.rows('Tools')).map((row) => row.label),
      (labels) => labels.includes('second-memory'),
    );
    assert.match(await invoke('tool_browse', { path: '/' }), /\/second-memory/);
  });

  it('ends no call in flight when the configuration changes, nor its session, and shows no moment without a gateway', async () => {
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
        // A server that is new may be starting; the gateway is there.
        if (/starting…|stopping|replaced|not running|no item/.test(item)) seen.add(item);
      }
    })();
    const configuration = JSON.parse(readFileSync(file, 'utf8')) as { servers: Record<string, unknown> };
    configuration.servers['third-memory'] = configuration.servers.memory;
    delete configuration.servers['second-memory'];
    writeFileSync(file, JSON.stringify(configuration, null, 2));
    const after = await eventually(
      'another worker',
      () => gatewayStatus().catch(() => undefined),
      (status) => status !== undefined && status.worker.pid !== before.worker.pid,
    );
    await eventually(
      'the new server in the tree',
      async () => (await driver.rows('Tools')).map((row) => row.label),
      (labels) => labels.includes('third-memory') && !labels.includes('second-memory'),
    );
    assert.match(await invoke('tool_browse', { path: '/' }), /\/third-memory/);
    assert.match(await call, /Long running operation completed/);
    looking = false;
    await looked;
    assert.deepEqual([...seen], []);
    assert.equal(after?.sessions[0]?.client, before.sessions[0]?.client);
  });

  it('imports the servers of another client, as the comparison shows, with secrets as references', async () => {
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
    await importing;
    const after = readFileSync(file, 'utf8');
    assert.match(after, /"elsewhere"/);
    assert.doesNotMatch(after, new RegExp(secret));
    assert.match(after, /\$\{(input|secret):/);
    assert.ok(readFileSync(other, 'utf8').includes(secret), 'the original stays as it is');
    writeFileSync(file, before);
    rmSync(other);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('waygate.refresh');
  });

  it('puts its skill where the person says, and replaces what was changed only when told to', async () => {
    const skills = join(workspaceFolder(), '.claude', 'skills');
    const file = join(skills, 'mcp-bootstrap', 'SKILL.md');
    mkdirSync(skills, { recursive: true });
    const install = async (): Promise<void> => {
      await driver.waitFor('.quick-input-list .monaco-list-row:has-text(".github/skills")');
      await driver.click('.quick-input-list .monaco-list-row:has-text(".claude/skills")');
    };
    const first = vscode.commands.executeCommand('waygate.installSkill');
    await install();
    await first;
    const original = readFileSync(file, 'utf8');
    assert.match(original, /^---\nname: mcp-bootstrap\n/);
    writeFileSync(file, 'mine\n');
    const second = vscode.commands.executeCommand('waygate.installSkill');
    await install();
    await driver.waitFor('.quick-input-list .monaco-list-row:has-text("Keep Mine")');
    await driver.screenshot('install-skill');
    assert.equal(readFileSync(file, 'utf8'), 'mine\n');
    await driver.click('.quick-input-list .monaco-list-row:has-text("Replace")');
    await second;
    assert.equal(readFileSync(file, 'utf8'), original);
    rmSync(join(workspaceFolder(), '.claude'), { recursive: true });
  });

  it('names a broken configuration where it is broken, and keeps what worked', async () => {
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

  it('reloads the gateway on request', async () => {
    const before = await settledGateway();
    await vscode.commands.executeCommand('waygate.reload');
    const after = await gatewayStatus();
    assert.notEqual(after.worker.pid, before.worker.pid);
    assert.match(await invoke('tool_browse', { path: '/' }), /\/memory/);
  });

  it('restarts the gateway on request', async () => {
    const before = await settledGateway();
    await vscode.commands.executeCommand('waygate.restart');
    const after = await eventually(
      'another worker',
      () => gatewayStatus().catch(() => undefined),
      (status) => status !== undefined && status.worker.pid !== before.worker.pid,
    );
    assert.ok(after);
    assert.match(await invoke('tool_browse', { path: '/' }), /\/memory/);
  });
});
