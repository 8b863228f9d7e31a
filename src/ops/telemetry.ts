import { LatencySketch } from './latencySketch.ts';
import { oneLine } from './porcelain.ts';

/**
 * What happened so far, in numbers (004, Telemetry). Each event costs a constant, and what is kept is bounded however
 * many methods and tools there are: those not used for longest become one row.
 */

/** How a request ended. `lost` is an end by a fault: no answer came, or none can come (004, ambiguous outcome). */
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

/** A fault as it is told; whoever makes faults makes them of this form (004, Faults). */
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

/** What the totals stand beside: the health core of whoever reports (004, Health). */
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

export interface TelemetryOptions {
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Milliseconds since the epoch. */
  wallClock(): number;
  /** Error texts come from servers: what is secret in them is not told. */
  scrub(text: string): string;
  maxMethods?: number;
  maxTools?: number;
}

/** The row of all that there is no row for any more. */
export const OTHERS = '(others)';
const MAX_METHODS = 64;
const MAX_TOOLS = 256;
const MAX_ERROR_CHARS = 200;
const MAX_NAME_CHARS = 200;
const SCRUBBED_CHARS = 4_000;

export class Telemetry {
  readonly #options: TelemetryOptions;
  readonly #startedAt: number;
  readonly #totals = new Counts();
  readonly #methods: Rows;
  readonly #tools: Rows;
  readonly #tokens: TokensSaved = {
    schema_tokens_full: 0,
    schema_tokens_exposed: 0,
    schema_tokens_avoided: 0,
    result_tokens_raw: 0,
    result_tokens_shown: 0,
    result_tokens_saved: 0,
  };
  #lastFault: ToldFault | undefined;

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#methods = new Rows(options.maxMethods ?? MAX_METHODS);
    this.#tools = new Rows(options.maxTools ?? MAX_TOOLS);
  }

  request(told: RequestTold): void {
    const error = told.error && {
      code: told.error.code,
      message: this.#line(told.error.message),
      ts_unix_ms: this.#options.wallClock(),
    };
    this.#totals.request(told);
    this.#methods.of(told.method).request(told, error);
    if (told.tool !== undefined) this.#tools.of(told.tool).request(told, error);
  }

  /** An incident. `restarts`: something is started anew because of it. */
  fault(fault: ToldFault, options: { restarts: boolean; method?: string; tool?: string }): void {
    this.#totals.faults += 1;
    if (options.method !== undefined) this.#methods.of(options.method).counts.faults += 1;
    if (options.tool !== undefined) this.#tools.of(options.tool).counts.faults += 1;
    if (options.restarts) this.#lastFault = { ...fault, detail: this.#line(fault.detail) };
  }

  /** What the catalog would cost, and what it costs: a gauge, the last one counts. */
  schemas({ full, exposed }: { full: number; exposed: number }): void {
    this.#tokens.schema_tokens_full = full;
    this.#tokens.schema_tokens_exposed = exposed;
    this.#tokens.schema_tokens_avoided = Math.max(0, full - exposed);
  }

  result({ raw, shown }: { raw: number; shown: number }): void {
    this.#tokens.result_tokens_raw += raw;
    this.#tokens.result_tokens_shown += shown;
    this.#tokens.result_tokens_saved += Math.max(0, raw - shown);
  }

  snapshot(life: LifeTold): TelemetrySnapshot {
    const { state, generation, consecutive_failures, restart_count } = life;
    return {
      state,
      generation,
      uptime_ms: Math.max(0, Math.round(this.#options.now() - this.#startedAt)),
      consecutive_failures,
      restart_count,
      totals: this.#totals.told(),
      methods: this.#methods.told().map(([method, row]) => ({ method, ...row })),
      tools: this.#tools.told().map(([tool, row]) => ({ tool_id: tool, ...row })),
      tokens: { ...this.#tokens },
      ...(this.#lastFault === undefined ? {} : { last_fault: this.#lastFault }),
    };
  }

  #line(text: string): string {
    return oneLine(this.#options.scrub(text.slice(0, SCRUBBED_CHARS)), MAX_ERROR_CHARS);
  }
}

class Counts {
  requests = 0;
  successes = 0;
  responseErrors = 0;
  recoveryErrors = 0;
  faults = 0;
  retries = 0;

  request({ end, retries = 0 }: RequestTold): void {
    this.requests += 1;
    this.retries += Math.max(0, retries);
    if (end === 'ok') this.successes += 1;
    else if (end === 'lost') this.recoveryErrors += 1;
    else this.responseErrors += 1;
  }

  merge(other: Counts): void {
    this.requests += other.requests;
    this.successes += other.successes;
    this.responseErrors += other.responseErrors;
    this.recoveryErrors += other.recoveryErrors;
    this.faults += other.faults;
    this.retries += other.retries;
  }

  told(): TelemetryTotals {
    return {
      request_count: this.requests,
      success_count: this.successes,
      error_count: this.responseErrors + this.recoveryErrors,
      response_error_count: this.responseErrors,
      recovery_error_count: this.recoveryErrors,
      recovery_fault_count: this.faults,
      transport_fault_count: this.faults,
      retry_count: this.retries,
    };
  }
}

type RowTold = TelemetryTotals & LatencyTold & { last_error?: ToldError };

class Row {
  readonly counts = new Counts();
  readonly #latency = new LatencySketch();
  #lastError: ToldError | undefined;

  request(told: RequestTold, error: ToldError | undefined): void {
    this.counts.request(told);
    this.#latency.add(told.latencyMs);
    if (error) this.#lastError = error;
  }

  merge(other: Row): void {
    this.counts.merge(other.counts);
    this.#latency.merge(other.#latency);
    this.#lastError = other.#lastError ?? this.#lastError;
  }

  told(): RowTold {
    const { last } = this.#latency;
    return {
      ...this.counts.told(),
      ...(last === undefined ? {} : { last_latency_ms: rounded(last) }),
      avg_latency_ms: rounded(this.#latency.average),
      max_latency_ms: rounded(this.#latency.max),
      p50_latency_ms: rounded(this.#latency.quantile(0.5)),
      p95_latency_ms: rounded(this.#latency.quantile(0.95)),
      p99_latency_ms: rounded(this.#latency.quantile(0.99)),
      ...(this.#lastError === undefined ? {} : { last_error: this.#lastError }),
    };
  }
}

/** Rows by name, the last used at the end; beyond the limit the first becomes part of the row of all others. */
class Rows {
  readonly #limit: number;
  readonly #rows = new Map<string, Row>();
  #others: Row | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(given: string): Row {
    const name = given.length > MAX_NAME_CHARS ? oneLine(given, MAX_NAME_CHARS) : given;
    let row = this.#rows.get(name);
    if (row) this.#rows.delete(name);
    else row = new Row();
    this.#rows.set(name, row);
    if (this.#rows.size > this.#limit) this.#retireFirst();
    return row;
  }

  /** Most requests first, then by name; all others last. */
  told(): [string, RowTold][] {
    const rows = [...this.#rows].map(([name, row]): [string, RowTold] => [name, row.told()]);
    rows.sort(([a, x], [b, y]) => y.request_count - x.request_count || (a < b ? -1 : 1));
    return this.#others ? [...rows, [OTHERS, this.#others.told()]] : rows;
  }

  #retireFirst(): void {
    for (const [name, row] of this.#rows) {
      this.#rows.delete(name);
      this.#others ??= new Row();
      this.#others.merge(row);
      return;
    }
  }
}

/** Microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
