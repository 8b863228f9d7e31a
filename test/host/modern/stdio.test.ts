import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous, stateFolder, stopGateway } from '../../support/census.ts';
import { HostProcess } from '../../support/hostProcess.ts';
import { shared } from '../../support/lifetime.ts';
import { ModernCaller, textOf } from '../../support/modernClient.ts';
import { MODERN, modernMeta } from '../../support/modernMeta.ts';
import { servers, temporaryFolder, testWorkspace } from '../../support/workspace.ts';

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

describe('server/discover on stdio', () => {
  it.each(['gateway', 'transparent'])('is answered by the host, without a worker, in the mode %s', async (mode) => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = new HostProcess(workspace, ['--mode', mode, '--name', 'api-waygate']);
    const { result } = await ModernCaller.on(host).request('server/discover');
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: [MODERN],
      capabilities: { tools: { listChanged: true }, logging: {} },
      instructions: expect.stringContaining('tool_execute'),
      ttlMs: 3_600_000,
      cacheScope: 'private',
      _meta: { [SERVER_INFO]: { name: 'api-waygate', title: 'api-waygate' } },
    });
    host.end();
    expect(await host.exited).toBe(0);
    // The host creates this folder before it looks for a worker or starts one.
    expect(readdirSync(stateFolder(workspace))).toEqual([]);
  });

  it('loads no module of Node that only a session needs', async () => {
    const folder = temporaryFolder('waygate-loaded-');
    const host = new HostProcess(testWorkspace({}), [], {
      NODE_OPTIONS: `--require ${resolve('test/fixtures/loadedProbe.cjs')}`,
      WAYGATE_PROBE_FOLDER: folder,
    });
    await ModernCaller.on(host).request('server/discover');
    const loaded = JSON.parse(readFileSync(join(folder, String(host.child.pid)), 'utf8')) as string[];
    expect(loaded).toContain('./modernEra.cjs');
    const unneeded = ['crypto', 'net', 'fs/promises', 'child_process', 'http'];
    expect(unneeded.filter((name) => loaded.includes(name) || loaded.includes(`node:${name}`))).toEqual([]);
  });

  it('has the introduction of the servers in passthrough mode, and needs no worker to repeat it', async () => {
    const workspace = testWorkspace({ one: servers.conformance });
    const discover = async () => {
      const host = new HostProcess(workspace, ['--mode', 'passthrough']);
      const { result } = await ModernCaller.on(host).request('server/discover');
      host.end();
      await host.exited;
      return result;
    };
    const first = await discover();
    expect(first).toMatchObject({ supportedVersions: [MODERN], capabilities: { tools: {} }, ttlMs: 0 });
    expect(first?.instructions).toContain('one of everything');
    expect(first?.capabilities).not.toHaveProperty('tasks');
    await stopGateway(workspace);
    expect(await discover()).toEqual(first);
    expect(rendezvous(workspace)).toBeUndefined();
    // Another configuration has other servers.
    workspace.configure({ one: servers.fixture() });
    expect((await discover())?.instructions).toBeUndefined();
    expect(rendezvous(workspace)).toBeDefined();
  });

  it('may be followed by the session of a client that wants an earlier revision', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = new HostProcess(workspace);
    await ModernCaller.on(host).request('server/discover');
    expect((await host.initialize()).result).toMatchObject({ protocolVersion: '2025-11-25' });
    expect((await host.request('ping')).result).toEqual({});
    const id = await host.toolId('/one/echo');
    const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'after all' } });
    expect(answer.text).toContain('after all');
    host.end();
    expect(await host.exited).toBe(0);
  });
});

describe('a modern client on stdio', () => {
  const host = shared(() => new HostProcess(testWorkspace({ one: servers.fixture(), more: servers.conformance })));
  const client = (capabilities: object = {}): ModernCaller => ModernCaller.on(host(), capabilities);

  it('lists, browses and runs tools without initialize', async () => {
    const { result } = await client().request('tools/list');
    expect(result).toMatchObject({ resultType: 'complete', cacheScope: 'private', ttlMs: 300_000 });
    expect(((result?.tools ?? []) as { name: string }[]).map(({ name }) => name)).toEqual([
      'tool_browse',
      'tool_execute',
      'tool_view',
    ]);
    const id = await client().toolId('/one/echo');
    const answer = await client().call('tool_execute', { tool_id: id, args: { text: 'hello modern' } });
    expect(textOf(answer)).toContain('hello modern');
    expect(answer.result).toMatchObject({ resultType: 'complete', _meta: { [SERVER_INFO]: { name: 'waygate' } } });
    expect(answer.result).not.toHaveProperty('ttlMs');
  });

  it('gets errors of the revision', async () => {
    const missing = await client().request('resources/read', { uri: 'file:///nowhere' });
    expect(missing.error).toMatchObject({ code: -32602, data: { uri: 'file:///nowhere' } });
    for (const method of ['ping', 'logging/setLevel', 'resources/subscribe', 'tasks/get', 'no/method']) {
      expect((await client().request(method)).error, method).toEqual({
        code: -32601,
        message: `Method not found: ${method}`,
      });
    }
  });

  it('gets progress under the token of its request, and only if it has one', async () => {
    const id = await client().toolId('/more/test_tool_with_progress');
    const before = host().notifications.length;
    const run = (meta: object) =>
      client().request('tools/call', { name: 'tool_execute', arguments: { tool_id: id, args: {} } }, meta);
    await run({});
    expect(
      host()
        .notifications.slice(before)
        .filter(({ method }) => method === 'notifications/progress'),
    ).toEqual([]);
    await run({ progressToken: 'mine' });
    const tokens = host()
      .notifications.slice(before)
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params?.progressToken);
    expect(new Set(tokens)).toEqual(new Set(['mine']));
  });

  it('gets one clear error for a wrong or missing _meta, and nothing runs', async () => {
    const id = await client().toolId('/one/echo');
    const params = { name: 'tool_execute', arguments: { tool_id: id, args: { text: 'never' } } };
    const without = await host().request('tools/call', params);
    expect(without.error).toEqual({
      code: -32602,
      message:
        'Invalid params: _meta["io.modelcontextprotocol/protocolVersion"] is missing; a request of 2026-07-28 names its revision there.',
    });
    const meta = modernMeta({}, { 'io.modelcontextprotocol/protocolVersion': '2027-01-01' });
    expect((await host().request('tools/call', { ...params, _meta: meta })).error).toMatchObject({
      code: -32022,
      data: { supported: [MODERN], requested: '2027-01-01' },
    });
  });

  it('cannot change the era of its connection', async () => {
    await client().request('tools/list');
    expect((await host().request('initialize', { protocolVersion: '2025-11-25' })).error).toEqual({
      code: -32600,
      message:
        'This connection speaks 2026-07-28, which has no initialize; begin another connection for an earlier revision.',
    });
  });

  it('gets no answer to a call that it cancels', async () => {
    const id = await client().toolId('/one/wait');
    const params = { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 60_000 } }, _meta: modernMeta() };
    void host().request('tools/call', params, 'cancelled');
    await client().request('tools/list');
    host().notify('notifications/cancelled', { requestId: 'cancelled' });
    await client().request('tools/list');
    expect(host().lines.filter((line) => line.includes('"id":"cancelled"'))).toEqual([]);
    // The id is free again.
    expect(await host().request('tools/list', { _meta: modernMeta() }, 'cancelled')).toHaveProperty('result');
  });
});

it('a legacy session refuses a modern request and goes on', async () => {
  const host = await HostProcess.connect(testWorkspace({}));
  const { error } = await ModernCaller.on(host).request('tools/list');
  expect(error).toEqual({
    code: -32600,
    message:
      'This session began with initialize and speaks an earlier revision; begin another connection for 2026-07-28.',
  });
  expect(await host.request('tools/list')).toHaveProperty('result.tools');
});

it('a modern call that waits for a worker gets the answer of the next one', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const host = new HostProcess(workspace);
  const client = ModernCaller.on(host);
  const id = await client.toolId('/one/echo');
  const pid = rendezvous(workspace)?.pid;
  process.kill(pid as number, 'SIGKILL');
  const answer = await client.call('tool_execute', { tool_id: id, args: { text: 'from the next worker' } });
  expect(textOf(answer)).toContain('from the next worker');
  expect(rendezvous(workspace)?.pid).not.toBe(pid);
});

it('a request that nests too deep to be passed on is refused, and the host goes on', async () => {
  const host = new HostProcess(testWorkspace({}));
  const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
  const params = `{"name":"tool_browse","arguments":{"query":${deep}},"_meta":${JSON.stringify(modernMeta())}}`;
  const answered = new Promise<string>((resolve) => {
    host.onMessage((message) => message.id === 'deep' && resolve(JSON.stringify(message)));
  });
  host.write(`{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":${params}}`);
  expect(JSON.parse(await answered)).toMatchObject({ error: { code: -32602 } });
  expect(await ModernCaller.on(host).request('tools/list')).toHaveProperty('result');
});
