import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { ResultCache } from '../../src/calls/pipeline/resultCache.ts';
import { backoffDelay } from '../../src/calls/pipeline/retry.ts';
import { SharedCalls, type Waiter } from '../../src/calls/pipeline/sharedCalls.ts';
import { replayFor } from '../../src/calls/settings/replaySettings.ts';
import { CALL_BLOCKS, DEFAULT_RETRY } from '../../src/config/declaration/callBlocks.ts';
import { NOTHING_REPEATED } from '../../src/config/declaration/replayBlock.ts';
import { faultOf } from '../../src/errors/fault.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { CallFailedError } from '../../src/upstream/connection/callFailed.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import { classified } from '../support/classified.ts';
import { readField, settingsOf } from '../support/readSettings.ts';
import { bench, resultOf, text, toolsOf } from './support.ts';

const TOOLS = toolsOf(
  [
    { name: 'get', description: 'Gets.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    { name: 'put', description: 'Puts.', inputSchema: { type: 'object' } },
  ],
  'store',
);
const [GET, PUT] = [...TOOLS.keys()] as [string, string];
const retry = { ...DEFAULT_RETRY, maxAttempts: 3, baseDelay: 0.001 };
const CONVERGENT = { ...NOTHING_REPEATED, tools: { get: 'convergent' as const } };
const lost = (): never => {
  throw new UpstreamRequestError('closed', 'connection closed');
};

describe('retry', () => {
  it('never repeats a call that may have taken effect, whatever the server hints', async () => {
    const { fail, upstream } = bench(TOOLS, { retry });
    upstream.answer = lost;
    expect(await fail(GET, {})).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: false,
      message:
        'store exited or lost its connection during the call. It may have taken effect: check before you repeat it.',
      details: { outcome: 'unknown' },
    });
    expect(upstream.calls).toHaveLength(1);
  });

  it('repeats a call that the user declared convergent, and reports the attempts', async () => {
    const { run, fail, upstream } = bench(TOOLS, { retry, replay: CONVERGENT });
    upstream.answer = ({ n }) => (n < 3 ? lost() : text('at last'));
    const outcome = await run(GET, {});
    expect(outcome).toMatchObject({ kind: 'result', result: { text: 'at last' }, diagnostics: { attempts: 3 } });
    upstream.answer = lost;
    expect(await fail(GET, {})).toMatchObject({ retryable: true, details: { outcome: 'unknown', attempts: 3 } });
    expect(await fail(PUT, {})).toMatchObject({ retryable: false });
    expect(upstream.calls).toHaveLength(3 + 3 + 1);
  });

  it.each(['crash_loop', 'circuit_open'] as const)(
    'reports a server that stays stopped (%s) at once, with the time to retry',
    async (code) => {
      const { fail, upstream } = bench(TOOLS, { retry, replay: CONVERGENT });
      upstream.answer = () => {
        throw new NotDispatchedError('it is left alone', faultOf(code, { generation: 5 }, String), 60);
      };
      for (const id of [GET, PUT]) {
        expect(await fail(id, {})).toMatchObject({
          retryable: true,
          message: expect.stringMatching(/Nothing was sent\. Call again after 60 s\.$/),
          details: { outcome: 'not_dispatched', retry_after: 60 },
        });
      }
      expect(upstream.calls).toHaveLength(2);
    },
  );

  it('never repeats a call that ended its server each time, whatever the limit', async () => {
    const { fail, upstream } = bench(TOOLS, { retry, replay: CONVERGENT });
    upstream.answer = () => {
      const fault = faultOf('replay_exhausted', { generation: 2 }, String);
      throw new CallFailedError(new UpstreamRequestError('error', 'ended'), { fault, knowledge: 'outcome_unknown' });
    };
    expect(await fail(GET, {})).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: false,
      message: 'store exited each time it ran this. Change the call, or use another tool.',
      details: { outcome: 'unknown', fault: 'replay/replay_exhausted' },
    });
    expect(upstream.calls).toHaveLength(1);
  });

  it('repeats a call that never left', async () => {
    const { run, fail, upstream } = bench(TOOLS, { retry });
    upstream.answer = ({ n }) => {
      if (n < 2) throw new NotDispatchedError('it is starting');
      return text('sent once');
    };
    expect(resultOf(await run(PUT, {})).text).toBe('sent once');
    upstream.answer = () => {
      throw new NotDispatchedError('the command "x" was not found');
    };
    expect(await fail(PUT, {})).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: true,
      details: { outcome: 'not_dispatched', attempts: 3 },
    });
  });

  it('never repeats a call with an unreadable answer, and reports that it may have taken effect', async () => {
    const { fail, upstream } = bench(TOOLS, { retry });
    upstream.answer = () => {
      throw new UpstreamRequestError('protocol', 'an answer that is no JSON');
    };
    expect(await fail(PUT, {})).toMatchObject({
      error: 'UPSTREAM_ERROR',
      retryable: false,
      message:
        'store gave an answer that cannot be used: "an answer that is no JSON". It may have taken effect: check before you repeat it.',
      details: { outcome: 'unknown' },
    });
    expect(upstream.calls).toHaveLength(1);
  });

  it('repeats a call later that a server never read', async () => {
    const { run, upstream } = bench(TOOLS, { retry: { ...retry, retryableCodes: ['RATE_LIMITED'] } });
    upstream.answer = ({ n }) => {
      if (n < 2) throw new UpstreamRequestError('busy', 'it does not read what it is sent');
      return text('sent once');
    };
    expect(resultOf(await run(PUT, {})).text).toBe('sent once');
    const { fail, upstream: other } = bench(TOOLS);
    other.answer = () => {
      throw new UpstreamRequestError('busy', 'it does not read what it is sent');
    };
    expect(await fail(PUT, {})).toMatchObject({
      error: 'RATE_LIMITED',
      retryable: true,
      details: { outcome: 'not_dispatched' },
    });
  });

  it('never repeats a result that is an error', async () => {
    const { run, upstream } = bench(TOOLS, { retry, replay: CONVERGENT });
    upstream.answer = () => text('429 too many requests', { isError: true });
    await run(GET, {});
    expect(upstream.calls).toHaveLength(1);
  });

  it('repeats a call once by default that the user declared convergent', async () => {
    const { fail, upstream } = bench(TOOLS, { replay: CONVERGENT });
    upstream.answer = lost;
    await fail(GET, {});
    expect(upstream.calls).toHaveLength(2);
    const never = bench(TOOLS);
    never.upstream.answer = lost;
    await never.fail(GET, {});
    expect(never.upstream.calls).toHaveLength(1);
  });

  it('asks the probe about a lost call, and repeats the call only if it had no effect', async () => {
    const probe = { tool: 'look', arguments: { key: { $arg: '/key' } }, effect: { at: '/stored', equals: true } };
    const replay = { ...NOTHING_REPEATED, default: 'probe_required' as const, probes: { '*': probe } };
    const tried = async (stored: unknown) => {
      const one = bench(TOOLS, { replay });
      one.upstream.answer = ({ tool, n }) => {
        if (tool === 'look') return text('looked', { structuredContent: { stored } });
        return n === 1 ? lost() : text('stored again');
      };
      return one;
    };
    const done = await tried(true);
    expect(resultOf(await done.run(PUT, { key: 'a' })).text).toContain('look shows that the call has taken effect');
    expect(done.upstream.calls.map(({ tool, args }) => [tool, args])).toEqual([
      ['put', { key: 'a' }],
      ['look', { key: 'a' }],
    ]);
    const undone = await tried(false);
    expect(resultOf(await undone.run(PUT, { key: 'a' })).text).toBe('stored again');
    const unclear = await tried(undefined);
    expect(await unclear.fail(PUT, { key: 'a' })).toMatchObject({ retryable: false, details: { outcome: 'unknown' } });
    expect(unclear.upstream.calls).toHaveLength(2);
  });

  it('waits between zero and the whole of a doubling delay', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (failed, fraction) => {
        const delay = backoffDelay(DEFAULT_RETRY, failed, fraction);
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(Math.min(0.1 * 2 ** failed, 5));
      }),
    );
  });

  it('waits as long as the server asks', async () => {
    vi.useFakeTimers();
    try {
      const { run, upstream } = bench(TOOLS, {
        retry: { ...retry, retryableCodes: ['RATE_LIMITED'] },
        replay: CONVERGENT,
      });
      upstream.answer = ({ n }) => {
        if (n < 2) throw Object.assign(new Error('slow down'), { status: 429, retryAfterSeconds: 7 });
        return text('ok');
      };
      const running = run(GET, {});
      await vi.advanceTimersByTimeAsync(6_900);
      expect(upstream.calls).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(200);
      expect(await running).toMatchObject({ diagnostics: { retryDelays: [7] } });
    } finally {
      vi.useRealTimers();
    }
  });

  it('fails instead of waiting beyond the deadline', async () => {
    const config = { retry: { ...retry, retryableCodes: ['RATE_LIMITED'] as const }, replay: CONVERGENT };
    const { fail, upstream } = bench(TOOLS, config);
    upstream.answer = () => {
      throw Object.assign(new Error('slow down'), { status: 429, retryAfterSeconds: 200 });
    };
    expect(await fail(GET, {})).toMatchObject({ error: 'RATE_LIMITED', details: { retry_after: 200 } });
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('deadline and cancellation', () => {
  const never = (): Promise<never> => new Promise(() => undefined);

  it('ends a call of a silent server, and notifies the server', async () => {
    const { fail, upstream } = bench(TOOLS, { timeouts: { default: 60, servers: { store: 0.02 }, tools: {} } });
    let aborted = false;
    upstream.answer = ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return never();
    };
    expect(await fail(PUT, {})).toMatchObject({
      error: 'UPSTREAM_TIMEOUT',
      retryable: false,
      message: 'store did not answer within 0.02 s. It may have taken effect: check before you repeat it.',
      details: { outcome: 'unknown' },
    });
    expect(aborted).toBe(true);
  });

  it('forwards a cancellation', async () => {
    const controller = new AbortController();
    const { fail, upstream } = bench(TOOLS);
    let reason: unknown;
    upstream.answer = ({ signal }) => {
      signal.addEventListener('abort', () => {
        reason = signal.reason;
      });
      queueMicrotask(() => controller.abort());
      return never();
    };
    expect(await fail(PUT, {}, { signal: controller.signal })).toMatchObject({
      retryable: false,
      details: { outcome: 'unknown' },
    });
    expect(String(reason)).toContain('cancelled');
  });

  it('is extended by progress, up to a limit', async () => {
    vi.useFakeTimers();
    try {
      const { fail, upstream } = bench(TOOLS, { timeouts: { default: 100, servers: {}, tools: {} } });
      const heard: number[] = [];
      upstream.answer = ({ onProgress }) => {
        let n = 0;
        setInterval(() => onProgress({ progress: n++ }), 50_000);
        return never();
      };
      const started = Date.now();
      const failing = fail(PUT, {}, { onProgress: ({ progress }) => heard.push(progress) }).then(
        () => Date.now() - started,
      );
      await vi.advanceTimersByTimeAsync(700_000);
      expect(Math.round((await failing) / 1_000)).toBe(600);
      expect(heard.slice(0, 3)).toEqual([0, 1, 2]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('sharing and the cache', () => {
  const cache = readField(CALL_BLOCKS.cache.field, { readOnly: true });

  it('sends equal simultaneous calls once, if the tool only reads', async () => {
    const { run, upstream, firewalled } = bench(TOOLS, { cache });
    upstream.answer = () => new Promise((resolve) => setTimeout(() => resolve(text('one')), 10));
    const outcomes = await Promise.all(
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
        { a: 1, b: 2 },
      ].map((args) => run(GET, args)),
    );
    expect(upstream.calls).toHaveLength(1);
    expect(firewalled).toHaveLength(3);
    expect(outcomes.map((one) => one.kind === 'result' && one.diagnostics.shared)).toEqual([false, true, true]);
    await Promise.all([run(PUT, {}), run(PUT, {})]);
    expect(upstream.calls).toHaveLength(3);
  });

  it('announces a call before it is sent to its first caller, and not to callers that join later', async () => {
    const { run, upstream } = bench(TOOLS, { cache });
    const events: string[] = [];
    const finish = deferred<void>();
    upstream.answer = async () => {
      events.push('sent');
      await finish.promise;
      return text('one');
    };
    const as = (name: string, word?: Promise<void>) => ({
      begins: (contract: string) => {
        events.push(`${name} ${contract}`);
        return word;
      },
    });
    const word = deferred<void>();
    const calls = [run(GET, {}, as('a', word.promise)), run(GET, {}, as('b'))];
    while (events.length === 0) await new Promise((turn) => setImmediate(turn));
    for (let i = 0; i < 5; i++) await new Promise((turn) => setImmediate(turn));
    expect(events).toEqual(['a never_replay']);
    word.resolve();
    while (upstream.calls.length === 0) await new Promise((turn) => setImmediate(turn));
    finish.resolve();
    expect((await Promise.all(calls)).map((one) => resultOf(one).text)).toEqual(['one', 'one']);
    expect(events).toEqual(['a never_replay', 'sent']);
  });

  it('announces a call to all callers that wait by then, and sends it after the first announcement', async () => {
    const shared = new SharedCalls<string>();
    const { signal } = new AbortController();
    const announced: string[] = [];
    const there = { signal, onSend: () => void announced.push('there') };
    const gone = { signal, onSend: () => Promise.reject(new Error('the session has ended')) };
    const doesNotRead = { signal, onSend: () => new Promise<void>(() => undefined) };
    const start = async ({ onSend }: Waiter): Promise<string> => {
      await new Promise((turn) => setImmediate(turn));
      await onSend?.();
      return 'sent';
    };
    const calls = [there, gone, doesNotRead, there].map((waiter) => shared.run('a', { ...waiter }, start));
    expect((await Promise.all(calls)).map(({ value }) => value)).toEqual(['sent', 'sent', 'sent', 'sent']);
    expect(announced).toEqual(['there', 'there']);
    await expect(shared.run('b', gone, start)).rejects.toThrow(AggregateError);
  });

  it('does not send a call that cannot be announced', async () => {
    const { fail, upstream } = bench(TOOLS);
    const begins = () => Promise.reject(new Error('the session has ended'));
    expect((await fail(GET, {}, { begins })).message).toContain('was cancelled');
    expect(upstream.calls).toEqual([]);
  });

  it('cancels a call only when no caller waits any more', async () => {
    const { run, fail, upstream } = bench(TOOLS, { cache });
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    let aborted = false;
    let finish = (): void => undefined;
    upstream.answer = ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise((resolve) => (finish = () => resolve(text('done'))));
    };
    const one = fail(GET, {}, { signal: first.signal });
    const two = run(GET, {}, { signal: second.signal });
    while (upstream.calls.length === 0) await new Promise((turn) => setImmediate(turn));
    first.abort();
    expect(await one).toMatchObject({ message: expect.stringContaining('was cancelled; it may'), retryable: false });
    expect(aborted).toBe(false);
    finish();
    expect(resultOf(await two).text).toBe('done');

    const alone = fail(GET, { other: 1 }, { signal: third.signal });
    while (upstream.calls.length === 1) await new Promise((turn) => setImmediate(turn));
    third.abort();
    await alone;
    expect(aborted).toBe(true);
  });

  it('shares a failure, and forgets it', async () => {
    const { run, fail, upstream } = bench(TOOLS, { cache });
    upstream.answer = lost;
    const errors = await Promise.all([fail(GET, {}), fail(GET, {})]);
    expect(errors[0]).toEqual(errors[1]);
    expect(upstream.calls).toHaveLength(1);
    upstream.answer = () => text('back');
    expect(resultOf(await run(GET, {})).text).toBe('back');
  });

  it('is off by default, and for every tool that is not on the list', async () => {
    const off = bench(TOOLS);
    await off.run(GET, {});
    await off.run(GET, {});
    expect(off.upstream.calls).toHaveLength(2);
    const listed = bench(TOOLS, {
      cache: readField(CALL_BLOCKS.cache.field, { readOnly: true, allow: ['store:other#00000000'] }),
    });
    await listed.run(GET, {});
    await listed.run(GET, {});
    expect(listed.upstream.calls).toHaveLength(2);
  });

  it('is bounded in bytes, in total and per answer', () => {
    const kept = new ResultCache({ ...cache, maxBytes: 1_000 });
    for (let i = 0; i < 50; i++) kept.put(`k${i}`, text('x'.repeat(60)));
    expect(kept.bytes).toBeLessThanOrEqual(1_000);
    expect(kept.has('k49')).toBe(true);
    expect(kept.has('k0')).toBe(false);
    kept.put('large', text('x'.repeat(300)));
    expect(kept.has('large')).toBe(false);
    kept.clear();
    expect([kept.size, kept.bytes]).toEqual([0, 0]);
  });
});

describe('classification', () => {
  it('prefers types and codes to words', () => {
    const code = (error: unknown) => classified(error).code;
    expect(code(new UpstreamRequestError('timeout', 'unauthorized'))).toBe('UPSTREAM_TIMEOUT');
    expect(code(Object.assign(new Error('timed out'), { status: 401 }))).toBe('AUTH_FAILED');
    expect(code(new Error('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }))).toBe(
      'UPSTREAM_UNAVAILABLE',
    );
    expect(code(new UpstreamRequestError('error', 'invalid timeout', -32602))).toBe('UPSTREAM_ERROR');
    expect(code(new DOMException('x', 'TimeoutError'))).toBe('UPSTREAM_TIMEOUT');
  });

  it.each([
    ['issue 4012 was not found', 'UPSTREAM_ERROR'],
    ['issue 401 was not found', 'UPSTREAM_ERROR'],
    ['GET /repos/x/issues/403: Not Found', 'UPSTREAM_ERROR'],
    ['429 files changed', 'UPSTREAM_ERROR'],
    ['401: who are you?', 'AUTH_FAILED'],
    ['429', 'RATE_LIMITED'],
    ['error code 4012', 'UPSTREAM_ERROR'],
    ['HTTP 401', 'AUTH_FAILED'],
    ['Request failed with status code 403', 'PERMISSION_DENIED'],
    ['HTTP/1.1 503 Service Unavailable', 'UPSTREAM_UNAVAILABLE'],
    ['the timeoutless variant', 'UPSTREAM_ERROR'],
    ['Bad credentials: authentication required', 'AUTH_FAILED'],
  ])('%s: %s', (words, code) => {
    expect(classified(new Error(words)).code).toBe(code);
  });

  it('accepts anything that can be thrown', () => {
    const self: { cause?: unknown } = {};
    self.cause = self;
    for (const thrown of [undefined, null, 5, 'x', self, Object.create(null)]) {
      expect(() => classified(thrown)).not.toThrow();
    }
  });
});

describe('messages', () => {
  it('contain no secret, no control character, and always a next step', async () => {
    const words = `SECRET\u001b[31m\nat line 2 ${'x'.repeat(500)}`;
    for (const error of [
      new Error(words),
      Object.assign(new Error(words), { status: 401 }),
      Object.assign(new Error(words), { status: 403 }),
      Object.assign(new Error(words), { status: 429 }),
      new NotDispatchedError(words),
      new UpstreamRequestError('error', words, -32602),
    ]) {
      const { fail, upstream, log } = bench(TOOLS);
      upstream.answer = () => {
        throw error;
      };
      const { message } = await fail(PUT, {});
      expect(message).toContain('[REDACTED-SECRET]');
      expect(message).not.toContain(' SECRET');
      expect(message).not.toMatch(/\p{Cc}/u);
      expect(message.length).toBeLessThanOrEqual(256);
      expect(message).toMatch(/(Ask the user|Call again|Change the call)[^…]*\.$/);
      expect(log.join()).toContain('x'.repeat(500));
      expect(log.join()).not.toMatch(/(?<!REDACTED-)SECRET/);
    }
  });
});

describe('settings of calls', () => {
  it('have their defaults', () => {
    expect(settingsOf({})).toMatchObject({
      tolerantArgs: false,
      retry: { maxAttempts: 1, jitter: 1 },
      cache: { readOnly: false },
      replay: { default: 'never_replay' },
      timeouts: { default: 120 },
    });
  });

  it('name trusted servers and probes of lost calls', () => {
    const probe = { tool: 'look', arguments: { id: { $arg: '/id' } }, effect: { at: '/found' } };
    const { replay } = settingsOf({
      replay: { default: 'never_replay', trustHints: ['git'], probes: { 'store:put*': probe } },
    });
    expect(replay).toMatchObject({ trustHints: ['git'], probes: { 'store:put*': probe } });
    const tool = { id: 'git:log#1', upstreamName: 'log', server: 'git' };
    expect(replayFor(replay, { ...tool, annotations: { readOnlyHint: true } }).contract).toBe('convergent');
    expect(replayFor(replay, { ...tool, annotations: {} }).contract).toBe('never_replay');
    expect(replayFor(replay, { ...tool, server: 'x', annotations: { readOnlyHint: true } }).contract).toBe(
      'never_replay',
    );
  });

  it('come from every block, and a configured block replaces that of the preset', () => {
    const settings = settingsOf({
      tolerantArgs: true,
      policyPreset: 'throughput',
      cache: { readOnly: false },
      timeouts: { default: 60, servers: { store: 5 }, tools: { 'store:g*': 600 } },
      replay: { tools: { get: 'convergent' } },
      schemaLimits: { maxDepth: 64 },
    });
    expect(settings).toMatchObject({
      tolerantArgs: true,
      retry: { maxAttempts: 5, jitter: 0.2 },
      cache: { readOnly: false },
      timeouts: { default: 60, servers: { store: 5 }, tools: { 'store:g*': 600 } },
      replay: { tools: { get: 'convergent' } },
      schemaLimits: { maxDepth: 64, maxBytes: 65_536 },
    });
  });
});
