import { oneLine } from '../text/porcelain.ts';

/** Event of the log, version 1: every event has these nine members. */
export interface DiagnosticEvent {
  version: 1;
  event: string;
  /** ISO 8601, in UTC. */
  timestamp: string;
  success: boolean;
  duration_ms: number | null;
  session_id: string | null;
  tool_id: string | null;
  namespace: string | null;
  attributes: Record<string, unknown>;
}

/** Allowed attributes of each event. Other attributes never reach the log. */
const ATTRIBUTES = {
  'catalog.loaded':
    'mode tool_count exposed_tool_count namespace_counts full_schema_tokens exposed_schema_tokens ' +
    'schema_tokens_avoided',
  'catalog.refresh.live': 'outcome registered',
  'browse.completed': 'query_chars path_depth card_count tool_ids card_tokens schema_tokens_avoided',
  'browse.failed': 'error_code query_chars path_depth',
  'hydrate.completed': 'schema_tokens',
  'hydrate.failed': 'error_code',
  'execute.completed':
    'status arg_keys raw_chars raw_tokens compact_chars compact_tokens tokens_saved artifact_count ' +
    'artifact_bytes artifact_refs firewall_triggered attempts cache_hit result_findings',
  'execute.cache_hit': 'arg_keys status cache_hit dispatched',
  'execute.dry_run': 'arg_keys dispatched',
  'execute.failed': 'error_code arg_keys',
  'view.completed': 'artifact_ref selector_type result_chars result_tokens result_findings',
  'view.failed': 'artifact_ref selector_type error_code',
  'read.completed': 'raw_chars raw_tokens compact_chars compact_tokens artifact_count artifact_refs result_findings',
  'read.failed': 'error_code',
  'call.failed': 'error_code',
  'worker.started': 'pid build generation',
  'worker.stopped': 'pid',
  'worker.lost': 'generation reason',
  'upstream.started': 'generation tool_count',
  'upstream.failed': 'generation reason consecutive_failures',
  'upstream.crashed': 'generation reason consecutive_failures',
  'upstream.restarting': 'generation restart_count',
  'upstream.stopped': 'generation',
  'upstream.waiting': 'generation state',
  'upstream.list_changed': 'generation tool_count',
  'log.dropped': 'count reason',
} as const satisfies Readonly<Record<string, string>>;

/** Attributes of every event of a call: its server, its client, and the fault behind its failure. */
const OF_CALLS = ['server', 'client', 'fault'];
const CALLS = /^(browse|hydrate|execute|view|read|call)\./;

/** Name of an event that the log may hold. */
export type EventName = keyof typeof ATTRIBUTES;

const ALLOWED = new Map<string, readonly string[]>(
  Object.entries(ATTRIBUTES).map(([event, names]) => [
    event,
    [...names.split(' '), ...(CALLS.test(event) ? OF_CALLS : [])],
  ]),
);

const MAX_TEXT = 300;
const MAX_ITEMS = 50;

export interface EventDraft {
  event: string;
  success: boolean;
  durationMs?: number;
  sessionId?: string;
  toolId?: string | null;
  namespace?: string | null;
  attributes: Readonly<Record<string, unknown>>;
}

/** Makes an event for the log: allowed attributes only, with masked and bounded texts of one line. */
export function diagnosticEvent(draft: EventDraft, at: Date, scrub: (text: string) => string): DiagnosticEvent {
  const text = (value: string): string => cut(scrub(value.slice(0, 4 * MAX_TEXT)));
  const attributes: Record<string, unknown> = {};
  for (const name of ALLOWED.get(draft.event) ?? []) {
    const value = draft.attributes[name];
    if (value !== undefined) attributes[name] = plain(value, text);
  }
  return {
    version: 1,
    event: draft.event,
    timestamp: at.toISOString(),
    success: draft.success,
    duration_ms: draft.durationMs === undefined ? null : Math.round(Math.max(0, draft.durationMs) * 1_000) / 1_000,
    session_id: draft.sessionId ?? null,
    tool_id: draft.toolId == null ? null : text(draft.toolId),
    namespace: draft.namespace == null ? null : text(draft.namespace),
    attributes,
  };
}

function plain(value: unknown, text: (value: string) => string): unknown {
  if (typeof value === 'string') return text(value);
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
  if (Array.isArray(value))
    return value.slice(0, MAX_ITEMS).map((item) => (typeof item === 'string' ? text(item) : item));
  // An object may hold counts by name. Anything else would be data of a user.
  const counts = Object.entries(value as object).filter(([, count]) => typeof count === 'number');
  return Object.fromEntries(counts.slice(0, MAX_ITEMS).map(([name, count]) => [text(name), count]));
}

function cut(value: string): string {
  return oneLine(value, MAX_TEXT);
}

const HOT_PATHS = 12;

/** Row of `hot_paths_snapshot`. A path is the id of a tool. */
interface HotPath {
  path: string;
  request_count: number;
  error_count: number;
  avg_latency_ms: number;
  max_latency_ms: number;
}

/** Selects the busiest and the slowest paths, twelve each. Requests, slowest call and name break ties. */
export function hotPaths(tools: readonly (Omit<HotPath, 'path'> & { tool_id: string })[]): {
  hottest_paths: HotPath[];
  slowest_paths: HotPath[];
} {
  const paths = tools.map(({ tool_id: path, request_count, error_count, avg_latency_ms, max_latency_ms }) => ({
    path,
    request_count,
    error_count,
    avg_latency_ms,
    max_latency_ms,
  }));
  const ties = (a: HotPath, b: HotPath): number =>
    b.request_count - a.request_count || b.max_latency_ms - a.max_latency_ms || (a.path < b.path ? -1 : 1);
  const slowest = (a: HotPath, b: HotPath): number => b.avg_latency_ms - a.avg_latency_ms || ties(a, b);
  return {
    hottest_paths: paths.toSorted(ties).slice(0, HOT_PATHS),
    slowest_paths: paths.toSorted(slowest).slice(0, HOT_PATHS),
  };
}
