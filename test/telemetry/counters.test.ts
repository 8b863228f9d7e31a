import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import { type CountedRequest, Counters, OTHERS } from '../../src/telemetry/counters.ts';

const LIFE = { state: 'ready', generation: 7, consecutive_failures: 0, restart_count: 6 } as const;
const STARTED = 1_700_000_000_000;
const FAULT = faultOf('exited', { generation: 6, detail: 'it ended with SECRET' }, (text) => text);

function counters(more: { maxMethods?: number; maxTools?: number } = {}) {
  let now = 1_000;
  const counted = new Counters({
    now: () => now,
    wallClock: () => STARTED + now - 1_000,
    scrub: (text) => text.replaceAll('SECRET', '***'),
    sentTokens: () => 100,
    ...more,
  });
  return { counted, snapshot: () => counted.snapshot(LIFE), pass: (ms: number) => (now += ms) };
}

const call = (more: Partial<CountedRequest> = {}): CountedRequest => ({
  method: 'tool_execute',
  tool: 'files:read#00000001',
  latencyMs: 10,
  end: 'ok',
  ...more,
});

describe('latency percentiles', () => {
  const latenciesOf = (values: readonly number[]) => {
    const { counted, snapshot } = counters();
    for (const latencyMs of values) counted.request(call({ latencyMs }));
    return snapshot().tools[0];
  };

  it('are within 1 % or a microsecond of the true value, and never above the maximum', () => {
    const samples = fc.array(fc.double({ min: 0.01, max: 1_700_000, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(samples, (values) => {
        const row = latenciesOf(values);
        const sorted = [...values].sort((a, b) => a - b);
        for (const [share, found] of [
          [0.5, row?.p50_latency_ms],
          [0.95, row?.p95_latency_ms],
          [0.99, row?.p99_latency_ms],
        ] as const) {
          // The histogram rounds the rank.
          const ranks = [Math.floor, Math.ceil].map((round) => Math.max(1, round(share * sorted.length)));
          const exact = ranks.map((rank) => sorted[rank - 1] as number);
          const isClose = exact.some((value) => Math.abs((found as number) - value) <= value * 0.01 + 0.001);
          expect(isClose, `${found} for ${exact.join(' or ')}`).toBe(true);
          expect(found).toBeLessThanOrEqual(row?.max_latency_ms as number);
        }
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  it('are zero if the clock went backwards or gave no number', () => {
    expect(latenciesOf([-5, Number.NaN, Number.POSITIVE_INFINITY])).toMatchObject({
      request_count: 3,
      last_latency_ms: 0,
      avg_latency_ms: 0,
      max_latency_ms: 0,
      p99_latency_ms: 0,
    });
  });

  it('count latencies above half an hour as half an hour, and keep the maximum exact', () => {
    const row = latenciesOf([3_600_000]);
    expect(row?.max_latency_ms).toBe(3_600_000);
    expect(row?.p50_latency_ms).toBeGreaterThan(1_780_000);
  });
});

describe('counters', () => {
  it('counts requests, ends, incidents and retries by total, method and tool, in the wire form', () => {
    const { counted, snapshot, pass } = counters();
    counted.request(call({ latencyMs: 10, retries: 2 }));
    counted.request(
      call({ latencyMs: 30, end: 'answered_with_error', error: { code: 'ARGS_INVALID', message: 'no\nSECRET' } }),
    );
    counted.request(call({ latencyMs: 20, end: 'lost', error: { code: 'UPSTREAM_TIMEOUT', message: 'gone' } }));
    counted.request({ method: 'tool_browse', latencyMs: 1, end: 'ok' });
    counted.fault(FAULT, { restarts: true, tool: 'files:read#00000001' });
    pass(2_500);
    const totals = {
      request_count: 4,
      success_count: 2,
      error_count: 2,
      response_error_count: 1,
      recovery_error_count: 1,
      recovery_fault_count: 1,
      transport_fault_count: 1,
      retry_count: 2,
    };
    const { tools, methods, ...rest } = snapshot();
    expect(rest).toEqual({
      ...LIFE,
      since_unix_ms: STARTED,
      uptime_ms: 2_500,
      totals,
      tokens: {
        definition_tokens_full: 0,
        definition_tokens_exposed: 0,
        definition_tokens_avoided: 0,
        result_tokens_raw: 0,
        result_tokens_shown: 0,
        result_tokens_saved: 0,
      },
      last_fault: { ...FAULT, detail: 'it ended with ***' },
    });
    expect(methods.map(({ method, request_count }) => [method, request_count])).toEqual([
      ['tool_execute', 3],
      ['tool_browse', 1],
    ]);
    expect(methods[0]).toMatchObject({ recovery_fault_count: 0, retry_count: 2 });
    expect(tools).toEqual([
      {
        tool_id: 'files:read#00000001',
        ...totals,
        request_count: 3,
        success_count: 1,
        last_latency_ms: 20,
        avg_latency_ms: 20,
        max_latency_ms: 30,
        p50_latency_ms: expect.closeTo(20, -1),
        p95_latency_ms: 30,
        p99_latency_ms: 30,
        last_error: { code: 'UPSTREAM_TIMEOUT', message: 'gone', ts_unix_ms: STARTED },
      },
    ]);
  });

  it('counts calls of tools apart from other requests, by the last fifteen minutes', () => {
    const { counted, snapshot, pass } = counters();
    counted.request({ method: 'tools/list', latencyMs: 1, end: 'ok' });
    expect(snapshot()).not.toHaveProperty('calls');
    const failed = { end: 'lost', retries: 1, error: { code: 'X', message: 'gone' } } as const;
    counted.request(call({ isCall: true }));
    pass(59_000);
    counted.request(call({ isCall: true, ...failed }));
    pass(14 * 60_000);
    counted.request(call({ isCall: true }));
    counted.request({ method: 'ping', latencyMs: 1, end: 'ok' });
    const { calls } = snapshot();
    expect(calls).toMatchObject({ request_count: 3, error_count: 1, recovery_error_count: 1, retry_count: 1 });
    const idle = Array(13).fill({ calls: 0, errors: 0 });
    expect(calls?.per_minute).toEqual([{ calls: 2, errors: 1 }, ...idle, { calls: 1, errors: 0 }]);
    pass(30_000);
    expect(snapshot().calls?.per_minute[0]).toEqual({ calls: 1, errors: 1 });
    pass(15 * 60_000);
    expect(snapshot().calls?.per_minute).toEqual(Array(15).fill({ calls: 0, errors: 0 }));
    counted.request(call({ isCall: true }));
    expect(snapshot().calls?.per_minute.at(-1)).toEqual({ calls: 1, errors: 0 });
  });

  it('adds the tokens that a tool’s results saved', () => {
    const { counted, snapshot } = counters({ maxTools: 1 });
    counted.request(call());
    expect(snapshot().tools[0]).not.toHaveProperty('result_tokens_saved');
    counted.result({ raw: 900, shown: 100, tool: 'files:read#00000001' });
    counted.result({ raw: 10, shown: 40, tool: 'files:read#00000001' });
    counted.result({ raw: 5, shown: 1 });
    expect(snapshot().tools[0]).toMatchObject({ result_tokens_saved: 800 });
    expect(snapshot().tokens.result_tokens_saved).toBe(804);
    counted.request(call({ tool: 'files:write#00000002' }));
    expect(snapshot().tools.at(-1)).toMatchObject({ tool_id: OTHERS, result_tokens_saved: 800 });
  });

  it('keeps the last error after later successes, masked and on one line', () => {
    const { counted, snapshot } = counters();
    counted.request(
      call({ end: 'answered_with_error', error: { code: 'X', message: `a\nSECRET ${'y'.repeat(500)}` } }),
    );
    counted.request(call());
    const message = snapshot().methods[0]?.last_error?.message ?? '';
    expect(message).toMatch(/^a \*\*\* y+…$/);
    expect(message.length).toBeLessThanOrEqual(200);
  });

  it('remembers only a fault that caused a restart, and counts every fault', () => {
    const { counted, snapshot } = counters();
    counted.fault(FAULT, { restarts: false });
    expect(snapshot()).not.toHaveProperty('last_fault');
    expect(snapshot().totals.recovery_fault_count).toBe(1);
  });

  it('merges the least recently used rows into one and keeps the sums', () => {
    const { counted, snapshot } = counters({ maxTools: 3, maxMethods: 2 });
    for (let i = 0; i < 10; i++) counted.request(call({ tool: `t${i}`, method: `m${i}`, latencyMs: i + 1 }));
    counted.request(call({ tool: 't7', method: 'm8' }));
    counted.request(call({ tool: 'new', method: 'm8' }));
    const { tools, methods, totals } = snapshot();
    expect(tools.map((row) => [row.tool_id, row.request_count])).toEqual([
      ['t7', 2],
      ['new', 1],
      ['t9', 1],
      [OTHERS, 8],
    ]);
    expect(tools.at(-1)).toMatchObject({ max_latency_ms: 9 });
    expect(methods.map((row) => row.method)).toEqual(['m8', 'm9', OTHERS]);
    expect(methods.reduce((sum, row) => sum + row.request_count, 0)).toBe(totals.request_count);
  });

  it('adds up tokens of results, keeps the last count of schemas, and never saves less than nothing', () => {
    const { counted, snapshot } = counters();
    counted.result({ raw: 100, shown: 20 });
    counted.result({ raw: 5, shown: 9 });
    counted.definitions(900);
    counted.definitions(50);
    expect(snapshot().tokens).toEqual({
      definition_tokens_full: 50,
      definition_tokens_exposed: 100,
      definition_tokens_avoided: 0,
      result_tokens_raw: 105,
      result_tokens_shown: 29,
      result_tokens_saved: 80,
    });
  });
});
