import { describe, expect, it } from 'vitest';
import type { HealthReport, ServerHealth, TelemetryReport } from '../../src/control/healthContract.ts';
import { faultOf } from '../../src/errors/fault.ts';
import { GATEWAY_TOOLS } from '../../src/modes/shared/gatewayTools.ts';
import { systemResources } from '../../src/modes/shared/systemResources.ts';
import { Counters } from '../../src/telemetry/counters.ts';
import { eventText } from '../../src/telemetry/followEvents.ts';

const server = (name: string, more: Partial<ServerHealth> = {}): ServerHealth => ({
  name,
  state: 'ready',
  down: false,
  generation: 1,
  uptime_ms: 60_000,
  consecutive_failures: 0,
  restart_count: 0,
  rollout: 'stable',
  worker_handshake: 'ready',
  supervision: 'running',
  ...more,
});

const SINCE = Date.UTC(2026, 0, 2, 3, 4, 5);
const FAULT = faultOf('exited', { generation: 2, detail: 'git: it ended' }, (text) => text);

function health(more: Partial<HealthReport> = {}): HealthReport {
  return {
    workspace: '/shop',
    state: 'ready',
    worker_handshake: 'ready',
    generation: 1,
    since_unix_ms: SINCE,
    uptime_ms: 600_000,
    consecutive_failures: 0,
    restart_count: 0,
    rollout: 'stable',
    condition: 'degraded',
    problems: [],
    servers: [
      server('files'),
      server('later', { state: 'not_started', uptime_ms: 0 }),
      server('git', {
        state: 'failed',
        down: true,
        uptime_ms: 0,
        restart_count: 1,
        consecutive_failures: 2,
        reason: 'it ended',
        last_fault: FAULT,
      }),
    ],
    event_log: { file: '/state/events.jsonl', written: 5, dropped: 0, failures: 0 },
    ...more,
  };
}

function telemetry(calls = 0): TelemetryReport {
  let now = 0;
  const counters = new Counters({
    now: () => now,
    wallClock: () => SINCE,
    scrub: (text) => text,
    sentTokens: () => 111,
  });
  for (let n = 0; n < calls; n++) {
    counters.request({
      method: 'tool_execute',
      tool: `files:read_${n}#00000001`,
      latencyMs: n + 1,
      end: n % 2 ? 'answered_with_error' : 'ok',
      ...(n % 2 ? { error: { code: 'ARGS_INVALID', message: `no ${'x'.repeat(500)}` } } : {}),
    });
  }
  counters.definitions(12_000);
  counters.result({ raw: 900, shown: 100 });
  now = 3_000;
  const life = { state: 'ready', generation: 1, consecutive_failures: 0, restart_count: 0 } as const;
  return { workspace: '/shop', ...counters.snapshot(life), oddities: [] };
}

const resources = (report: HealthReport = health(), numbers: TelemetryReport = telemetry(4)) =>
  systemResources({ health: () => report, telemetry: () => numbers });

const read = (uri: string, from = resources()): string => from.read(uri)?.[0]?.text ?? '';

describe('the resources of the gateway itself', () => {
  it('are two, as text, beside the three tools', () => {
    expect(
      resources()
        .list()
        .map(({ uri, mimeType }) => [uri, mimeType]),
    ).toEqual([
      ['waygate://health', 'text/plain'],
      ['waygate://telemetry', 'text/plain'],
    ]);
    expect(GATEWAY_TOOLS).toHaveLength(3);
    for (const { uri } of resources().list())
      expect(resources().read(uri)).toMatchObject([{ uri, mimeType: 'text/plain' }]);
  });

  it.each(['waygate://other', 'waygate://health/x', 'file:///health', 'waygate:', '', 'waygate://', 'http://health'])(
    'do not answer for %j',
    (uri) => {
      expect(resources().read(uri)).toBeUndefined();
    },
  );

  it('report health with the summary first, then servers that are down; not started is not down', () => {
    expect(read('waygate://health')).toBe(
      [
        'gateway degraded, up 10 min (since 2026-01-02T03:04:05Z): 3 servers, 1 ready, 1 asleep, 1 failed',
        'generation 1, 0 restarts, 0 failures in a row, rollout stable, worker ready',
        'git: failed, 1 restart, 2 failures in a row: it ended',
        'files: ready, up 60 s',
        'later: asleep',
        '',
      ].join('\n'),
    );
    expect(read('waygate://health', resources(health({ servers: [], condition: 'ready' })))).toMatch(
      /^gateway ready, up 10 min \(since 2026-01-02T03:04:05Z\): no server is configured\n/,
    );
    const lost = { ...health().event_log, dropped: 3, failures: 1, failing: 'ENOSPC' };
    const full = health({
      event_log: lost,
      problems: ['The event log cannot be written (ENOSPC).'],
      last_fault: FAULT,
    });
    expect(read('waygate://health', resources(full)).split('\n').slice(2, 5)).toEqual([
      'last fault: process/exited (generation 2): git: it ended',
      'problem: The event log cannot be written (ENOSPC).',
      'event log: 3 events lost',
    ]);
  });

  it('report the most frequent kinds of misbehaviour of servers, in words', () => {
    const odd = (kind: string, count: number) => ({ kind, count, words: `many ${kind}` });
    const servers = [
      server('a', { oddities: [odd('x', 1_200), odd('y', 3), odd('z', 2), odd('w', 1)] }),
      server('c', { state: 'not_started', uptime_ms: 0 }),
    ];
    expect(
      read('waygate://health', resources(health({ servers })))
        .split('\n')
        .slice(2, 5),
    ).toEqual(['a: ready, up 60 s', '  odd: many x (1,200), many y (3), many z (2), and 1 more', 'c: asleep']);
    const oddities = Array.from({ length: 14 }, (_, n) => ({ server: `s${n}`, ...odd('x', 20 - n) }));
    const lines = read('waygate://telemetry', resources(health(), { ...telemetry(), oddities }))
      .trim()
      .split('\n');
    expect(lines.slice(-14, -12)).toEqual(['odd server  times  what', 's0             20  many x']);
    expect(lines.at(-1)).toBe('… 2 kinds omitted');
  });

  it('report a crash loop with the time of the next attempt', () => {
    const loop = { state: 'failed', down: true, supervision: 'crash_loop', next_attempt_in_ms: 43_000 } as const;
    const servers = [server('a', { ...loop, restart_count: 4, consecutive_failures: 5, reason: 'It ended.' })];
    expect(read('waygate://health', resources(health({ servers }))).split('\n')[2]).toBe(
      'a: failed, 4 restarts, 5 failures in a row, crash loop, next try in 43 s: It ended.',
    );
  });

  it('shorten lists instead of dropping members if the report is too long', () => {
    const servers = Array.from({ length: 200 }, (_, n) => server(`s${n}`));
    const report = JSON.parse(read('waygate://health?render=json', resources(health({ servers })))) as HealthReport;
    expect(Object.keys(report).sort()).toEqual([...Object.keys(health()), 'truncated'].sort());
    expect(report.servers.length).toBeGreaterThanOrEqual(10);
    expect(report.servers[0]).toEqual(servers[0]);
  });

  it('report telemetry with the summary first, rows in columns, errors last', () => {
    const [summary, schemas, results, , header, row] = read('waygate://telemetry').split('\n');
    expect([summary, schemas, results]).toEqual([
      '4 requests in 3 s (since 2026-01-02T03:04:05Z): 2 ok, 2 errors, 0 retries, 0 faults',
      'definitions: about 11,889 tokens (cl100k) not sent with each request (12,000 would be, 111 are)',
      'results: 800 tokens not shown (900 came, 100 were shown)',
    ]);
    expect(header).toMatch(/^method +requests +errors +retries +last +avg +p50 +p95 +p99 +max$/);
    expect(row).toMatch(/^tool_execute +4 +2 +0 +4 ms +2\.5 ms /);
  });

  it('are bounded in text and as data, and report omissions', () => {
    const many = health({
      servers: Array.from({ length: 500 }, (_, n) => server(`s${n}`, { reason: 'x'.repeat(400) })),
    });
    const from = resources(many, telemetry(250));
    for (const uri of ['health', 'telemetry'].flatMap((name) => [
      `waygate://${name}`,
      `waygate://${name}?render=json`,
    ])) {
      expect(read(uri, from).length).toBeLessThanOrEqual(8_001);
    }
    expect(read('waygate://telemetry', from)).toContain('… 238 tools omitted');
    expect(read('waygate://health', from)).toMatch(/… [\d,]+ more characters/);
  });

  it('are data in the wire form with ?render=json', () => {
    expect(JSON.parse(read('waygate://health?render=json'))).toEqual(health());
    expect(JSON.parse(read('waygate://telemetry?render=json'))).toEqual(telemetry(4));
    expect(resources().read('waygate://health?render=json')?.[0]?.mimeType).toBe('application/json');
  });

  it('are equal for equal input', () => {
    for (const { uri } of resources().list()) expect(read(uri, resources())).toBe(read(uri, resources()));
  });
});

describe('an event as a line', () => {
  it('has time, outcome, event and subject', () => {
    const timestamp = '2026-01-02T03:04:05.000Z';
    const event = { version: 1, event: 'execute.failed', timestamp, success: false, duration_ms: 1.5 };
    expect(eventText({ ...event, tool_id: 'a:b#00000000', attributes: { error_code: 'X', arg_keys: ['p'] } })).toBe(
      `${timestamp} failed execute.failed a:b#00000000 1.5 ms error_code=X arg_keys=["p"]`,
    );
    const call = { event: 'tool_call', ts_unix_ms: Date.parse(timestamp), tool_name: 'a:b#00000000', outcome: 'ok' };
    expect(eventText(call)).toBe(`${timestamp} ok tool_call a:b#00000000`);
  });
});
