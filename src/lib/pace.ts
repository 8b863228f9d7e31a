export interface PaceLimits {
  /** What is asked for in a row is one. */
  delayMs: number;
  /** From the start of one run to the start of the next, at least. */
  intervalMs: number;
}

/**
 * Runs something soon after it is asked for, not often, and never twice at a time. Who asks during a run is answered by
 * another one: what has changed meanwhile may not be in it.
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

  /** `delayMs`: another wait than the usual one. */
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

  /** Something is under way or will be. */
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
