/** Calls once nobody holds something for a while. */
export class IdleTimer {
  readonly #idleMs: () => number | undefined;
  readonly #onIdle: () => void;
  #holders = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `idleMs`: undefined where it is never idle. */
  constructor(idleMs: () => number | undefined, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** `release` is to be called once for each. */
  hold(): void {
    this.#holders += 1;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#holders -= 1;
    this.begin();
  }

  /** The time begins anew, where nobody holds it. */
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
