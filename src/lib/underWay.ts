/** Runs work one after the other for as long as the worker lives, and keeps nothing of finished work. */
export class UnderWay {
  #over: Promise<void> = Promise.resolve();

  /** Resolves when all work added so far has ended, successfully or not. */
  get over(): Promise<void> {
    return this.#over;
  }

  add(work: Promise<unknown>): void {
    // Without `noop` each result would keep the one before it alive.
    this.#over = Promise.allSettled([this.#over, work]).then(noop);
  }
}

const noop = (): void => undefined;
