/** What is under way, one thing after the other for as long as the worker lives: nothing is kept of what is over. */
export class UnderWay {
  #over: Promise<void> = Promise.resolve();

  /** Resolves when all that was added so far has come to its end, well or badly. */
  get over(): Promise<void> {
    return this.#over;
  }

  add(work: Promise<unknown>): void {
    // Without `noop` each result would hold the one before it.
    this.#over = Promise.allSettled([this.#over, work]).then(noop);
  }
}

const noop = (): void => undefined;
