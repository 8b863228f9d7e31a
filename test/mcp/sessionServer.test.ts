import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionMemory } from '../../src/link/movingSession.ts';
import type { CallContext } from '../../src/mcp/session/sessionMode.ts';
import type { SessionRequest } from '../../src/mcp/session/sessionRequest.ts';
import { type SessionServer, serveSession } from '../../src/mcp/session/sessionServer.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** Makes a session over a real socket with one scripted tool. */
async function session(
  tool: (call: CallContext) => void | Promise<void>,
  memory?: SessionMemory,
  onRequest?: (request: SessionRequest) => void,
): Promise<{
  lines: string[];
  say(message: object): void;
  call(id: string): void;
  server: SessionServer;
  end(): void;
  /** Ends at once, like a worker that exits. */
  destroy(): void;
  /** Closes the host's end. */
  leave(): void;
}> {
  const path = join(temporaryFolder('wg-session-'), 's');
  const listener = createServer().listen(path);
  await once(listener, 'listening');
  const accepted = once(listener, 'connection');
  const client = connect(path);
  const [socket] = (await accepted) as [Socket];
  const mode = {
    serverInfo: { name: 'x', title: 'X', version: '1' },
    capabilities: { tools: {}, logging: {} },
    instructions: '',
    listTools: () => [],
    callTool: async (_name: string, _args: unknown, call: CallContext) => {
      await tool(call);
      return { content: [] };
    },
    ...(memory ? { memory } : {}),
  };
  const server = serveSession(socket, mode, onRequest ? { onRequest } : {});
  onTestFinished(() => {
    client.destroy();
    listener.close();
  });
  const lines: string[] = [];
  createInterface({ input: client }).on('line', (line) => void lines.push(line));
  const say = (message: object): void => {
    client.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const call = (id: string): void => say({ id, method: 'tools/call', params: { name: 'one' } });
  return {
    lines,
    say,
    call,
    server,
    end: () => socket.destroySoon(),
    destroy: () => void socket.destroy(),
    leave: () => client.destroy(),
  };
}

describe("a worker's private messages to its host", () => {
  it('name the contract of a call and its begin before the answer', async () => {
    const { lines, call } = await session((one) => {
      one.contract?.('convergent');
      expect(one.begins?.('convergent', 'a:b')).toBeUndefined();
    });
    call('seven');
    await until('the answer', () => lines.length === 3);
    const [contract, begins, answer] = lines.map((line) => JSON.parse(line) as object);
    const method = 'notifications/waygate/contract';
    expect(contract).toEqual({
      jsonrpc: '2.0',
      method,
      params: { id: 'seven', contract: 'convergent', begins: false },
    });
    // A host of any build understands this; one without `begins` counts the call as begun.
    expect(begins).toEqual({ jsonrpc: '2.0', method, params: { id: 'seven', contract: 'convergent', toolId: 'a:b' } });
    expect(answer).toMatchObject({ id: 'seven', result: { content: [] } });
  });

  it('are an honest error for a call that no queue takes', async () => {
    const { lines, call } = await session(() => new Promise(() => undefined));
    for (let i = 0; i <= 10_032; i++) call(`c${i}`);
    const last = await until('the answer', () => lines.find((line) => line.includes('"c10032"')));
    expect((JSON.parse(last) as { result: object }).result).toEqual({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('This session has too many requests waiting.') }],
    });
    expect(lines.filter((line) => !line.includes('RATE_LIMITED'))).toEqual([]);
  });

  it('announce no begin after the end of the session', async () => {
    const held: CallContext[] = [];
    const { call, end } = await session((one) => void held.push(one));
    call('seven');
    await until('the call', () => held.length === 1);
    end();
    await expect(held[0]?.begins?.('never_replay', 'a:b')).rejects.toThrow('the session has ended');
  });

  it('announce no begin after the host has disconnected, even before the loss is noticed', async () => {
    const held: CallContext[] = [];
    const { call, leave } = await session((one) => void held.push(one));
    call('seven');
    await until('the call', () => held.length === 1);
    leave();
    await expect(held[0]?.begins?.('never_replay', 'a:b')).rejects.toThrow('the session has ended');
  });

  it('name the counted request, and include the history of a resent one', async () => {
    const marks: unknown[] = [];
    let changed = (_counted?: number | string): void => undefined;
    const memory: SessionMemory = {
      take: () => 'one call',
      watch: (_conversation, onChange) => {
        changed = onChange;
      },
      give: () => undefined,
      list: () => undefined,
      settled: () => Promise.resolve(),
    };
    const { lines, say, call } = await session(({ id, counted, replays }) => {
      marks.push([id, counted, replays]);
      if (!counted) changed(id);
    }, memory);
    call('seven');
    await until('the first answer', () => lines.length === 2);
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      method: 'notifications/waygate/keep',
      params: { key: 'session', value: 'one call', counted: 'seven' },
    });
    const resent = (params: object): void => say({ method: 'notifications/waygate/resent', params });
    resent({ id: 'eight', counted: true, replays: 0 });
    call('eight');
    // A reused id is another request.
    call('eight');
    resent({ id: 'nine', counted: false, replays: 2 });
    call('nine');
    resent({ id: 'ten' });
    call('ten');
    await until('the last answer', () => marks.length === 5);
    expect(marks).toEqual([
      ['seven', undefined, undefined],
      ['eight', true, 0],
      ['eight', undefined, undefined],
      ['nine', false, 2],
      ['ten', false, 0],
    ]);
  });

  it('report which requests were resent', async () => {
    const reports: SessionRequest[] = [];
    const { say, lines } = await session(
      () => undefined,
      undefined,
      (request) => void reports.push(request),
    );
    say({ method: 'notifications/waygate/resent', params: { id: 1, counted: false, replays: 2 } });
    for (const id of [1, 2]) say({ id, method: 'tools/list' });
    say({ method: 'notifications/waygate/resent', params: { id: 3, counted: false, replays: 1 } });
    say({ id: 3, method: 'odd' });
    await until('the answers', () => lines.length === 3);
    expect(reports.map(({ method, replays }) => [method, replays])).toEqual([
      ['tools/list', 2],
      ['tools/list', 0],
      ['(unknown method)', 1],
    ]);
  });

  it('withdraw questions of handed back requests, which get no answer', async () => {
    const { lines, say, call, server } = await session(async ({ signal, ask }) => {
      await ask?.({ message: 'May it?', requestedSchema: { type: 'object', properties: {} } }).catch(() => undefined);
      expect(signal.aborted).toBe(true);
    });
    const capabilities = { elicitation: {} };
    const clientInfo = { name: 'c', version: '1' };
    say({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities, clientInfo } });
    say({ method: 'notifications/initialized' });
    call('seven');
    const said = () => lines.map((line) => JSON.parse(line) as { id?: string; method?: string; params?: object });
    const asked = await until('the question', () => said().find(({ method }) => method === 'elicitation/create'));
    server.handBack();
    const withdrawn = await until('its end', () => said().find(({ method }) => method === 'notifications/cancelled'));
    expect(withdrawn.params).toMatchObject({ requestId: asked.id });
    say({ id: 'last', method: 'ping' });
    await until('the last answer', () => said().some(({ id }) => id === 'last'));
    expect(said().some(({ id }) => id === 'seven')).toBe(false);
  });

  it('carry the state of a session: of a call before its answer, of a list after it', async () => {
    let changed = (): void => undefined;
    const given: unknown[] = [];
    const memory: SessionMemory = {
      take: () => 'one call',
      watch: (_conversation, onChange) => {
        changed = onChange;
      },
      give: (_conversation, value, age) => void given.push([value, age]),
      list: (kind) => (kind === 'tools' ? 'mark' : undefined),
      settled: () => Promise.resolve(),
    };
    const { lines, say, call } = await session(() => changed(), memory);
    say({ method: 'notifications/waygate/kept', params: { kept: [['session', 'so far', 2]] } });
    call('seven');
    await until('the answer', () => lines.length === 2);
    say({ id: 'eight', method: 'tools/list' });
    await until('the list', () => lines.length === 4);
    expect(given).toEqual([['so far', 2]]);
    const said = lines.map((line) => JSON.parse(line) as { id?: string; method?: string; params?: object });
    expect(said.map(({ id, method }) => id ?? method)).toEqual([
      'notifications/waygate/keep',
      'seven',
      'eight',
      'notifications/waygate/keep',
    ]);
    expect(said[0]?.params).toEqual({ key: 'session', value: 'one call' });
    expect(said[3]?.params).toEqual({ key: 'list:tools/list', value: 'mark' });
  });

  it('announce the end, even right after the answer to a list, which leaves first', async () => {
    const memory: SessionMemory = {
      take: () => undefined,
      watch: () => undefined,
      give: () => undefined,
      list: () => 'mark',
      settled: () => Promise.resolve(),
    };
    const { lines, say, server, destroy } = await session(noop, memory, () =>
      // After the answer is written, before the next turn.
      process.nextTick(() => {
        server.announceStop();
        destroy();
      }),
    );
    say({ id: 'eight', method: 'tools/list' });
    const said = (): string[] =>
      lines.map((line) => JSON.parse(line) as { id?: string; method: string }).map(({ id, method }) => id ?? method);
    await until('its last word', () => said().includes('notifications/waygate/stopped'));
    expect(said()).toEqual(['eight', 'notifications/waygate/keep', 'notifications/waygate/stopped']);
  });

  it('cannot come from a server', async () => {
    const { lines, call } = await session(({ peer }) => {
      peer?.notify('notifications/waygate/stopped');
      peer?.notify('notifications/message', { level: 'info', data: 'hello' });
    });
    call('seven');
    await until('the answer', () => lines.some((line) => line.includes('"result"')));
    const said = lines.map((line) => (JSON.parse(line) as { method?: string }).method);
    expect(said.filter(Boolean)).toEqual(['notifications/message']);
  });
});

it('shows progress and logs of servers as lines that hide nothing', async () => {
  const { lines, say } = await session((one) => {
    one.progress?.({ progress: 1, message: 'a\nb\u202e' });
    one.peer?.notify('notifications/message', { level: 'info', data: { 'c\u200b': 'd\u202e' } });
  });
  say({ id: 'one', method: 'tools/call', params: { name: 'one', _meta: { progressToken: 1 } } });
  await until('the answer', () => lines.length === 3);
  const [progress, message] = lines.map((line) => (JSON.parse(line) as { params: unknown }).params);
  expect(progress).toEqual({ progress: 1, message: 'a b\\u202e', progressToken: 1 });
  expect(message).toEqual({ level: 'info', data: { 'c\\u200b': 'd\\u202e' } });
});

const noop = (): void => undefined;
