import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { status } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Runs a client's session with a real host, worker and servers. */
describe('a session', () => {
  it('gets an answer to `initialize` before a worker runs', async () => {
    const workspace = testWorkspace({ slow: servers.fixture('--start-delay', '600000') });
    const host = new HostProcess(workspace);
    const { result } = await host.initialize();
    expect(result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'waygate' } });
    expect((await host.request('ping')).result).toEqual({});
  });

  it.each(['gateway', 'transparent', 'passthrough'])(
    'has the name that the client is to use, in the mode %s',
    async (mode) => {
      const workspace = testWorkspace({ one: servers.fixture() });
      const host = new HostProcess(workspace, ['--mode', mode, '--name', 'api-waygate']);
      const { result } = await host.initialize();
      expect(result).toMatchObject({ serverInfo: { name: 'api-waygate', title: 'api-waygate' } });
    },
  );

  it('uses the protocol version of the client, or the newest', async () => {
    const workspace = testWorkspace({});
    const old = await new HostProcess(workspace).initialize({ protocolVersion: '2024-11-05' });
    expect(old.result).toMatchObject({ protocolVersion: '2024-11-05' });
    const future = await new HostProcess(workspace).initialize({ protocolVersion: '2031-01-01' });
    expect(future.result).toMatchObject({ protocolVersion: '2025-11-25' });
  });

  it('reaches a real server through the three tools', async () => {
    const workspace = testWorkspace({});
    workspace.configure({ files: servers.filesystem(workspace.folder) });
    const file = workspace.write('hello.txt', 'hello from the other side\n');
    const host = await HostProcess.connect(workspace);
    const tools = (await host.request('tools/list')).result?.tools as { name: string }[];
    expect(tools.map((tool) => tool.name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    const id = await host.toolId('/files/read_text_file');
    const answer = await host.call('tool_execute', { tool_id: id, args: { path: file } });
    expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('hello from the other side') });
    expect(answer.structured).toBeUndefined();
  });

  it('writes only protocol messages to stdout', async () => {
    const workspace = testWorkspace({ noisy: servers.fixture('--banner', '--bom') });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/noisy/echo');
    host.write('this is not json');
    host.write('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
    host.write('{"jsonrpc":"2.0","id":null,"method":"ping"}');
    host.write('{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}');
    await host.request('ping');
    const messages = host.lines.map((line) => JSON.parse(line) as { jsonrpc: string; error?: { code: number } });
    expect(messages.every((message) => message.jsonrpc === '2.0')).toBe(true);
    expect(messages.flatMap((message) => message.error?.code ?? [])).toEqual([-32700, -32600, -32600, -32600]);
  });

  it('rejects a second initialize and an id that is in flight', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    expect((await host.initialize()).error).toMatchObject({ code: -32600 });
    const first = host.request(
      'tools/call',
      { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 300 } } },
      'x',
    );
    host.write('{"jsonrpc":"2.0","id":"x","method":"tools/list"}');
    expect((await first).error).toMatchObject({ code: -32600 });
    // The first call still gets its own answer, once.
    await until('the answer', () => host.lines.filter((line) => line.includes('"id":"x"')).length === 2);
  });

  it('distinguishes the id 7 from the id "7"', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    const answers = await Promise.all([host.request('tools/list', {}, 7), host.request('ping', {}, '7')]);
    expect(answers[0].result).toHaveProperty('tools');
    expect(answers[1].result).toEqual({});
  });

  it('answers calls in flight at the end of input, then ends', async () => {
    const workspace = testWorkspace();
    const effects = join(workspace.folder, 'effects');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const host = await HostProcess.connect(workspace);
    const call = host.call('tool_execute', {
      tool_id: await host.toolId('/one/wait'),
      args: { until: workspace.gate, nonce: 'a' },
    });
    await until('the call to be running', () => linesOf(effects).length === 1);
    host.end();
    workspace.letGo();
    expect(await host.exited).toBe(0);
    expect(await call).toMatchObject({ isError: false, text: expect.stringContaining('let go') });
  });

  it('appears in the status report with its client', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const report = await status(workspace);
    expect(report.sessions).toEqual([
      expect.objectContaining({ client: 'test-client', clientVersion: '1.2.3', protocolVersion: '2025-11-25' }),
    ]);
    expect(report.servers).toEqual([
      expect.objectContaining({ name: 'one', state: 'ready', toolCount: 6, pid: expect.any(Number) }),
    ]);
  });

  it('forwards a request that the gateway does not know', async () => {
    const host = await HostProcess.connect(testWorkspace({}));
    expect((await host.request('server/discover')).error).toMatchObject({ code: -32601 });
  });
});
