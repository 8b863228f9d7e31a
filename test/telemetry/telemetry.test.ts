import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LatencySketch } from '../../src/telemetry/latencySketch.ts';
import { Telemetry } from '../../src/telemetry/telemetry.ts';
import type { RequestTold, ToldFault } from '../../src/telemetry/telemetryForms.ts';
import { OTHERS } from '../../src/telemetry/telemetryRows.ts';

const LIFE = { state: 'ready', generation: 7, consecutive_failures: 0, restart_count: 6 };
const FAULT: ToldFault = { generation: 6, class: 'process', code: 'server_ended', detail: 'it ended with SECRET' };

function telemetry(more: { maxMethods?: number; maxTools?: number } = {}) {
  let now = 1_000;
  const told = new Telemetry({
    now: () => now,
    wallClock: () => 1_700_000_000_000,
    scrub: (text) => text.replaceAll('SECRET', '***'),
    ...more,
  });
  return { told, snapshot: () => told.snapshot(LIFE), pass: (ms: number) => (now += ms) };
}

const call = (more: Partial<RequestTold> = {}): RequestTold => ({
  method: 'tool_execute',
  tool: 'files:read#00000001',
  latencyMs: 10,
  end: 'ok',
  ...more,
});

describe('a latency sketch', () => {
  it('tells any quantile within 5 % of the true one, and never beyond the extremes', () => {
    const samples = fc.array(fc.double({ min: 0.01, max: 600_000, noNaN: true }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(samples, fc.constantFrom(0.5, 0.95, 0.99, 1), (values, share) => {
        const sketch = new LatencySketch();
        for (const value of values) sketch.add(value);
        const sorted = [...values].sort((a, b) => a - b);
        const exact = sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] as number;
        expect(Math.abs(sketch.quantile(share) - exact)).toBeLessThanOrEqual(exact * 0.05);
        expect(sketch.quantile(share)).toBeLessThanOrEqual(sketch.max);
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  it('takes a clock that went back, or gave nothing, for no time at all', () => {
    const sketch = new LatencySketch();
    for (const value of [-5, Number.NaN, Number.POSITIVE_INFINITY]) sketch.add(value);
    expect([sketch.count, sketch.average, sketch.max, sketch.quantile(0.99)]).toEqual([3, 0, 0, 0]);
    expect(new LatencySketch().quantile(0.5)).toBe(0);
  });

  it('merges to what both would have been together', () => {
    const [all, one, other] = [new LatencySketch(), new LatencySketch(), new LatencySketch()];
    for (let i = 1; i <= 100; i++) {
      all.add(i);
      (i % 2 ? one : other).add(i);
    }
    one.merge(JSON.parse(JSON.stringify(other.kept())));
    for (const share of [0.5, 0.95, 0.99]) expect(one.quantile(share)).toBe(all.quantile(share));
    expect([one.count, one.max, one.last]).toEqual([100, 100, 100]);
  });
});

describe('telemetry', () => {
  it('counts requests, ends, incidents and retries by total, method and tool, in the wire form', () => {
    const { told, snapshot, pass } = telemetry();
    told.request(call({ latencyMs: 10, retries: 2 }));
    told.request(
      call({ latencyMs: 30, end: 'answered_with_error', error: { code: 'ARGS_INVALID', message: 'no\nSECRET' } }),
    );
    told.request(call({ latencyMs: 20, end: 'lost', error: { code: 'UPSTREAM_TIMEOUT', message: 'gone' } }));
    told.request({ method: 'tool_browse', latencyMs: 1, end: 'ok' });
    told.fault(FAULT, { restarts: true, tool: 'files:read#00000001' });
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
      uptime_ms: 2_500,
      totals,
      tokens: {
        schema_tokens_full: 0,
        schema_tokens_exposed: 0,
        schema_tokens_avoided: 0,
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
        last_error: { code: 'UPSTREAM_TIMEOUT', message: 'gone', ts_unix_ms: 1_700_000_000_000 },
      },
    ]);
  });

  it('keeps the last error when successes follow, scrubbed and on one line', () => {
    const { told, snapshot } = telemetry();
    told.request(call({ end: 'answered_with_error', error: { code: 'X', message: `a\nSECRET ${'y'.repeat(500)}` } }));
    told.request(call());
    const message = snapshot().methods[0]?.last_error?.message ?? '';
    expect(message).toMatch(/^a \*\*\* y+…$/);
    expect(message.length).toBeLessThanOrEqual(200);
  });

  it('remembers a fault only when something was restarted by it, and counts it all the same', () => {
    const { told, snapshot } = telemetry();
    told.fault(FAULT, { restarts: false });
    expect(snapshot()).not.toHaveProperty('last_fault');
    expect(snapshot().totals.recovery_fault_count).toBe(1);
  });

  it('stays bounded: rows that were not used for longest become one, and nothing is lost from the sums', () => {
    const { told, snapshot } = telemetry({ maxTools: 3, maxMethods: 2 });
    for (let i = 0; i < 10; i++) told.request(call({ tool: `t${i}`, method: `m${i}`, latencyMs: i + 1 }));
    told.request(call({ tool: 't7', method: 'm8' }));
    told.request(call({ tool: 'new', method: 'm8' }));
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

  it('goes on in another process with all that was counted, in whatever order that comes', () => {
    const [before, after, alone] = [telemetry(), telemetry(), telemetry()];
    const calls = [call({ tool: 'a', latencyMs: 5 }), call({ tool: 'b', latencyMs: 80, end: 'lost', retries: 1 })];
    const failing = call({ tool: 'a', latencyMs: 20, end: 'answered_with_error', error: { code: 'X', message: 'm' } });
    for (const { told } of [before, alone]) {
      for (const one of calls) told.request(one);
      told.fault(FAULT, { restarts: true, method: 'tool_execute', tool: 'b' });
      told.result({ raw: 100, shown: 20 });
      told.schemas({ full: 9, exposed: 1 });
    }
    before.pass(5_000);
    for (const { told } of [after, alone]) {
      told.request(failing);
      told.result({ raw: 10, shown: 20 });
      told.schemas({ full: 900, exposed: 100 });
    }
    after.pass(1_000);
    after.told.inherit(JSON.parse(JSON.stringify(before.told.take())));
    expect(after.snapshot()).toEqual({ ...alone.snapshot(), uptime_ms: 5_000 });
    // Nothing is counted twice: what was taken is gone.
    expect(before.snapshot()).toMatchObject({ totals: { request_count: 0 }, methods: [], tools: [] });
    expect(before.snapshot()).not.toHaveProperty('last_fault');
    after.told.inherit(JSON.parse(JSON.stringify(before.told.take())));
    expect(after.snapshot().totals).toEqual(alone.snapshot().totals);
  });

  it('that inherits has its own word last, and stays as bounded as it was', () => {
    const few = { maxTools: 2 };
    const [before, after] = [telemetry(few), telemetry(few)];
    const error = (code: string) => ({ end: 'answered_with_error', error: { code, message: code } }) as const;
    for (const tool of ['a', 'b', 'c']) before.told.request(call({ tool, latencyMs: 1, ...error('OLD') }));
    before.told.fault({ ...FAULT, code: 'old' }, { restarts: true });
    after.told.request(call({ tool: 'c', latencyMs: 2, ...error('NEW') }));
    after.told.fault({ ...FAULT, code: 'new' }, { restarts: true });
    after.told.inherit(before.told.take());
    const { tools, last_fault } = after.snapshot();
    expect(tools.map((row) => [row.tool_id, row.request_count, row.last_latency_ms, row.last_error?.code])).toEqual([
      ['c', 2, 2, 'NEW'],
      ['b', 1, 1, 'OLD'],
      [OTHERS, 1, 1, 'OLD'],
    ]);
    expect(last_fault?.code).toBe('new');
  });

  it('adds up what results cost and saved; of schemas the last count holds, and less than nothing is never saved', () => {
    const { told, snapshot } = telemetry();
    told.result({ raw: 100, shown: 20 });
    told.result({ raw: 5, shown: 9 });
    told.schemas({ full: 900, exposed: 100 });
    told.schemas({ full: 50, exposed: 100 });
    expect(snapshot().tokens).toEqual({
      schema_tokens_full: 50,
      schema_tokens_exposed: 100,
      schema_tokens_avoided: 0,
      result_tokens_raw: 105,
      result_tokens_shown: 29,
      result_tokens_saved: 80,
    });
  });
});
