import { oneLine } from '../text/porcelain.ts';
import { LatencySketch, type SketchKept } from './latencySketch.ts';
import type { LatencyTold, RequestTold, TelemetryTotals, TokensSaved, ToldError, ToldFault } from './telemetryForms.ts';

/** What was counted, for another process. */
export interface CountedKept {
  totals: TelemetryTotals;
  methods: RowsKept;
  tools: RowsKept;
  results: ResultTokens;
  lastFault?: ToldFault;
}

type ResultTokens = Pick<TokensSaved, 'result_tokens_raw' | 'result_tokens_shown' | 'result_tokens_saved'>;

/** One row, for another process. */
interface RowKept {
  counts: TelemetryTotals;
  latency?: SketchKept;
  lastError?: ToldError;
}

type RowsKept = readonly (readonly [name: string, row: RowKept])[];

type RowTold = TelemetryTotals & LatencyTold & { last_error?: ToldError };

/** The row of all that there is no row for any more. */
export const OTHERS = '(others)';
const MAX_NAME_CHARS = 200;

/** Everything that adds up, over any number of processes. */
export class Counted {
  readonly totals = new Counts();
  readonly methods: Rows;
  readonly tools: Rows;
  readonly results: ResultTokens = { result_tokens_raw: 0, result_tokens_shown: 0, result_tokens_saved: 0 };
  /** The last that caused a restart. */
  lastFault: ToldFault | undefined;

  constructor(maxMethods: number, maxTools: number) {
    this.methods = new Rows(maxMethods);
    this.tools = new Rows(maxTools);
  }

  request(told: RequestTold, error: ToldError | undefined): void {
    this.totals.request(told);
    this.methods.of(told.method).request(told, error);
    if (told.tool !== undefined) this.tools.of(told.tool).request(told, error);
  }

  fault({ method, tool }: { method: string | undefined; tool: string | undefined }): void {
    this.totals.faults += 1;
    if (method !== undefined) this.methods.of(method).counts.faults += 1;
    if (tool !== undefined) this.tools.of(tool).counts.faults += 1;
  }

  result({ raw, shown }: { raw: number; shown: number }): void {
    this.results.result_tokens_raw += raw;
    this.results.result_tokens_shown += shown;
    this.results.result_tokens_saved += Math.max(0, raw - shown);
  }

  kept(): CountedKept {
    return {
      totals: this.totals.told(),
      methods: this.methods.kept(),
      tools: this.tools.kept(),
      results: this.results,
      ...(this.lastFault === undefined ? {} : { lastFault: this.lastFault }),
    };
  }

  /** What was counted later. */
  add({ totals, methods, tools, results, lastFault }: CountedKept): void {
    this.totals.add(totals);
    this.methods.add(methods);
    this.tools.add(tools);
    this.results.result_tokens_raw += results.result_tokens_raw;
    this.results.result_tokens_shown += results.result_tokens_shown;
    this.results.result_tokens_saved += results.result_tokens_saved;
    this.lastFault = lastFault ?? this.lastFault;
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

  add(told: TelemetryTotals): void {
    this.requests += told.request_count;
    this.successes += told.success_count;
    this.responseErrors += told.response_error_count;
    this.recoveryErrors += told.recovery_error_count;
    this.faults += told.recovery_fault_count;
    this.retries += told.retry_count;
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

class Row {
  readonly counts = new Counts();
  readonly #latency = new LatencySketch();
  #lastError: ToldError | undefined;

  request(told: RequestTold, error: ToldError | undefined): void {
    this.counts.request(told);
    this.#latency.add(told.latencyMs);
    if (error) this.#lastError = error;
  }

  /** What was counted later. */
  add({ counts, latency, lastError }: RowKept): void {
    this.counts.add(counts);
    if (latency) this.#latency.merge(latency);
    this.#lastError = lastError ?? this.#lastError;
  }

  kept(): RowKept {
    const latency = this.#latency.kept();
    return {
      counts: this.counts.told(),
      ...(latency === undefined ? {} : { latency }),
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
    };
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

  kept(): RowsKept {
    const kept = [...this.#rows].map(([name, row]) => [name, row.kept()] as const);
    return this.#others ? [[OTHERS, this.#others.kept()], ...kept] : kept;
  }

  add(kept: RowsKept): void {
    for (const [name, row] of kept) (name === OTHERS ? this.#retired : this.of(name)).add(row);
  }

  /** Most requests first, then by name; all others last. */
  told(): [string, RowTold][] {
    const rows = [...this.#rows].map(([name, row]): [string, RowTold] => [name, row.told()]);
    rows.sort(([a, x], [b, y]) => y.request_count - x.request_count || (a < b ? -1 : 1));
    return this.#others ? [...rows, [OTHERS, this.#others.told()]] : rows;
  }

  get #retired(): Row {
    this.#others ??= new Row();
    return this.#others;
  }

  #retireFirst(): void {
    for (const [name, row] of this.#rows) {
      this.#rows.delete(name);
      this.#retired.add(row.kept());
      return;
    }
  }
}

/** Microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
