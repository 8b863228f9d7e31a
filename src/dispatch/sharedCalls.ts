import { CancelledError } from './deadline.ts';

interface Shared<T> {
  result: Promise<T>;
  waiting: number;
  controller: AbortController;
}

/** Equal calls at the same time share one dispatch. It is cancelled when nobody waits for it any more. */
export class SharedCalls<T> {
  readonly #calls = new Map<string, Shared<T>>();

  get size(): number {
    return this.#calls.size;
  }

  /** `joined`: another call had begun it. */
  async run(
    key: string,
    signal: AbortSignal,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T; joined: boolean }> {
    const running = this.#calls.get(key);
    const shared = running ?? this.#start(key, start);
    return { value: await this.#wait(key, shared, signal), joined: running !== undefined };
  }

  /** Calls that begin from now on do not join those under way. */
  clear(): void {
    this.#calls.clear();
  }

  #start(key: string, start: (signal: AbortSignal) => Promise<T>): Shared<T> {
    const controller = new AbortController();
    const shared: Shared<T> = { result: start(controller.signal), waiting: 0, controller };
    this.#calls.set(key, shared);
    const forget = (): void => this.#forget(key, shared);
    shared.result.then(forget, forget);
    return shared;
  }

  #wait(key: string, shared: Shared<T>, signal: AbortSignal): Promise<T> {
    shared.waiting += 1;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => {
        shared.waiting -= 1;
        if (shared.waiting === 0) {
          this.#forget(key, shared);
          shared.controller.abort(new CancelledError());
        }
        reject(new CancelledError());
      };
      if (signal.aborted) return onAbort();
      signal.addEventListener('abort', onAbort, { once: true });
      shared.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  }

  #forget(key: string, shared: Shared<T>): void {
    if (this.#calls.get(key) === shared) this.#calls.delete(key);
  }
}
