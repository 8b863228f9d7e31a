import { setTimeout as sleep } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { UpstreamGuard } from '../../src/mcp/wire/upstreamGuard.ts';

/** Far end of a transport: records sent messages, and injects received ones. */
class Wire implements Transport {
  readonly sent: JSONRPCMessage[] = [];
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  /** While set, no message leaves. */
  blocked = false;
  start(): Promise<void> {
    return Promise.resolve();
  }
  send(message: JSONRPCMessage): Promise<void> {
    this.sent.push(message);
    return this.blocked ? new Promise(() => undefined) : Promise.resolve();
  }
  close(): Promise<void> {
    this.onclose?.();
    return Promise.resolve();
  }
}

async function open() {
  const wire = new Wire();
  const oddities = new Oddities();
  const guard = new UpstreamGuard(wire, oddities);
  const heard: JSONRPCMessage[] = [];
  guard.onmessage = (message) => void heard.push(message);
  await guard.start();
  const ask = (id: number, progressToken?: number) =>
    guard.send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: progressToken === undefined ? {} : { _meta: { progressToken } },
    });
  const say = (message: object): void => wire.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  return { wire, guard, heard, ask, say, odd: () => oddities.toJSON() };
}

describe('answers of a server', () => {
  it('reach their requests once, by the exact id', async () => {
    const { ask, say, heard, odd } = await open();
    await ask(1);
    await ask(2);
    say({ id: 2, result: { a: 2 } });
    say({ id: 2, result: { a: 3 } });
    say({ id: 77, result: {} });
    say({ id: '01', result: {} });
    say({ id: 1, result: { a: 1 } });
    expect(heard).toMatchObject([
      { id: 2, result: { a: 2 } },
      { id: 1, result: { a: 1 } },
    ]);
    expect(odd()).toEqual({ duplicate_response: 1, unknown_response: 2 });
  });

  it('fail their request at once if the id has another type', async () => {
    const { ask, say, heard, odd } = await open();
    await ask(0);
    await ask(1);
    say({ error: { code: -32700, message: 'an error without an id' } });
    say({ id: '1', result: {} });
    say({ id: 1, result: {} });
    expect(heard).toMatchObject([{ id: 1, error: { message: 'an answer whose id is text instead of a number' } }]);
    expect(odd()).toEqual({ mistyped_id: 1, duplicate_response: 1, unknown_response: 1 });
  });

  it('to cancelled requests are dropped', async () => {
    const { ask, say, guard, heard, odd } = await open();
    await ask(1);
    await guard.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    say({ id: 1, result: {} });
    expect(heard).toEqual([]);
    expect(odd()).toEqual({ late_response: 1 });
  });

  it('are remembered for a while, not for ever', async () => {
    const { ask, say, odd } = await open();
    for (let id = 0; id < 2_000; id++) {
      await ask(id);
      say({ id, result: {} });
    }
    say({ id: 1_999, result: {} });
    say({ id: 0, result: {} });
    expect(odd()).toEqual({ duplicate_response: 1, unknown_response: 1 });
  });
});

describe('requests of a server', () => {
  it('beyond 32 in flight are rejected until one is answered', async () => {
    const { wire, guard, heard, say, odd } = await open();
    for (let i = 0; i < 40; i++) say({ id: `a${i}`, method: 'roots/list' });
    expect(heard).toHaveLength(32);
    expect(wire.sent).toHaveLength(8);
    expect(wire.sent[0]).toMatchObject({ id: 'a32', error: { code: -32603 } });
    await guard.send({ jsonrpc: '2.0', id: 'a0', result: {} });
    say({ id: 'b', method: 'roots/list' });
    expect(heard).toHaveLength(33);
    expect(odd()).toEqual({ request_over_cap: 8 });
  });

  it('for a task are plain ones, because the client declares no task capability', async () => {
    const { heard, say } = await open();
    for (const method of ['elicitation/create', 'sampling/createMessage', 'example/other']) {
      say({ id: method, method, params: { message: 'm', task: { ttl: 1 } } });
    }
    expect(heard.map((message) => 'method' in message && message.params)).toEqual([
      { message: 'm' },
      { message: 'm' },
      { message: 'm', task: { ttl: 1 } },
    ]);
  });

  it('to ping are answered by the guard, and count until their answers have left', async () => {
    const { wire, heard, say } = await open();
    for (let i = 0; i < 3; i++) {
      say({ id: `p${i}`, method: 'ping' });
      await sleep(0);
    }
    expect(wire.sent).toMatchObject([{ id: 'p0', result: {} }, { id: 'p1' }, { id: 'p2' }]);
    wire.blocked = true;
    for (let i = 10; i < 50; i++) say({ id: `p${i}`, method: 'ping' });
    expect(wire.sent.slice(3).filter((message) => 'result' in message)).toHaveLength(32);
    expect(heard).toEqual([]);
  });
});

describe('notifications of a server', () => {
  it('of progress reach the call: the first few and the last, but not all between', async () => {
    const { ask, say, heard, odd } = await open();
    await ask(1, 1);
    for (let i = 0; i < 1_000; i++) {
      say({ method: 'notifications/progress', params: { progressToken: 1, progress: i } });
    }
    say({ method: 'notifications/progress', params: { progressToken: 'x', progress: 1 } });
    say({ id: 1, result: {} });
    await sleep(0);
    const progresses = heard.flatMap((message) => ('method' in message ? [message.params?.progress] : []));
    expect(progresses).toEqual([...Array(16).keys(), 999]);
    expect(heard.at(-1)).toMatchObject({ id: 1 });
    expect(odd()).toEqual({ dropped_progress: 984 });
    say({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } });
    expect(heard).toHaveLength(18);
  });

  it('arrive every tenth of a second if there are more', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { ask, say, heard } = await open();
    await ask(1, 1);
    for (let i = 0; i < 1_000; i++) {
      say({ method: 'notifications/progress', params: { progressToken: 1, progress: i } });
      await vi.advanceTimersByTimeAsync(1);
    }
    // Sixteen at once, and then the latest one every 100 ms.
    expect(heard).toHaveLength(25);
  });

  it('of logs are dropped beyond a rate; one of several changes is enough', async () => {
    const { say, heard, odd } = await open();
    for (let i = 0; i < 1_000; i++) say({ method: 'notifications/message', params: { data: i } });
    for (let i = 0; i < 1_000; i++) say({ method: 'notifications/tools/list_changed' });
    await sleep(150);
    const methods = heard.map((message) => ('method' in message ? message.method : ''));
    expect(methods.filter((method) => method === 'notifications/message').length).toBeLessThan(300);
    expect(methods.filter((method) => method === 'notifications/tools/list_changed')).toHaveLength(2);
    expect(odd().dropped_log).toBeGreaterThan(700);
  });

  it('about any number of resources take bounded memory', async () => {
    const { say, heard } = await open();
    for (let i = 0; i < 20_000; i++) say({ method: 'notifications/resources/updated', params: { uri: `r:${i}` } });
    await sleep(0);
    expect(heard).toHaveLength(20_000);
  });
});
