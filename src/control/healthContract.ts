/**
 * The model of health and telemetry. The worker computes it once; the control channel, `?render=json` and `--json` carry
 * it as it is, and each readable form has one renderer (`telemetry/reportText.ts` for porcelain).
 */
import type { Fault } from '../errors/fault.ts';
import type { HealthSnapshot } from '../supervision/health.ts';
import type { ServerOddity } from './serverOddities.ts';
import type { ServerState } from './serverStates.ts';

/** `degraded`: the gateway serves, but a server needs the user or the configuration has an error. */
export type GatewayHealth = 'starting' | 'ready' | 'degraded' | 'stopping';

/** Health that every report begins with. */
export type HealthCore = Omit<HealthSnapshot, 'supervision' | 'next_attempt_in_ms'>;

/** Health of one server. A server that starts when it is needed is not down. */
export interface ServerHealth extends Omit<HealthSnapshot, 'state'> {
  name: string;
  state: ServerState;
  /** The server should run and does not. */
  down: boolean;
  reason?: string;
  /** Number of listed items that are not approved as they are now; absent if there are none. */
  to_review?: number;
  /** Misbehaviour of the server, the most frequent kind first. */
  oddities?: readonly ServerOddity[];
}

export interface HealthReport extends HealthCore {
  workspace: string;
  /** Start of this worker, in milliseconds since the epoch: restarts and oddities of servers are counted from then. */
  since_unix_ms: number;
  /** Condition as the editor shows it. */
  condition: GatewayHealth;
  problems: readonly string[];
  servers: readonly ServerHealth[];
  event_log: EventLogHealth;
}

/** Health while there is no worker, reported by the host that looks for one or read from the state folder. */
export interface HealthWithoutWorker extends HealthSnapshot {
  workspace: string;
  /** `cold`: no client has asked for a worker since the last one stopped. `down`: a worker cannot be started. */
  condition: 'cold' | 'down';
  /** Reasons, one sentence each. */
  problems: readonly string[];
  /** Only a worker knows its servers. */
  servers: readonly never[];
  worker_log?: string;
  /** The host that looks for a worker. */
  host_pid?: number;
}

export interface EventLogHealth {
  file: string;
  written: number;
  dropped: number;
  /** Failed writes. */
  failures: number;
  /** Reason of the last failed write; absent after a successful one. */
  failing?: string;
}

/** Part of the health core that telemetry repeats. */
export type LifeReport = Pick<HealthSnapshot, 'state' | 'generation' | 'consecutive_failures' | 'restart_count'>;

/** Counts under the names of version 1.0 and of its later corrections: `transport_fault_count` is `recovery_fault_count`. */
export interface TelemetryTotals {
  request_count: number;
  success_count: number;
  /** Errors of both kinds. */
  error_count: number;
  response_error_count: number;
  recovery_error_count: number;
  /** Incidents, whether or not a request ended by them. */
  recovery_fault_count: number;
  transport_fault_count: number;
  retry_count: number;
}

export interface LatencyReport {
  last_latency_ms?: number;
  avg_latency_ms: number;
  max_latency_ms: number;
  p50_latency_ms: number;
  p95_latency_ms: number;
  p99_latency_ms: number;
}

export interface RequestError {
  code: string;
  message: string;
  ts_unix_ms: number;
}

/** Counts of a method or tool. */
export interface TelemetryRow extends TelemetryTotals, LatencyReport {
  last_error?: RequestError;
  /** Tokens of its results that clients were not shown; absent if there were none. */
  result_tokens_saved?: number;
}

export interface CallsInMinute {
  calls: number;
  errors: number;
}

/** Counts of the calls of tools, without requests of MCP's own methods. */
export interface CallsReport extends TelemetryRow {
  /** Calls of the last 15 minutes, the present minute last. */
  per_minute: readonly CallsInMinute[];
}

export interface TokenTotals {
  /** Tokens of all definitions, of those that clients are sent with the instructions, and the difference. */
  definition_tokens_full: number;
  definition_tokens_exposed: number;
  definition_tokens_avoided: number;
  /** Tokens of results as servers sent them, as clients were shown them, and the difference. */
  result_tokens_raw: number;
  result_tokens_shown: number;
  result_tokens_saved: number;
}

/** Counts of one worker, from its start on. */
export interface TelemetrySnapshot extends LifeReport {
  /** Start of the count, in milliseconds since the epoch. */
  since_unix_ms: number;
  uptime_ms: number;
  totals: TelemetryTotals;
  /** Absent before the first call. */
  calls?: CallsReport;
  /** Most used first. */
  methods: readonly (TelemetryRow & { method: string })[];
  tools: readonly (TelemetryRow & { tool_id: string })[];
  tokens: TokenTotals;
  /** Results in which the scan found an attack; absent if there were none. */
  results_with_findings?: number;
  /** The last fault that caused a restart. */
  last_fault?: Fault;
}

export interface TelemetryReport extends TelemetrySnapshot {
  workspace: string;
  /** Misbehaviour of servers, the most frequent first, bounded. */
  oddities: readonly (ServerOddity & { server: string })[];
}

/** Telemetry while there is no worker that counts. */
export interface NoTelemetry {
  workspace: string;
  state: string;
  totals: null;
}
