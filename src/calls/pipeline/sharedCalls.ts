import { CancelledError } from './deadline.ts';

/**
 * Caller that waits for a shared dispatch. `onSend` runs just before the request is sent; the dispatch awaits its
 * promise.
 */
export interface Waiter {
  signal: AbortSignal;
  onSend?: (() => Promise<void> | undefined) | undefined;
}

interface Shared<T> {
  result: Promise<T>;
  readonly waiting: Set<Waiter>;
  readonly controller: AbortController;
}

/** Shares one dispatch among equal calls at the same time. Cancels the dispatch when its last caller leaves. */
export class SharedCalls<T> {
  readonly #calls = new Map<string, Shared<T>>();

  get size(): number {
    return this.#calls.size;
  }

  /** `joined`: an earlier call began the dispatch. */
  async run(key: string, waiter: Waiter, start: (end: Waiter) => Promise<T>): Promise<{ value: T; joined: boolean }> {
    const running = this.#calls.get(key);
    running?.waiting.add(waiter);
    const shared = running ?? this.#start(key, waiter, start);
    return { value: await this.#wait(key, shared, waiter), joined: running !== undefined };
  }

  /** Calls that begin from now on do not join running ones. */
  clear(): void {
    this.#calls.clear();
  }

  #start(key: string, first: Waiter, start: (end: Waiter) => Promise<T>): Shared<T> {
    const controller = new AbortController();
    const waiting = new Set([first]);
    const result = start({ signal: controller.signal, onSend: () => announceSend(waiting) });
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
 * Announces the dispatch to all callers and resolves with the first that confirms, so that a client that does not read
 * blocks nobody else. Rejects if all fail: a caller whose session has ended is about to leave.
 */
function announceSend(waiting: ReadonlySet<Waiter>): Promise<void> | undefined {
  const announced = [...waiting].map(({ onSend }) => onSend?.());
  if (announced.every((one) => one === undefined)) return undefined;
  return Promise.any(announced);
}
