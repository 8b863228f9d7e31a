import { CancelledError } from './deadline.ts';

/** Who waits for a call. `onSend` is told just before anything of it is sent, and awaited where there is something to. */
export interface Waiter {
  signal: AbortSignal;
  onSend?: (() => Promise<void> | undefined) | undefined;
}

interface Shared<T> {
  result: Promise<T>;
  readonly waiting: Set<Waiter>;
  readonly controller: AbortController;
}

/** Equal calls at the same time share one dispatch. It is cancelled when nobody waits for it any more. */
export class SharedCalls<T> {
  readonly #calls = new Map<string, Shared<T>>();

  get size(): number {
    return this.#calls.size;
  }

  /** `joined`: another call had begun it. */
  async run(key: string, waiter: Waiter, start: (end: Waiter) => Promise<T>): Promise<{ value: T; joined: boolean }> {
    const running = this.#calls.get(key);
    running?.waiting.add(waiter);
    const shared = running ?? this.#start(key, waiter, start);
    return { value: await this.#wait(key, shared, waiter), joined: running !== undefined };
  }

  /** Calls that begin from now on do not join those under way. */
  clear(): void {
    this.#calls.clear();
  }

  #start(key: string, first: Waiter, start: (end: Waiter) => Promise<T>): Shared<T> {
    const controller = new AbortController();
    const waiting = new Set([first]);
    const result = start({ signal: controller.signal, onSend: () => tellAll(waiting) });
    const shared: Shared<T> = { result, waiting, controller };
    this.#calls.set(key, shared);
    const forget = (): void => this.#forget(key, shared);
    result.then(forget, forget);
    return shared;
  }

  #wait(key: string, shared: Shared<T>, waiter: Waiter): Promise<T> {
    const { signal } = waiter;
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => {
        shared.waiting.delete(waiter);
        if (shared.waiting.size === 0) {
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

/**
 * Resolves when one of them is told: a client that does not read keeps nobody else waiting. Rejects where nobody could
 * be: one whose session has ended is about to leave the others alone with it.
 */
function tellAll(waiting: ReadonlySet<Waiter>): Promise<void> | undefined {
  const words = [...waiting].map(({ onSend }) => onSend?.());
  if (words.every((word) => word === undefined)) return undefined;
  return Promise.any(words);
}
