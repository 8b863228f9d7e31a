import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';
import type { Probe } from '../../src/replay/probe.ts';
import { LinkFailure } from '../../src/upstream/transports/upstreamLink.ts';
import { abortable, failed, failing, type Json, type ScriptedClient, Server, turns, WAIT } from './scriptedServer.ts';

const PENDING = 'still pending';
/** Outcome of a call once nothing is left to do, without waiting for a timer. */
const now = (call: Promise<unknown>): Promise<unknown> => Promise.race([call, turns(20).then(() => PENDING)]);

describe('the time of a call', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }));
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  /** Records the time limit of each dispatch. */
  function timed() {
    const server = new Server();
    const limits: string[] = [];
    server.reply = async ({ generation }, _method, { name }, { timeoutMs }) => {
      limits.push(`${name}@${generation}: ${timeoutMs}`);
      return name === 'hangs' ? new Promise(() => undefined) : { name };
    };
    return { server, limits };
  }

  it('is the one that its maker set, whatever the way to the first dispatch takes', async () => {
    const { server, limits } = timed();
    let time = 5_000;
    vi.spyOn(performance, 'now').mockImplementation(() => time++);
    server.start();
    await server.calls.send('tools/call', { name: 'put' }, WAIT);
    // An error text shows this number.
    expect(limits).toEqual(['put@1: 60000']);
  });

  it('goes on while the call waits for a start', async () => {
    const { server, limits } = timed();
    const origin = {};
    let received: unknown;
    const { reply } = server;
    server.reply = (live, method, params, options) => {
      received = options.origin;
      return reply(live, method, params, options);
    };
    vi.advanceTimersByTime(1_000);
    const call = server.calls.send('tools/call', { name: 'put' }, { ...WAIT, origin });
    vi.advanceTimersByTime(40_000);
    server.start();
    expect(await call).toEqual({ name: 'put' });
    expect([limits, received]).toEqual([['put@1: 20000'], origin]);
  });

  it('goes on when the call is sent again, to a start that was ready before the loss', async () => {
    const { server, limits } = timed();
    const first = server.start();
    void server.calls.send('tools/list', { name: 'hangs' }, WAIT);
    vi.advanceTimersByTime(10_000);
    server.start();
    server.end(first);
    expect(limits).toEqual(['hangs@1: 60000', 'hangs@2: 50000']);
  });

  it('goes on while `onSend` is pending, and leaves at least a moment', async () => {
    const { server, limits } = timed();
    server.start();
    for (const ms of [10_000, 70_000]) {
      const word = deferred<void>();
      const call = server.calls.send('tools/call', { name: 'put' }, { ...WAIT, onSend: () => word.promise });
      vi.advanceTimersByTime(ms);
      word.resolve();
      await call;
    }
    expect(limits).toEqual(['put@1: 50000', 'put@1: 1']);
  });

  it('ends if no ready start takes the call', async () => {
    const server = new Server();
    const live = server.start();
    (live.client as ScriptedClient).gone = true;
    const call = failed(server.calls.send('tools/call', {}, WAIT));
    vi.advanceTimersByTime(59_999);
    expect(await now(call)).toBe(PENDING);
    vi.advanceTimersByTime(1);
    expect(await now(call)).toMatchObject({
      name: 'NotDispatchedError',
      message: 'no start of the server took the call',
      fault: { code: 'call_timeout' },
    });
  });

  it('is over when the server does not read, so the call asks for no start later', async () => {
    const server = new Server();
    server.start();
    server.reply = () => Promise.reject(failing('busy'));
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toMatchObject({ name: 'NotDispatchedError' });
    vi.advanceTimersByTime(60_000);
    await turns();
    expect(server.waits).toBe(0);
  });

  it('allows a closing start 250 ms to end before the call asks for the next', async () => {
    const server = new Server();
    const live = server.start();
    server.reply = async ({ generation }) => {
      if (generation === 1) throw failing('gone');
      return { generation };
    };
    const call = server.calls.send('tools/call', {}, WAIT);
    await turns();
    vi.advanceTimersByTime(249);
    await turns();
    expect(server.waits).toBe(0);
    vi.advanceTimersByTime(1);
    await turns();
    expect(server.waits).toBe(1);
    server.end(live);
    server.start();
    expect(await now(call)).toEqual({ generation: 2 });
  });
});

describe('a waiting call', () => {
  it('asks once for a start, and again after the loss of the start that it got', async () => {
    const server = new Server();
    const closing = server.start();
    (closing.client as ScriptedClient).gone = true;
    server.live = undefined;
    server.reply = ({ generation }) =>
      generation === 2 ? new Promise(() => undefined) : Promise.resolve({ generation });
    const call = server.calls.send('tools/list', {}, WAIT);
    // The loss reaches a call that waits already.
    await turns();
    server.end(closing);
    await turns();
    expect(server.waits).toBe(1);
    const second = server.start();
    await turns();
    server.end(second);
    await turns();
    expect(server.waits).toBe(2);
    server.start();
    expect(await call).toEqual({ generation: 3 });
  });

  it('asks again for a start after another start took it and ended', async () => {
    const server = new Server();
    const reason = deferred<LinkFailure>();
    server.explain = () => reason.promise;
    server.reply = async ({ generation }) => {
      // The call must have stopped to wait for the second start before that rejects it.
      if (generation === 2) await turns();
      if (generation <= 2) throw failing('unsent');
      return generation === 3 ? new Promise(() => undefined) : { generation };
    };
    server.start();
    const call = server.calls.send('tools/list', {}, WAIT);
    await turns();
    server.start();
    await turns(10);
    const third = server.start();
    reason.resolve(new LinkFailure('forgotten', 'session_lost'));
    await turns();
    const { waits } = server;
    server.end(third);
    await turns();
    expect(server.waits).toBe(waits + 1);
    server.start();
    expect(await call).toEqual({ generation: 4 });
  });

  it('with a pending `onSend` is not written to a start that closed meanwhile', async () => {
    const server = new Server();
    const live = server.start();
    const sent: number[] = [];
    server.reply = async ({ generation }) => {
      sent.push(generation);
      return { generation };
    };
    const word = deferred<void>();
    const call = server.calls.send('tools/call', {}, { ...WAIT, onSend: () => word.promise });
    (live.client as ScriptedClient).gone = true;
    word.resolve();
    await turns();
    expect(sent).toEqual([]);
    server.end(live);
    server.start();
    expect(await call).toEqual({ generation: 2 });
  });

  it('above the limit is rejected as not dispatched', async () => {
    const server = new Server();
    const { signal } = abortable();
    const calls = Array.from({ length: 10_000 }, () => server.calls.send('tools/call', {}, WAIT));
    expect(await now(failed(server.calls.send('tools/call', {}, { ...WAIT, signal })))).toMatchObject({
      name: 'NotDispatchedError',
      message: 'too many calls to it are running',
      fault: { code: 'queue_overflow' },
      retryAfterSeconds: 1,
    });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    server.start();
    expect(await Promise.all(calls)).toHaveLength(10_000);
  });
});

describe('an ended call', () => {
  it('has left the signal of its maker', async () => {
    const server = new Server();
    server.start();
    const { signal } = abortable();
    const call = server.calls.send('tools/call', {}, { ...WAIT, signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    await call;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('and a late failure of its earlier dispatch change nothing', async () => {
    const server = new Server();
    const first = server.start();
    const dispatches = [deferred<Json>(), deferred<Json>()];
    server.reply = ({ generation }) => (dispatches[generation - 1] as (typeof dispatches)[0]).promise;
    const call = server.calls.send('tools/list', {}, WAIT);
    server.end(first);
    server.start();
    dispatches[0]?.reject(failing('timeout'));
    expect(await now(call)).toBe(PENDING);
    dispatches[1]?.resolve({ second: true });
    expect(await call).toEqual({ second: true });
  });

  it('that was cancelled does not cost the server its session', async () => {
    const server = new Server();
    server.start();
    const dispatch = deferred<Json>();
    server.reply = () => dispatch.promise;
    const { signal, abort } = abortable();
    const call = failed(server.calls.send('tools/call', {}, { ...WAIT, signal }));
    abort();
    expect(await call).toMatchObject({ failure: 'aborted' });
    dispatch.reject(failing('unauthorized', 401));
    await turns();
    expect(server.losses).toEqual([]);
  });

  it('reports an error of our own code as an error of the call', async () => {
    const server = new Server();
    server.start();
    server.reply = () => Promise.reject(new TypeError('not ours'));
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toMatchObject({
      name: 'CallFailedError',
      message: 'not ours',
      fault: { code: 'upstream_error' },
      knowledge: 'completed',
    });
  });
});

describe('a probe of a call', () => {
  const PROBE: Probe = { tool: 'look', arguments: { id: { $arg: '/id' } }, effect: { at: '/done', equals: true } };

  it('is no condition for the call', async () => {
    const server = new Server();
    server.start();
    const call = server.calls.send('tools/call', { name: 'put' }, { ...WAIT, contract: 'probe_required' });
    expect(await call).toEqual({ ok: true });
  });

  it('without the values that it needs is not awaited: the outcome is unknown at once', async () => {
    const server = new Server();
    const live = server.start();
    server.reply = () => new Promise(() => undefined);
    const options = { ...WAIT, contract: 'probe_required', probe: PROBE } as const;
    const call = failed(server.calls.send('tools/call', { name: 'put', arguments: {} }, options));
    server.end(live);
    expect(await now(call)).toMatchObject({ fault: { code: 'outcome_unknown' }, knowledge: 'outcome_unknown' });
  });

  it('lost with its start is repeated on the next, once for each start', async () => {
    const server = new Server();
    const first = server.start();
    const asked: string[] = [];
    server.reply = async ({ generation, client }, _method, { name }) => {
      asked.push(`${name}@${generation}`);
      if (name === 'put') return new Promise(() => undefined);
      if (generation === 3) return { structuredContent: { done: true } };
      (client as ScriptedClient).gone = true;
      throw failing('closed');
    };
    const options = { ...WAIT, contract: 'probe_required', probe: PROBE } as const;
    const call = server.calls.send('tools/call', { name: 'put', arguments: { id: 1 } }, options);
    server.end(first);
    const second = server.start();
    await turns();
    server.end(second);
    server.start();
    expect(await call).toEqual({
      content: [
        {
          type: 'text',
          text: 'The server was lost during this call, but look shows that the call has taken effect. The answer of put itself is lost; do not repeat the call.',
        },
      ],
      _meta: { 'waygate/outcome': 'completed_by_probe' },
    });
    expect(asked).toEqual(['put@1', 'look@2', 'look@3']);
  });
});
