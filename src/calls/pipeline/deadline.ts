/** Every call ends: with an answer, a cancellation by the client, or its deadline. */

/** Limit of a call, however much progress the server reports (O11.1). */
export const LONGEST_CALL_MS = 600_000;

export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  readonly deadlineMs: number;

  constructor(deadlineMs: number) {
    super(`no answer within ${deadlineMs / 1000} s`);
    this.deadlineMs = deadlineMs;
  }
}

/** The client cancelled the call. */
export class CancelledError extends Error {
  override readonly name = 'CancelledError';
  constructor() {
    super('the call was cancelled');
  }
}

export class Deadline {
  /** Aborts on cancellation by the client and at the deadline. */
  readonly signal: AbortSignal;
  readonly ms: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout;
  #endsAt: number;
  #isOver = false;
  /** Limit for extensions by progress. */
  readonly #latestEnd: number;
  readonly #client: AbortSignal;
  readonly #onClientAbort = (): void => this.#controller.abort(new CancelledError());

  constructor(ms: number, client: AbortSignal) {
    this.ms = ms;
    this.signal = this.#controller.signal;
    this.#endsAt = performance.now() + ms;
    this.#latestEnd = performance.now() + Math.max(ms, LONGEST_CALL_MS);
    this.#timer = this.#arm();
    this.#client = client;
    if (client.aborted) this.#onClientAbort();
    else client.addEventListener('abort', this.#onClientAbort, { once: true });
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Restarts the time after progress of the server, up to the limit. */
  extend(): void {
    // Progress may arrive after the end: a task outlives its call.
    if (this.signal.aborted || this.#isOver) return;
    this.#endsAt = Math.min(performance.now() + this.ms, this.#latestEnd);
    clearTimeout(this.#timer);
    this.#timer = this.#arm();
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new DeadlineError(this.ms)), this.leftMs);
  }

  sleep(ms: number): Promise<void> {
    const { signal } = this;
    return new Promise<void>((resolve, reject) => {
      const over = (settle: () => void): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void => over(() => reject(signal.reason));
      const timer = setTimeout(() => over(resolve), ms);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  dispose(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#client.removeEventListener('abort', this.#onClientAbort);
  }
}
