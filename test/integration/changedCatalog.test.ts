import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { rendezvous, startHeld, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WORKER } from '../support/workspace.ts';

/** Proves points 7 and 8 of docs/reliability.md: a changed catalog is announced, an identical one is not. */
const tool = (name: string) => ({ name, description: `The tool ${name}.`, inputSchema: { type: 'object' } });
const LISTED = 'notifications/tools/list_changed';

/** Script that lists `before`, announces a change when `before` is called, and lists `after` from then on. */
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
  workspace.configureChanging({ one }, blocks);
  return { workspace, letGo };
}

const execute = (host: StreamClient, id: string) => host.call('tool_execute', { tool_id: id, args: {} });
const wasAnnounced = (host: StreamClient): boolean => host.notifications.some(({ method }) => method === LISTED);

/**
 * Waits for the announcement of the first start, which was held until this session existed, and discards it. Later
 * announcements have another cause.
 */
async function firstNews(host: StreamClient): Promise<void> {
  await until('the first news', () => wasAnnounced(host));
  host.notifications.length = 0;
}

/** Returns the names of the server tools that a client in transparent mode lists. */
async function listed(host: StreamClient): Promise<string[]> {
  const { result } = await host.request('tools/list');
  const tools = (result?.tools ?? []) as { name: string }[];
  const names = tools.map(({ name }) => name);
  return names.filter((name) => name.startsWith('one__'));
}

describe('a catalog that changes while its server runs', () => {
  it('takes effect as a whole after a grace period, and is announced to each session that lists tools', async () => {
    const { workspace, letGo } = changing();
    const lists = await GatewaySession.connect(workspace, ['--mode', 'transparent']);
    const browses = await GatewaySession.connect(workspace);
    await letGo(2);
    const before = await browses.toolId('/one/before');
    const stays = await browses.toolId('/one/stays');
    expect(await listed(lists)).toEqual(['one__before', 'one__stays']);
    await firstNews(lists);
    expect(await execute(browses, before)).toMatchObject({ isError: false });
    const seen = new Set<string>();
    await until('the new catalog', async () => {
      const names = await listed(lists);
      seen.add(names.join());
      return names.includes('one__after');
    });
    // Only the old and the new list were seen, never a mixture.
    expect([...seen].filter((names) => names !== 'one__before,one__stays')).toEqual(['one__after,one__stays']);
    await until('the news', () => wasAnnounced(lists));
    // The id of the removed tool no longer resolves; the id of the unchanged tool does.
    expect(await execute(browses, before)).toMatchObject({
      isError: true,
      text: expect.stringContaining('HYDRATE_FAILED'),
    });
    expect(await execute(browses, stays)).toMatchObject({ isError: false });
    expect(await execute(browses, await browses.toolId('/one/after'))).toMatchObject({ isError: false });
  });

  it('takes effect after a refresh if live refresh is off', async () => {
    const { workspace, letGo } = changing({ liveRefresh: { enabled: false } });
    const lists = await GatewaySession.connect(workspace, ['--mode', 'transparent']);
    await letGo(1);
    expect(await listed(lists)).toEqual(['one__before', 'one__stays']);
    await firstNews(lists);
    expect(await execute(lists, 'one__before')).toMatchObject({ isError: false });
    const { folder, stateDir } = workspace;
    const runtime = { workspace: folder, stateDir, nodePath: process.execPath, workerScript: WORKER };
    const control = await attachControl(runtime, { start: false, holds: false });
    // The worker handles this request after the announcement, which arrived earlier.
    await control?.request('status', {});
    expect(await listed(lists)).toEqual(['one__before', 'one__stays']);
    expect(wasAnnounced(lists)).toBe(false);
    // The request begins the refresh, and the news follow its end.
    await control?.request('refresh', {});
    await until('the news', () => wasAnnounced(lists));
    control?.dispose();
    expect(await listed(lists)).toEqual(['one__after', 'one__stays']);
  });
});

describe('a catalog after a reload', () => {
  /** Starts a server whose tool names depend on the worker's environment. */
  async function running() {
    const workspace = testWorkspace();
    const { flags, letGo } = startHeld(workspace);
    const { command, args } = servers.fixture('--name-suffix', '${env:SUFFIX}', ...flags);
    writeFileSync(workspace.userConfigFile, JSON.stringify({ servers: { one: { command, args } } }));
    const host = await HostProcess.connect(withSuffix(workspace, '_a'), ['--mode', 'transparent']);
    await letGo(1);
    await until('its tools', async () => (await listed(host)).includes('one__echo_a'));
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

  it('is announced to every session that listed the tools before, if it changed', async () => {
    const { workspace, host } = await running();
    await reloaded(withSuffix(workspace, '_b'));
    await until('the news', () => wasAnnounced(host));
    expect(await listed(host)).toContain('one__echo_b');
  });

  it('is not announced if it is identical', async () => {
    const { workspace, host } = await running();
    await reloaded(withSuffix(workspace, '_a'));
    expect(await listed(host)).toContain('one__echo_a');
    // An announcement would arrive before this answer.
    await host.request('tools/list');
    expect(host.notifications).toEqual([]);
  });
});
