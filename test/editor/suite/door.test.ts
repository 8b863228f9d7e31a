import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../../src/control/contract.ts';
import { driver, eventually } from '../harness/driver.ts';
import { call, invoke, OUR_TOOLS, ourTools, startedTools } from './agent.ts';
import { EXTENSION_ID, gatewayStatus, settledGateway, withControl, workspaceFolder } from './gateway.ts';
import { approveAll } from './person.ts';

/** Waits until the editor has its one session with the gateway. */
async function attachedSession(): Promise<GatewaySnapshot> {
  return eventually(
    'the session of the editor',
    async () => {
      await startedTools(OUR_TOOLS.length);
      return gatewayStatus();
    },
    ({ sessions }) => sessions.length === 1,
  );
}

/** End-to-end path: from VS Code through host and worker to real servers, and into every view. */
describe('Waygate in VS Code', () => {
  before(approveAll);

  it('attaches to the gateway automatically, without a chat', async () => {
    const status = await eventually(
      'every server to run',
      async () => {
        // A server whose tools are known would otherwise wait for its first call.
        await vscode.commands.executeCommand('waygate.refresh');
        return settledGateway();
      },
      ({ servers }) => servers.every(({ state }) => state === 'ready'),
    );
    assert.deepEqual(
      status.servers.map(({ name, state }) => [name, state]),
      [
        ['everything', 'ready'],
        ['filesystem', 'ready'],
        ['memory', 'ready'],
      ],
    );
    assert.ok(vscode.extensions.getExtension(EXTENSION_ID)?.isActive);
  });

  it('registers its server with the editor, which lists its tools and no others of Waygate', async () => {
    const names = await startedTools(OUR_TOOLS.length);
    assert.deepEqual(names.sort(), OUR_TOOLS);
    await attachedSession();
  });

  it('passes a call through lm.invokeTool to the filesystem server, and returns its text', async () => {
    const file = join(workspaceFolder(), 'files', 'door.txt');
    writeFileSync(file, 'the door is open\n');
    assert.equal(
      await call('/filesystem/read_text_file', { path: file }),
      'ok · data from filesystem\nthe door is open\n\nend of data\n',
    );
  });

  it('shows the same tree as the worker', async () => {
    await vscode.commands.executeCommand('waygate.tools.focus');
    const nodes = await withControl((control) => control.request('children', { path: '/' }));
    const rows = await eventually(
      'the namespaces',
      () => driver.rows('Tools'),
      (seen) => seen.length === nodes.nodes.length && seen.every(({ description }) => / tools\b/.test(description)),
    );
    assert.deepEqual(
      rows.map((row) => [row.label, row.description.replace(/ · .*$/, '')]),
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

  it('shows the health in the status bar', async () => {
    const { catalog } = await gatewayStatus();
    const item = await eventually('the status bar item', async () =>
      (await driver.statusBar()).find((candidate) => candidate.text.includes('Waygate')),
    );
    assert.equal(item?.text, 'Waygate');
    assert.equal(item?.label, `Waygate, ${catalog.toolCount} tools from 3 servers.`);
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
    await driver.clickRow('Tools', 'filesystem');
    await eventually(
      'its tools',
      () => driver.rows('Tools'),
      (rows) => rows.some((row) => row.depth === 2),
    );
    await driver.picture('window');
    await driver.clickRow('Tools', 'filesystem');
  });

  it('keeps the session when the worker is killed, and the next call works', async () => {
    const before = await attachedSession();
    process.kill(before.worker.pid, 'SIGKILL');
    assert.match(await call('/memory/read_graph', {}), /entities/);
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
