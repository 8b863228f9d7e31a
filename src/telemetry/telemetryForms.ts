/** Forms of the events that are counted and of the counts that are reported (O8). */

/** End of a request. `lost` is an end by a fault: no answer came, or none can come (O8.2). */
export type RequestEnd = 'ok' | 'answered_with_error' | 'lost';

export interface RequestTold {
  method: string;
  /** The tool behind the method, where there is one. */
  tool?: string;
  latencyMs: number;
  end: RequestEnd;
  /** Attempts beyond the first. */
  retries?: number;
  error?: { code: string; message: string };
}

export interface ToldError {
  code: string;
  message: string;
  ts_unix_ms: number;
}

/** Wire form of a fault in telemetry (O2.1). */
export interface ToldFault {
  generation: number;
  class: string;
  code: string;
  directive?: string;
  recovery_hint?: string;
  detail: string;
}

/** Names of 1.0 and of its later corrections at once: `transport_fault_count` is `recovery_fault_count`. */
export interface TelemetryTotals {
  request_count: number;
  success_count: number;
  /** Both kinds of terminal error. */
  error_count: number;
  response_error_count: number;
  recovery_error_count: number;
  /** Incidents, whether or not a request ended by them. */
  recovery_fault_count: number;
  transport_fault_count: number;
  retry_count: number;
}

export interface LatencyTold {
  last_latency_ms?: number;
  avg_latency_ms: number;
  max_latency_ms: number;
  p50_latency_ms: number;
  p95_latency_ms: number;
  p99_latency_ms: number;
}

export interface MethodTelemetry extends TelemetryTotals, LatencyTold {
  method: string;
  last_error?: ToldError;
}

export interface ToolTelemetry extends TelemetryTotals, LatencyTold {
  tool_id: string;
  last_error?: ToldError;
}

export interface TokensSaved {
  /** What all schemas would cost a model each time it is sent them, what ours cost, and the difference. */
  schema_tokens_full: number;
  schema_tokens_exposed: number;
  schema_tokens_avoided: number;
  /** What results had, what was shown of them, and the difference. */
  result_tokens_raw: number;
  result_tokens_shown: number;
  result_tokens_saved: number;
}

/** Health values beside the totals (O7.1). */
export interface LifeTold {
  state: string;
  generation: number;
  consecutive_failures: number;
  restart_count: number;
}

export interface TelemetrySnapshot extends LifeTold {
  uptime_ms: number;
  totals: TelemetryTotals;
  /** Most used first. */
  methods: readonly MethodTelemetry[];
  tools: readonly ToolTelemetry[];
  tokens: TokensSaved;
  /** The last fault that caused a restart. */
  last_fault?: ToldFault;
}
