import type { ServerOddity } from '../control/contract.ts';
import type { HealthReport, ServerHealth, TelemetryReport } from '../control/healthContract.ts';
import type { HealthSnapshot, HealthWithoutWorker } from '../supervision/health.ts';
import { boundText, count, duration, firstLines, groupDigits, latency, oneLine, table } from '../text/porcelain.ts';
import type { LatencyTold, TelemetryTotals, ToldError, ToldFault } from './telemetryForms.ts';

/** Limits of health and telemetry as text: the summary first, lines bounded (O9.2). */
const MAX_SERVERS = 60;
const MAX_ROWS = 12;
const MAX_LINE = 200;
/** As long as an error line for a model, and what comes before it. */
const MAX_PROBLEM = 280;
/** Of one server. */
const MAX_ODDITIES = 3;

export function healthText(health: HealthReport | HealthWithoutWorker): string {
  if ('supervision' in health) return textWithoutWorker(health);
  const { condition, servers, problems, event_log: log } = health;
  const down = servers.filter((server) => server.down);
  const lines = [
    `gateway ${condition}, up ${duration(health.uptime_ms)}: ${serverSummary(servers)}`,
    ...lifeLines(health),
    ...problems.map((problem) => `problem: ${oneLine(problem, MAX_LINE)}`),
    ...(log.dropped === 0 ? [] : [`event log: ${count(log.dropped, 'event')} lost`]),
  ];
  // What is down is what is asked for.
  const rest = servers.filter((server) => !server.down);
  lines.push(...firstLines([...down, ...rest].map(serverLine), MAX_SERVERS));
  return boundText(lines.join('\n'));
}

/** The path of the log is never cut off. */
function textWithoutWorker(health: HealthWithoutWorker): string {
  const { condition, problems, worker_log: log } = health;
  const lines = [
    oneLine(`gateway ${condition}: ${problems.join(' ') || 'no worker runs.'}`, MAX_PROBLEM),
    ...lifeLines(health),
    ...(condition === 'cold' ? [] : [`next try: ${nextTry(health)}`]),
    ...(log === undefined ? [] : [`log of the worker: ${log}`]),
  ];
  return boundText(lines.join('\n'));
}

function nextTry({ host_pid: host, supervision, next_attempt_in_ms: next }: HealthWithoutWorker): string {
  if (host === undefined) return 'when a client comes';
  const when = next === undefined || supervision === 'starting' ? 'now' : `in ${duration(next)}`;
  return `${when}, by the host ${host}`;
}

function lifeLines(health: Omit<HealthSnapshot, 'last_fault' | 'supervision'> & { last_fault?: ToldFault }): string[] {
  const { generation, restart_count: restarts, consecutive_failures: failures, last_fault: fault } = health;
  return [
    `generation ${generation}, ${count(restarts, 'restart')}, ${count(failures, 'failure')} in a row, rollout ${health.rollout}, worker ${health.worker_handshake}`,
    ...(fault === undefined ? [] : [faultLine('last fault', fault)]),
  ];
}

function serverSummary(servers: readonly ServerHealth[]): string {
  if (servers.length === 0) return 'no server is configured';
  const counts = new Map<string, number>();
  for (const { state } of servers) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, n]) => `${n} ${state.replaceAll('_', ' ')}`);
  return `${count(servers.length, 'server')}, ${states.join(', ')}`;
}

function serverLine(server: ServerHealth): string {
  const { name, state, uptime_ms: uptime, restart_count: restarts, consecutive_failures: failures, reason } = server;
  const { oddities = [] } = server;
  const parts = [
    state.replaceAll('_', ' '),
    ...(state === 'ready' ? [`up ${duration(uptime)}`] : []),
    ...(restarts === 0 ? [] : [count(restarts, 'restart')]),
    ...(failures === 0 ? [] : [`${count(failures, 'failure')} in a row`]),
    ...recoveryWords(server),
  ];
  const line = oneLine(`${name}: ${parts.join(', ')}${reason === undefined ? '' : `: ${reason}`}`, MAX_LINE);
  return oddities.length === 0 ? line : `${line}\n  ${oddityLine(oddities)}`;
}

/** Whether anything is done about it, and when. */
function recoveryWords({ supervision, next_attempt_in_ms: next }: ServerHealth): string[] {
  return [
    ...(supervision === 'crash_loop' ? ['crash loop'] : []),
    ...(next === undefined ? [] : [`next try in ${duration(next)}`]),
  ];
}

function oddityLine(oddities: readonly ServerOddity[]): string {
  const shown = oddities.slice(0, MAX_ODDITIES).map(({ words, count: n }) => `${words} (${groupDigits(n)})`);
  const more = oddities.length - shown.length;
  return oneLine(`odd: ${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`, MAX_LINE);
}

function faultLine(what: string, fault: ToldFault): string {
  const detail = fault.detail === '' ? '' : `: ${fault.detail}`;
  return oneLine(`${what}: ${fault.class}/${fault.code} (generation ${fault.generation})${detail}`, MAX_LINE);
}

/** Nothing is counted where there is no worker. */
export interface NoTelemetry {
  workspace: string;
  state: string;
  totals: null;
}

export function telemetryText(telemetry: TelemetryReport | NoTelemetry): string {
  if (telemetry.totals === null) return 'The worker counts requests, and there is none now; see waygate://health.';
  const { totals, tokens, methods, tools, last_fault: fault } = telemetry;
  const { request_count: requests, success_count: successes, error_count: errors, retry_count: retries } = totals;
  const lost = totals.recovery_error_count === 0 ? '' : ` (${groupDigits(totals.recovery_error_count)} lost)`;
  const lines = [
    `${count(requests, 'request')} in ${duration(telemetry.uptime_ms)}: ${groupDigits(successes)} ok, ${count(errors, 'error')}${lost}, ${count(retries, 'retry', 'retries')}, ${count(totals.recovery_fault_count, 'fault')}`,
    `schemas: ${groupDigits(tokens.schema_tokens_avoided)} tokens not sent each time (${groupDigits(tokens.schema_tokens_full)} would be, ${groupDigits(tokens.schema_tokens_exposed)} are)`,
    `results: ${groupDigits(tokens.result_tokens_saved)} tokens not shown (${groupDigits(tokens.result_tokens_raw)} came, ${groupDigits(tokens.result_tokens_shown)} were shown)`,
    ...(fault === undefined ? [] : [faultLine('last fault', fault)]),
    ...rows(
      'method',
      methods.map((row) => ({ name: row.method, ...row })),
    ),
    ...rows(
      'tool',
      tools.map((row) => ({ name: row.tool_id, ...row })),
    ),
    ...odditiesOf(telemetry),
  ];
  return boundText(lines.join('\n'));
}

function odditiesOf({ oddities }: TelemetryReport): string[] {
  const shown = oddities.slice(0, MAX_ROWS).map(({ server, words, count: n }) => [server, n, words]);
  const more = oddities.length - shown.length;
  if (shown.length === 0) return [];
  return ['', ...table(['odd server', 'times', 'what'], shown), ...(more > 0 ? [`… ${more} more omitted`] : [])];
}

type RowTold = TelemetryTotals & LatencyTold & { name: string; last_error?: ToldError };

function rows(what: string, all: readonly RowTold[]): string[] {
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_ROWS);
  const header = [what, 'requests', 'errors', 'retries', 'last', 'avg', 'p50', 'p95', 'p99', 'max'];
  const cells = shown.map((row) => [
    oneLine(row.name, 80),
    row.request_count,
    row.error_count,
    row.retry_count,
    row.last_latency_ms === undefined ? '' : latency(row.last_latency_ms),
    ...[row.avg_latency_ms, row.p50_latency_ms, row.p95_latency_ms, row.p99_latency_ms, row.max_latency_ms].map(
      latency,
    ),
  ]);
  const errors = shown.flatMap(({ name, last_error: error }) =>
    error === undefined ? [] : [oneLine(`last error of ${name}: ${error.code}: ${error.message}`, MAX_LINE)],
  );
  const more = all.length - shown.length;
  return ['', ...table(header, cells), ...(more > 0 ? [`… ${count(more, what)} omitted`] : []), ...errors];
}

/** One event of the log on one line. */
export function eventText(record: Readonly<Record<string, unknown>>): string {
  const { event, timestamp, ts_unix_ms: ms, success, outcome, duration_ms: took, attributes, ...rest } = record;
  const time = typeof timestamp === 'string' ? timestamp : new Date(Number(ms)).toISOString();
  const { tool_id: tool, tool_name: name, namespace } = rest;
  const subject = [tool, name, namespace].find((value) => typeof value === 'string');
  const details = Object.entries((attributes as object | undefined) ?? {}).map(
    ([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
  );
  return oneLine(
    [
      time,
      success === false || outcome === 'error' ? 'failed' : 'ok',
      String(event),
      ...(subject === undefined ? [] : [String(subject)]),
      ...(typeof took === 'number' ? [latency(took)] : []),
      ...details,
    ].join(' '),
    400,
  );
}
