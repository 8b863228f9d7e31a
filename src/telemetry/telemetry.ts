import { oneLine } from '../text/porcelain.ts';
import type { LifeTold, RequestTold, TelemetrySnapshot, ToldFault } from './telemetryForms.ts';
import { Counted, type CountedKept } from './telemetryRows.ts';

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

const MAX_METHODS = 64;
const MAX_TOOLS = 256;
const MAX_ERROR_CHARS = 200;
const SCRUBBED_CHARS = 4_000;

/** What was counted, on its way to the process that counts on. */
export interface TelemetryKept extends CountedKept {
  /** How long it took to come to that. */
  forMs: number;
}

/**
 * Counts of the work so far (O8.1). Each event costs constant time. The number of rows is bounded: the least recently
 * used ones become one row (O8.3).
 */
export class Telemetry {
  readonly #options: TelemetryOptions;
  #startedAt: number;
  #counted: Counted;
  #schemas = { schema_tokens_full: 0, schema_tokens_exposed: 0, schema_tokens_avoided: 0 };

  constructor(options: TelemetryOptions) {
    this.#options = options;
    this.#startedAt = options.now();
    this.#counted = this.#nothing();
  }

  request(told: RequestTold): void {
    const error = told.error && {
      code: told.error.code,
      message: this.#line(told.error.message),
      ts_unix_ms: this.#options.wallClock(),
    };
    this.#counted.request(told, error);
  }

  /** An incident. `restarts`: something is started anew because of it. */
  fault(fault: ToldFault, { restarts, method, tool }: { restarts: boolean; method?: string; tool?: string }): void {
    this.#counted.fault({ method, tool });
    if (restarts) this.#counted.lastFault = { ...fault, detail: this.#line(fault.detail) };
  }

  /** What the catalog would cost, and what it costs: a gauge, the last one counts. */
  schemas({ full, exposed }: { full: number; exposed: number }): void {
    this.#schemas = {
      schema_tokens_full: full,
      schema_tokens_exposed: exposed,
      schema_tokens_avoided: Math.max(0, full - exposed),
    };
  }

  result(tokens: { raw: number; shown: number }): void {
    this.#counted.result(tokens);
  }

  /** All that was counted; from now on it is the other's, and the count begins anew. */
  take(): TelemetryKept {
    const kept = this.#counted.kept();
    this.#counted = this.#nothing();
    return { ...kept, forMs: this.#options.now() - this.#startedAt };
  }

  /** What the process before has counted. */
  inherit({ forMs, ...before }: TelemetryKept): void {
    const both = this.#nothing();
    for (const kept of [before, this.#counted.kept()]) both.add(kept);
    this.#counted = both;
    this.#startedAt = Math.min(this.#startedAt, this.#options.now() - forMs);
  }

  snapshot(life: LifeTold): TelemetrySnapshot {
    const { state, generation, consecutive_failures, restart_count } = life;
    const { totals, methods, tools, results, lastFault } = this.#counted;
    return {
      state,
      generation,
      uptime_ms: Math.max(0, Math.round(this.#options.now() - this.#startedAt)),
      consecutive_failures,
      restart_count,
      totals: totals.told(),
      methods: methods.told().map(([method, row]) => ({ method, ...row })),
      tools: tools.told().map(([tool, row]) => ({ tool_id: tool, ...row })),
      tokens: { ...this.#schemas, ...results },
      ...(lastFault === undefined ? {} : { last_fault: lastFault }),
    };
  }

  #nothing(): Counted {
    const { maxMethods = MAX_METHODS, maxTools = MAX_TOOLS } = this.#options;
    return new Counted(maxMethods, maxTools);
  }

  #line(text: string): string {
    return oneLine(this.#options.scrub(text.slice(0, SCRUBBED_CHARS)), MAX_ERROR_CHARS);
  }
}
