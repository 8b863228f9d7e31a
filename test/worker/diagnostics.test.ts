import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import type { CallEvent } from '../../src/modes/shared/callEvent.ts';
import { CatalogView } from '../../src/modes/shared/catalog/catalogView.ts';
import { knownSecrets, scrubSecrets } from '../../src/secrets/mask.ts';
import { HealthRecord } from '../../src/supervision/health.ts';
import { eventLogFile } from '../../src/telemetry/eventLog.ts';
import { Diagnostics, type GatewayState } from '../../src/worker/reports/diagnostics.ts';
import { readyServer } from '../support/fixedContext.ts';
import { until } from '../support/hostProcess.ts';
import { recordsOf } from '../support/lines.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** A secret without a recognisable form, known only because a server received it. */
const SECRET = 'Dg6-kept-of-no-form';
knownSecrets.learn('a test', [SECRET]);

const sentTokens = (): number => 600;

const state = (more: Partial<GatewayState> = {}): GatewayState => ({
  condition: 'ready',
  servers: [],
  problems: [],
  ...more,
});

function diagnostics(prepare: (stateFolder: string) => void = () => undefined) {
  const stateFolder = temporaryFolder('waygate-diagnostics-');
  prepare(stateFolder);
  const subject = new Diagnostics({ workspace: '/shop', stateFolder, scrubSecrets, sentTokens });
  onTestFinished(() => subject.close());
  const events = async () => {
    await subject.flush();
    return recordsOf(eventLogFile(stateFolder));
  };
  return { subject, events, stateFolder };
}

function call(tool: string, more: Partial<CallEvent> = {}): CallEvent & { sessionId: string } {
  return {
    event: 'execute.completed',
    success: true,
    sessionId: 's',
    toolId: tool,
    namespace: 'files',
    method: 'tool_execute',
    end: 'ok',
    retries: 0,
    dispatched: true,
    attributes: () => ({ raw_tokens: 100, compact_tokens: 30 }),
    ...more,
  };
}

describe('diagnostics', () => {
  it('write a snapshot of the busiest and the slowest tools every two hundred calls', async () => {
    const { subject, events } = diagnostics();
    for (let n = 0; n < 400; n++) {
      const tool = `files:t${n % 20}#00000001`;
      subject.callEnded({ durationMs: n % 20 }, call(tool));
    }
    const snapshots = (await events()).filter(({ event }) => event === 'hot_paths_snapshot');
    expect(snapshots.map((one) => one.total_tool_events)).toEqual([200, 400]);
    const { hottest_paths, slowest_paths, repo_root } = snapshots[1] as Record<string, { path: string }[]>;
    expect(repo_root).toBe('/shop');
    expect([hottest_paths?.length, slowest_paths?.length]).toEqual([12, 12]);
    expect(slowest_paths?.[0]).toEqual({
      path: 'files:t19#00000001',
      request_count: 20,
      error_count: 0,
      avg_latency_ms: 19,
      max_latency_ms: 19,
    });
    // All have the same number of calls, so the slowest call decides.
    expect(hottest_paths?.[0]?.path).toBe('files:t19#00000001');
    const { tokens, tools, calls } = subject.telemetry(state());
    expect(tokens).toMatchObject({ result_tokens_raw: 40_000, result_tokens_saved: 28_000 });
    expect(tools[0]).toMatchObject({ request_count: 20, result_tokens_saved: 1_400 });
    expect(calls).toMatchObject({ request_count: 400, error_count: 0 });
    expect(calls?.per_minute.at(-1)).toEqual({ calls: 400, errors: 0 });
  });

  it('mask server texts in counters and keep them out of the log; timeouts are incidents, refusals are not', async () => {
    const { subject, events } = diagnostics();
    const failed = { event: 'execute.failed', success: false, attributes: () => ({ error_code: 'X' }) } as const;
    const timedOut = faultOf('outcome_unknown_after_timeout', { generation: 3 }, (text) => text);
    const lost = { code: 'UPSTREAM_TIMEOUT', message: `no answer to ${SECRET}` };
    subject.callEnded(
      { durationMs: 5 },
      call('files:a#00000001', { ...failed, end: 'lost', error: lost, fault: timedOut }),
    );
    const refused = { code: 'ARGS_INVALID', message: 'no' };
    subject.callEnded(
      { durationMs: 1 },
      call('files:b#00000001', { ...failed, dispatched: false, end: 'answered_with_error', error: refused }),
    );
    const numbers = subject.telemetry(state());
    expect(numbers.tools[0]?.last_error?.message).toBe('no answer to [REDACTED-SECRET]');
    expect(numbers.totals).toMatchObject({ recovery_fault_count: 1, recovery_error_count: 1, response_error_count: 1 });
    const records = await events();
    expect(records.map(({ event }) => event)).toEqual(['execute.failed', 'tool_call', 'execute.failed']);
    expect(records[1]).toMatchObject({ error_kind: 'lost', error_message: 'The server did not answer in time.' });
    expect(JSON.stringify(records)).not.toContain('no answer to');
    expect(JSON.stringify([numbers, records])).not.toContain(SECRET);
  });

  it('write the server, the client and the fault of a call into its event', async () => {
    const { subject, events } = diagnostics();
    const failed = { event: 'execute.failed', success: false, attributes: () => ({ error_code: 'X' }) } as const;
    const fault = faultOf('outcome_unknown_after_timeout', { generation: 1 }, (text) => text);
    const who = { server: 'Files and more', client: `tester ${SECRET}` };
    subject.callEnded({ durationMs: 5, ...who }, call('files:a#00000001', { ...failed, fault }));
    expect((await events())[0]?.attributes).toEqual({
      error_code: 'X',
      server: 'Files and more',
      client: 'tester [REDACTED-SECRET]',
      fault: `${fault.class}/${fault.code}`,
    });
  });

  it('count only the last catalog, after it stopped changing', async () => {
    const { subject, events } = diagnostics();
    const view = (n: number) => {
      const tools = Array.from({ length: n }, (_, i) => ({ name: `t${i}`, inputSchema: { type: 'object' } }));
      return CatalogView.build([{ server: 'files', tools }], n);
    };
    for (const n of [1, 2, 3]) subject.catalogChanged(view(n));
    const loaded = await until('the count', async () => {
      const found = (await events()).filter(({ event }) => event === 'catalog.loaded');
      return found.length > 0 && found;
    });
    expect(loaded).toHaveLength(1);
    const refreshes = (await events()).filter(({ event }) => event === 'catalog.refresh.live');
    expect(refreshes.map(({ attributes }) => attributes)).toEqual(
      [1, 2, 3].map((registered) => ({ outcome: 'refreshed', registered })),
    );
    expect(loaded[0]?.attributes).toMatchObject({ mode: 'gateway', tool_count: 3, exposed_tool_count: 3 });
    expect(subject.telemetry(state()).tokens.definition_tokens_full).toBeGreaterThan(0);
  });

  it('include the facts about the life of the worker', () => {
    const last_fault = faultOf('killed', { generation: 6, detail: 'SIGKILL' }, (text) => text);
    const before = Date.now();
    const life = () => ({ generation: 7, restart_count: 6, rollout: 'pending' as const, last_fault });
    const subject = new Diagnostics({ workspace: '/shop', stateFolder: '/nowhere', scrubSecrets, sentTokens, life });
    const { event_log: _log, uptime_ms, since_unix_ms, ...report } = subject.health(state());
    expect(uptime_ms).toBeGreaterThanOrEqual(0);
    expect(since_unix_ms).toBeGreaterThanOrEqual(before);
    expect(report).toEqual({
      workspace: '/shop',
      state: 'ready',
      worker_handshake: 'ready',
      generation: 7,
      consecutive_failures: 0,
      restart_count: 6,
      rollout: 'pending',
      last_fault,
      condition: 'ready',
      problems: [],
      servers: [],
    });
    expect(subject.telemetry(state())).toMatchObject({ generation: 7, restart_count: 6 });
  });

  it('continue if the log cannot be written, and report that in health', async () => {
    const { subject } = diagnostics((folder) => mkdirSync(join(folder, 'events.jsonl')));
    subject.started();
    await subject.flush();
    const { event_log: log, problems } = subject.health(state());
    expect(log).toMatchObject({ written: 0, dropped: 1, failures: 1, failing: 'EISDIR' });
    expect(problems).toEqual([`The event log ${log.file} cannot be written (EISDIR).`]);
    subject.callEnded({ durationMs: 1 }, call('files:a#00000001'));
    expect(subject.telemetry(state()).totals.request_count).toBe(1);
  });

  it('report each server with its history; a server that never started is not down', async () => {
    const { subject, events } = diagnostics();

    const reason = 'It said: what it was given';
    const watched = { name: 'git', tools: [] };
    const fault = faultOf('exited', { generation: 1, detail: reason }, (text) => text);
    const record = new HealthRecord(() => 1_000);
    record.starting(1, false);
    subject.serversChanged([{ ...watched, state: 'starting', health: record.snapshot() }]);
    record.countFailuresWith(() => 1);
    record.failed(fault, 'backing_off', 3_000);
    subject.serversChanged([{ ...watched, state: 'failed', health: record.snapshot() }]);
    const statuses = [
      { ...readyServer('git', 0), state: 'failed' as const, reason, supervised: record.snapshot() },
      { ...readyServer('later', 0), state: 'not_started' as const },
      { ...readyServer('mail', 0), state: 'needs_sign_in' as const },
    ];
    const { servers } = subject.health(state({ condition: 'degraded', servers: statuses }));
    expect(servers.map(({ name, down, supervision }) => [name, down, supervision])).toEqual([
      ['git', true, 'backing_off'],
      ['later', false, 'idle'],
      ['mail', true, 'idle'],
    ]);
    // Health has no other member of the status, such as the tools.
    expect(servers[0]).toEqual({
      name: 'git',
      state: 'failed',
      down: true,
      generation: 1,
      uptime_ms: 0,
      consecutive_failures: 1,
      restart_count: 0,
      rollout: 'stable',
      worker_handshake: 'failed',
      supervision: 'backing_off',
      next_attempt_in_ms: 2_000,
      reason,
      last_fault: fault,
    });
    expect(subject.telemetry(state({ condition: 'degraded' }))).toMatchObject({
      totals: { recovery_fault_count: 1 },
      last_fault: { class: 'process' },
    });
    const failed = (await events()).find(({ event }) => event === 'upstream.failed');
    // A server's error may repeat a secret, so the log contains none of it.
    expect(failed?.attributes).toEqual({
      generation: 1,
      reason: 'It exited unexpectedly (process/exited).',
      consecutive_failures: 1,
    });
  });
});
