import type {
  HealthCore,
  HealthReport,
  HealthWithoutWorker,
  NoTelemetry,
  ServerHealth,
  TelemetryReport,
  TelemetryRow,
} from '../control/healthContract.ts';
import { oddityWords } from '../control/serverOddities.ts';
import { serverState } from '../control/serverStates.ts';
import type { Fault } from '../errors/fault.ts';
import {
  boundText,
  count,
  duration,
  firstLines,
  groupDigits,
  inLines,
  latency,
  oneLine,
  table,
} from '../text/porcelain.ts';

/** Health and telemetry as porcelain text: the summary first, every line bounded. */
const MAX_SERVERS = 60;
const MAX_ROWS = 12;
const MAX_LINE = 200;
/** Room for an error line for a model and the words before it. */
const MAX_PROBLEM = 280;

export function healthText(report: HealthReport | HealthWithoutWorker): string {
  const health = inLines(report);
  if ('supervision' in health) return textWithoutWorker(health);
  const { condition, servers, problems, event_log: log } = health;
  // A reader asks for the servers that are down.
  const sorted = [...servers.filter(({ down }) => down), ...servers.filter(({ down }) => !down)];
  const lines = [
    `gateway ${condition}, up ${duration(health.uptime_ms)} (${since(health)}): ${serverSummary(servers)}`,
    ...lifeLines(health),
    ...problems.map((problem) => `problem: ${oneLine(problem, MAX_LINE)}`),
    ...(log.dropped === 0 ? [] : [`event log: ${count(log.dropped, 'event')} lost`]),
    ...firstLines(sorted.map(serverLine), MAX_SERVERS),
  ];
  return boundText(lines.join('\n'));
}

/** Bounds the reason, so that the path of the log is never cut off. */
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

function since({ since_unix_ms: ms }: { since_unix_ms: number }): string {
  return `since ${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function lifeLines(health: HealthCore): string[] {
  const { generation, restart_count: restarts, consecutive_failures: failures, last_fault: fault } = health;
  return [
    `generation ${generation}, ${count(restarts, 'restart')}, ${count(failures, 'failure')} in a row, rollout ${health.rollout}, worker ${health.worker_handshake}`,
    ...faultLines(fault),
  ];
}

function serverSummary(servers: readonly ServerHealth[]): string {
  if (servers.length === 0) return 'no server is configured';
  const counts = new Map<ServerHealth['state'], number>();
  for (const { state } of servers) counts.set(state, (counts.get(state) ?? 0) + 1);
  const states = [...counts].map(([state, n]) => `${n} ${serverState(state).words}`);
  return `${count(servers.length, 'server')}, ${states.join(', ')}`;
}

function serverLine(server: ServerHealth): string {
  const { name, state, restart_count: restarts, consecutive_failures: failures, reason } = server;
  const { supervision, next_attempt_in_ms: next, to_review: review, oddities = [] } = server;
  const parts = [
    serverState(state).words,
    ...(state === 'ready' ? [`up ${duration(server.uptime_ms)}`] : []),
    ...(restarts === 0 ? [] : [count(restarts, 'restart')]),
    ...(failures === 0 ? [] : [`${count(failures, 'failure')} in a row`]),
    ...(supervision === 'crash_loop' ? ['crash loop'] : []),
    ...(next === undefined ? [] : [`next try in ${duration(next)}`]),
  ];
  const line = oneLine(`${name}: ${parts.join(', ')}${reason === undefined ? '' : `: ${reason}`}`, MAX_LINE);
  return [
    line,
    ...(review === undefined ? [] : [`  to review: ${count(review, 'item')} (waygate trust)`]),
    ...(oddities.length === 0 ? [] : [`  ${oneLine(`odd: ${oddityWords(oddities)}`, MAX_LINE)}`]),
  ].join('\n');
}

function faultLines(fault: Fault | undefined): string[] {
  if (fault === undefined) return [];
  const detail = fault.detail === '' ? '' : `: ${fault.detail}`;
  return [oneLine(`last fault: ${fault.class}/${fault.code} (generation ${fault.generation})${detail}`, MAX_LINE)];
}

export function telemetryText(report: TelemetryReport | NoTelemetry): string {
  if (report.totals === null) return 'No worker runs, so nothing is counted; see waygate://health.';
  const telemetry = inLines(report);
  const { totals, tokens, methods, tools, last_fault: fault, oddities } = telemetry;
  const { request_count: requests, success_count: successes, error_count: errors, retry_count: retries } = totals;
  const lost = totals.recovery_error_count === 0 ? '' : ` (${groupDigits(totals.recovery_error_count)} lost)`;
  const odd = oddities.slice(0, MAX_ROWS).map(({ server, words, count: n }) => [server, n, words]);
  const lines = [
    `${count(requests, 'request')} in ${duration(telemetry.uptime_ms)} (${since(telemetry)}): ${groupDigits(successes)} ok, ${count(errors, 'error')}${lost}, ${count(retries, 'retry', 'retries')}, ${count(totals.recovery_fault_count, 'fault')}`,
    `definitions: about ${groupDigits(tokens.definition_tokens_avoided)} tokens (cl100k) not sent with each request (${groupDigits(tokens.definition_tokens_full)} would be, ${groupDigits(tokens.definition_tokens_exposed)} are)`,
    `results: ${groupDigits(tokens.result_tokens_saved)} tokens not shown (${groupDigits(tokens.result_tokens_raw)} came, ${groupDigits(tokens.result_tokens_shown)} were shown)`,
    ...(telemetry.results_with_findings === undefined
      ? []
      : [`${count(telemetry.results_with_findings, 'result')} read like an attack`]),
    ...faultLines(fault),
    ...rowLines(
      'method',
      methods.map((row) => [row.method, row]),
    ),
    ...rowLines(
      'tool',
      tools.map((row) => [row.tool_id, row]),
    ),
    ...(odd.length === 0 ? [] : ['', ...table(['odd server', 'times', 'what'], odd)]),
    ...omitted(oddities.length, 'kind'),
  ];
  return boundText(lines.join('\n'));
}

function rowLines(what: string, all: readonly (readonly [name: string, row: TelemetryRow])[]): string[] {
  if (all.length === 0) return [];
  const shown = all.slice(0, MAX_ROWS);
  const header = [what, 'requests', 'errors', 'retries', 'last', 'avg', 'p50', 'p95', 'p99', 'max'];
  const cells = shown.map(([name, row]) => [
    oneLine(name, 80),
    row.request_count,
    row.error_count,
    row.retry_count,
    row.last_latency_ms === undefined ? '' : latency(row.last_latency_ms),
    ...[row.avg_latency_ms, row.p50_latency_ms, row.p95_latency_ms, row.p99_latency_ms, row.max_latency_ms].map(
      latency,
    ),
  ]);
  const errors = shown.flatMap(([name, { last_error: error }]) =>
    error === undefined ? [] : [oneLine(`last error of ${name}: ${error.code}: ${error.message}`, MAX_LINE)],
  );
  return ['', ...table(header, cells), ...omitted(all.length, what), ...errors];
}

function omitted(rows: number, what: string): string[] {
  return rows > MAX_ROWS ? [`… ${count(rows - MAX_ROWS, what)} omitted`] : [];
}
