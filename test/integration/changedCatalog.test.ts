import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { rendezvous, startHeld, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WORKER } from '../support/workspace.ts';

/** Point 7 of the matrix (docs/reliability.md): a changed catalog is active after a refresh, or after a grace. */
const tool = (name: string) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object' } });
const LISTED = 'notifications/tools/list_changed';

/** Lists `before`, says that this has changed when `before` is called, and from then on lists `after`. */
const CHANGES = {
  tools: [tool('before'), tool('stays')],
  steps: [
    { on: 'tools/call', tool: 'before', do: [{ flood: 'list_changed', count: 1 }, 'reply'] },
    ...[2, 3, 4].map((nth) => ({
      on: 'tools/list',
      nth,
      do: [{ raw: `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify({ tools: [tool('after'), tool('stays')] })}}` }],
    })),
  ],
};

function changing(blocks: object = {}) {
  const workspace = testWorkspace();
  const effects = workspace.write('effects.txt', '');
  const { flags, letGo } = startHeld(workspace);
  const script = ['--script', JSON.stringify(CHANGES), ...flags];
  const args = [resolve('test/fixtures/faultServer.mjs'), '--effects', effects, ...script];
  const one = { command: process.execPath, args };
  writeFileSync(workspace.configFile, JSON.stringify({ ...blocks, servers: { one } }));
  workspace.approve();
  return { workspace, letGo };
}

const execute = (host: StreamClient, id: string) => host.call('tool_execute', { tool_id: id, args: {} });
const isTold = (host: StreamClient): boolean => host.notifications.some(({ method }) => method === LISTED);

/**
 * Hears that there are tools since the server's first start, which was held until this session was there: what is told
 * from then on is of something else.
 */
async function firstNews(host: StreamClient): Promise<void> {
  await until('the first news', () => isTold(host));
  host.notifications.length = 0;
}

/** The tools of servers that a client in transparent mode is told of. */
async function listed(host: StreamClient): Promise<string[]> {
  const { result } = await host.request('tools/list');
  const tools = (result?.tools ?? []) as { name: string }[];
  const names = tools.map(({ name }) => name);
  return names.filter((name) => name.startsWith('one.'));
}

describe('a catalog that a server changes while it runs', () => {
  it('is active after its grace, whole, and every session that lists tools is told', async () => {
    const { workspace, letGo } = changing();
    const lists = await GatewaySession.connect(workspace, ['--mode', 'transparent']);
    const browses = await GatewaySession.connect(workspace);
    await letGo(2);
    const before = await browses.toolId('/one/before');
    const stays = await browses.toolId('/one/stays');
    expect(await listed(lists)).toEqual(['one.before', 'one.stays']);
    await firstNews(lists);
    expect(await execute(browses, before)).toMatchObject({ isError: false });
    const seen = new Set<string>();
    await until('the new catalog', async () => {
      const names = await listed(lists);
      seen.add(names.join());
      return names.includes('one.after');
    });
    // The old one or the new one, and nothing between them.
    expect([...seen].filter((names) => names !== 'one.before,one.stays')).toEqual(['one.after,one.stays']);
    await until('the news', () => isTold(lists));
    // The id of a tool that has gone leads nowhere, and that of one that has stayed to where it led.
    expect(await execute(browses, before)).toMatchObject({
      isError: true,
      text: expect.stringContaining('HYDRATE_FAILED'),
    });
    expect(await execute(browses, stays)).toMatchObject({ isError: false });
    expect(await execute(browses, await browses.toolId('/one/after'))).toMatchObject({ isError: false });
  });

  it('is active after a refresh where news are not heard', async () => {
    const { workspace, letGo } = changing({ liveRefresh: { enabled: false } });
    const lists = await GatewaySession.connect(workspace, ['--mode', 'transparent']);
    await letGo(1);
    expect(await listed(lists)).toEqual(['one.before', 'one.stays']);
    await firstNews(lists);
    expect(await execute(lists, 'one.before')).toMatchObject({ isError: false });
    const { folder, stateDir } = workspace;
    const runtime = { workspace: folder, stateDir, nodePath: process.execPath, workerScript: WORKER };
    const control = await attachControl(runtime, { start: false, holds: false });
    // Sent after the news, so heard after it too.
    await control?.request('status', {});
    expect(await listed(lists)).toEqual(['one.before', 'one.stays']);
    expect(isTold(lists)).toBe(false);
    await control?.request('refresh', {});
    control?.dispose();
    expect(await listed(lists)).toEqual(['one.after', 'one.stays']);
    await until('the news', () => isTold(lists));
  });
});

describe('a catalog that is another with the next worker', () => {
  /** A server whose tools are named by the environment of the worker. */
  async function running() {
    const workspace = testWorkspace();
    const { flags, letGo } = startHeld(workspace);
    const { command, args } = servers.fixture('--name-suffix', '${env:SUFFIX}', ...flags);
    writeFileSync(workspace.userConfigFile, JSON.stringify({ servers: { one: { command, args } } }));
    const host = await HostProcess.connect(withSuffix(workspace, '_a'), ['--mode', 'transparent']);
    await letGo(1);
    await until('its tools', async () => (await listed(host)).includes('one.echo_a'));
    await firstNews(host);
    return { workspace, host };
  }
  const withSuffix = (workspace: TestWorkspace, suffix: string): TestWorkspace => ({
    ...workspace,
    env: { ...workspace.env, SUFFIX: suffix },
  });
  async function reloaded(workspace: TestWorkspace): Promise<void> {
    const before = rendezvous(workspace)?.pid as number;
    expect(await waygate(workspace, ['reload'])).toMatchObject({ code: 0 });
    await until('the one before to leave', () => !isAlive(before));
  }

  it('is told to every session that has listed the tools before', async () => {
    const { workspace, host } = await running();
    await reloaded(withSuffix(workspace, '_b'));
    await until('the news', () => isTold(host));
    expect(await listed(host)).toContain('one.echo_b');
  });

  it('and is the same is told to nobody', async () => {
    const { workspace, host } = await running();
    await reloaded(withSuffix(workspace, '_a'));
    expect(await listed(host)).toContain('one.echo_a');
    // What would have been told has been told before this answer.
    await host.request('tools/list');
    expect(host.notifications).toEqual([]);
  });
});
