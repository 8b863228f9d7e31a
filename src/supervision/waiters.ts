interface Waiter<T> {
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Those who wait for the same thing, each for as long as its own signal lets it. */
export class Waiters<T> {
  readonly #waiters = new Set<Waiter<T>>();

  wait(signal: AbortSignal | undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const leave = (): void => {
        signal?.removeEventListener('abort', onAbort);
        this.#waiters.delete(waiter);
      };
      const onAbort = (): void => waiter.reject(signal?.reason);
      const waiter: Waiter<T> = {
        resolve: (value) => {
          leave();
          resolve(value);
        },
        reject: (reason) => {
          leave();
          reject(reason);
        },
      };
      this.#waiters.add(waiter);
      if (signal?.aborted) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
  }

  resolve(value: T): void {
    for (const waiter of [...this.#waiters]) waiter.resolve(value);
  }

  reject(reason: unknown): void {
    for (const waiter of [...this.#waiters]) waiter.reject(reason);
  }
}
