import { createHistogram } from 'node:perf_hooks';
import type {
  LifeReport,
  RequestError,
  TelemetryRow,
  TelemetrySnapshot,
  TelemetryTotals,
} from '../control/healthContract.ts';
import type { Fault } from '../errors/fault.ts';
import { oneLine } from '../text/porcelain.ts';
import { RecentCalls } from './recentCalls.ts';

/** How a request ended. `lost`: no answer came, and none can come. */
export type RequestEnd = 'ok' | 'answered_with_error' | 'lost';

export interface CountedRequest {
  method: string;
  /** The request is a call of a tool, and none of MCP's own methods. */
  isCall?: boolean;
  /** Id of the called tool. */
  tool?: string;
  server?: string;
  latencyMs: number;
  end: RequestEnd;
  /** Attempts beyond the first. */
  retries?: number;
  error?: { code: string; message: string };
}

export interface CountersOptions {
  /** Monotonic clock, in milliseconds. */
  now(): number;
  /** Milliseconds since the epoch. */
  wallClock(): number;
  /** Masks secrets: error messages come from servers. */
  scrub(text: string): string;
  /** Tokens of the definitions and instructions that clients are sent at present. */
  sentTokens(): number;
  maxMethods?: number;
  maxTools?: number;
}

/** Name of the row that takes up all dropped rows. */
export const OTHERS = '(others)';
const MAX_METHODS = 64;
const MAX_TOOLS = 256;
const MAX_NAME_CHARS = 200;
const MAX_ERROR_CHARS = 200;
const SCRUBBED_CHARS = 4_000;
/** Latencies above half an hour count as half an hour. Two figures keep percentiles within 1 %. */
const LATENCY = { lowest: 1, highest: 30 * 60 * 1_000_000, figures: 2 } as const;

/**
 * Counts requests, errors, faults, latencies and tokens since this worker started. An event has a constant cost, and
 * memory is bounded: beyond the limit, the row `(others)` takes up the least recently used row.
 */
export class Counters {
  readonly #options: CountersOptions;
  readonly #startedAt: number;
  readonly #since: number;
  readonly #totals = noRequests();
  readonly #methods: Rows;
  readonly #tools: Rows;
  readonly #servers = new Rows(MAX_TOOLS);
  readonly #calls = new Row();
  readonly #recentCalls = new RecentCalls();
  readonly #results = {
    result_tokens_raw: 0,
    result_tokens_shown: 0,
    result_tokens_saved: 0,
  };
  #definitions: number | undefined;
  #resultsWithFindings = 0;
  #lastFault: Fault | undefined;

  constructor(options: CountersOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#since = options.wallClock();
    this.#methods = new Rows(options.maxMethods ?? MAX_METHODS);
    this.#tools = new Rows(options.maxTools ?? MAX_TOOLS);
  }

  request(request: CountedRequest): void {
    const { method, tool, server, error, end } = request;
    const lastError = error && {
      code: error.code,
      message: this.#line(error.message),
      ts_unix_ms: this.#options.wallClock(),
    };
    countRequest(this.#totals, request);
    this.#methods.of(method).add(request, lastError);
    if (tool !== undefined) this.#tools.of(tool).add(request, lastError);
    if (server !== undefined) this.#servers.of(server).add(request, lastError);
    if (!request.isCall) return;
    this.#calls.add(request, lastError);
    this.#recentCalls.add(this.period.uptime_ms, end !== 'ok');
  }

  /** Use of a tool, or of a server; undefined without any. */
  useOf(subject: { tool: string } | { server: string }): UseReport | undefined {
    return 'tool' in subject ? this.#tools.use(subject.tool) : this.#servers.use(subject.server);
  }

  /** Counts an incident. `restarts`: the incident causes a restart, so it becomes the last fault. */
  fault(fault: Fault, { restarts, method, tool }: { restarts: boolean; method?: string; tool?: string }): void {
    countFault(this.#totals);
    if (method !== undefined) countFault(this.#methods.of(method).counts);
    if (tool !== undefined) countFault(this.#tools.of(tool).counts);
    if (restarts) this.#lastFault = { ...fault, detail: this.#line(fault.detail) };
  }

  /** Returns the tokens of all definitions, and of what clients are sent in their place; undefined before the first count. */
  get context(): { definitions: number; sent: number } | undefined {
    if (this.#definitions === undefined) return undefined;
    return { definitions: this.#definitions, sent: this.#options.sentTokens() };
  }

  /** Sets the tokens of all definitions of the current catalog. */
  definitions(tokens: number): void {
    this.#definitions = tokens;
  }

  result({ raw, shown, tool }: { raw: number; shown: number; tool?: string }): void {
    const saved = Math.max(0, raw - shown);
    this.#results.result_tokens_raw += raw;
    this.#results.result_tokens_shown += shown;
    this.#results.result_tokens_saved += saved;
    if (tool !== undefined) this.#tools.of(tool).tokensSaved += saved;
  }

  /** Counts a result that reads like an attack, by the rules of the scan. */
  findings(rules: readonly unknown[]): void {
    if (rules.length > 0) this.#resultsWithFindings += 1;
  }

  /** Start and length of the count. */
  get period(): Pick<TelemetrySnapshot, 'since_unix_ms' | 'uptime_ms'> {
    const uptime = Math.round(this.#options.now() - this.#startedAt);
    return { since_unix_ms: this.#since, uptime_ms: Math.max(0, uptime) };
  }

  snapshot(life: LifeReport): TelemetrySnapshot {
    const { state, generation, consecutive_failures, restart_count } = life;
    const { definitions = 0, sent = 0 } = this.context ?? {};
    return {
      state,
      generation,
      ...this.period,
      consecutive_failures,
      restart_count,
      totals: { ...this.#totals },
      ...(this.#calls.counts.request_count > 0 && {
        calls: { ...this.#calls.report(), per_minute: this.#recentCalls.report(this.period.uptime_ms) },
      }),
      methods: this.#methods.report().map(([method, row]) => ({ method, ...row })),
      tools: this.#tools.report().map(([tool, row]) => ({ tool_id: tool, ...row })),
      tokens: {
        definition_tokens_full: definitions,
        definition_tokens_exposed: sent,
        definition_tokens_avoided: Math.max(0, definitions - sent),
        ...this.#results,
      },
      ...(this.#resultsWithFindings > 0 && { results_with_findings: this.#resultsWithFindings }),
      ...(this.#lastFault === undefined ? {} : { last_fault: this.#lastFault }),
    };
  }

  #line(text: string): string {
    return oneLine(this.#options.scrub(text.slice(0, SCRUBBED_CHARS)), MAX_ERROR_CHARS);
  }
}

function noRequests(): TelemetryTotals {
  return {
    request_count: 0,
    success_count: 0,
    error_count: 0,
    response_error_count: 0,
    recovery_error_count: 0,
    recovery_fault_count: 0,
    transport_fault_count: 0,
    retry_count: 0,
  };
}

function countRequest(counts: TelemetryTotals, { end, retries = 0 }: CountedRequest): void {
  counts.request_count += 1;
  counts.retry_count += Math.max(0, retries);
  if (end === 'ok') {
    counts.success_count += 1;
    return;
  }
  counts.error_count += 1;
  if (end === 'lost') counts.recovery_error_count += 1;
  else counts.response_error_count += 1;
}

function countFault(counts: TelemetryTotals): void {
  counts.recovery_fault_count += 1;
  counts.transport_fault_count += 1;
}

export interface UseReport {
  calls: number;
  errors: number;
  p95Ms: number;
  /** Milliseconds since the epoch. */
  lastUsedAt: number;
}

/** Counts and latencies of one method or tool. */
class Row {
  readonly counts = noRequests();
  tokensSaved = 0;
  /** In microseconds. */
  readonly #latency = createHistogram(LATENCY);
  #sum = 0;
  #max = 0;
  #last: number | undefined;
  #lastError: RequestError | undefined;
  #lastAt = 0;

  add(request: CountedRequest, error: RequestError | undefined): void {
    const { latencyMs } = request;
    // A clock that went backwards measured nothing.
    const ms = latencyMs > 0 && Number.isFinite(latencyMs) ? latencyMs : 0;
    countRequest(this.counts, request);
    this.#latency.record(Math.min(LATENCY.highest, Math.max(LATENCY.lowest, Math.round(ms * 1_000))));
    this.#sum += ms;
    this.#max = Math.max(this.#max, ms);
    this.#last = ms;
    if (error) this.#lastError = error;
    this.#lastAt = Date.now();
  }

  merge(other: Row): void {
    for (const key of Object.keys(this.counts) as (keyof TelemetryTotals)[]) this.counts[key] += other.counts[key];
    this.#latency.add(other.#latency);
    this.#sum += other.#sum;
    this.#max = Math.max(this.#max, other.#max);
    this.#last = other.#last ?? this.#last;
    this.#lastError = other.#lastError ?? this.#lastError;
    this.tokensSaved += other.tokensSaved;
  }

  get use(): UseReport {
    const { request_count: calls, error_count: errors } = this.counts;
    return { calls, errors, p95Ms: this.#percentile(95), lastUsedAt: this.#lastAt };
  }

  #percentile(share: number): number {
    return rounded(Math.min(this.#max, this.#latency.percentile(share) / 1_000));
  }

  report(): TelemetryRow {
    return {
      ...this.counts,
      ...(this.#last === undefined ? {} : { last_latency_ms: rounded(this.#last) }),
      avg_latency_ms: rounded(this.#sum / Math.max(1, this.counts.request_count)),
      max_latency_ms: rounded(this.#max),
      p50_latency_ms: this.#percentile(50),
      p95_latency_ms: this.#percentile(95),
      p99_latency_ms: this.#percentile(99),
      ...(this.#lastError === undefined ? {} : { last_error: this.#lastError }),
      ...(this.tokensSaved > 0 && { result_tokens_saved: this.tokensSaved }),
    };
  }
}

/** Rows by name, the least recently used first. */
class Rows {
  readonly #limit: number;
  readonly #rows = new Map<string, Row>();
  #others: Row | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  of(given: string): Row {
    const name = oneLine(given, MAX_NAME_CHARS);
    const row = this.#rows.get(name) ?? new Row();
    this.#rows.delete(name);
    this.#rows.set(name, row);
    if (this.#rows.size > this.#limit) this.#dropOldest();
    return row;
  }

  use(name: string): UseReport | undefined {
    return this.#rows.get(oneLine(name, MAX_NAME_CHARS))?.use;
  }

  /** Most requests first, then by name; `(others)` last. */
  report(): [string, TelemetryRow][] {
    const rows = [...this.#rows].map(([name, row]): [string, TelemetryRow] => [name, row.report()]);
    rows.sort(([a, x], [b, y]) => y.request_count - x.request_count || (a < b ? -1 : 1));
    return this.#others ? [...rows, [OTHERS, this.#others.report()]] : rows;
  }

  #dropOldest(): void {
    const [oldest] = this.#rows;
    if (!oldest) return;
    const [name, row] = oldest;
    this.#rows.delete(name);
    this.#others ??= new Row();
    this.#others.merge(row);
  }
}

/** Rounds to microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
