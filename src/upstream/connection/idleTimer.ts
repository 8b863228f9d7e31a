/** Calls back when nothing has held the timer for a while. */
export class IdleTimer {
  readonly #idleMs: () => number | undefined;
  readonly #onIdle: () => void;
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `idleMs` returns `undefined` for a server that never counts as idle. */
  constructor(idleMs: () => number | undefined, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Holds the timer; each call requires one `release`. */
  hold(): void {
    this.#holders += 1;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#holders -= 1;
    this.begin();
  }

  /** Restarts the idle time unless something holds the timer. */
  begin(): void {
    this.stop();
    const idleMs = this.#holders > 0 ? undefined : this.#idleMs();
    if (idleMs === undefined) return;
    this.#timer = setTimeout(this.#onIdle, idleMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
