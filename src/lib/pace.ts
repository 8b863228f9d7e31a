export interface PaceLimits {
  /** Delay that merges requests in quick succession into one run. */
  delayMs: number;
  /** Least time from the start of one run to the start of the next. */
  intervalMs: number;
}

/**
 * Runs something soon after a request, not often, and never twice at a time. A request during a run leads to another
 * run, because the present one may miss the latest change.
 */
export class Pace {
  readonly #run: () => Promise<void> | void;
  readonly #limits: PaceLimits;
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #again = false;
  #lastStart = Number.NEGATIVE_INFINITY;
  #stopped = false;

  /** `run` must not reject. */
  constructor(run: () => Promise<void> | void, limits: PaceLimits) {
    this.#run = run;
    this.#limits = limits;
  }

  /** Requests a run. `delayMs` replaces the usual delay. */
  request(delayMs = this.#limits.delayMs): void {
    if (this.#stopped || this.#timer) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    const { intervalMs } = this.#limits;
    const wait = Math.max(delayMs, this.#lastStart + intervalMs - performance.now());
    this.#timer = setTimeout(() => void this.#start(), wait);
    this.#timer.unref();
  }

  /** Returns whether a run is under way or planned. */
  get pending(): boolean {
    return this.#running || this.#timer !== undefined;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #start(): Promise<void> {
    this.#timer = undefined;
    this.#running = true;
    this.#lastStart = performance.now();
    await this.#run();
    this.#running = false;
    if (!this.#again) return;
    this.#again = false;
    this.request();
  }
}
