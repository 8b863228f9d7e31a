import type { RequestId } from '../../link/frames.ts';

interface OpenRequest {
  exchange: AbortController;
  method: string;
}

/** A server ends the stream of an answer behind it; one that leaves it open has it closed after so long. */
const ANSWERED_MS = 1_000;

/** Requests that have no answer yet, with what ends the exchange of each. */
export class OpenRequests {
  readonly #requests = new Map<RequestId, OpenRequest>();

  add(id: RequestId, method: string): void {
    this.#requests.set(id, { exchange: new AbortController(), method });
  }

  has(id: RequestId): boolean {
    return this.#requests.has(id);
  }

  /** Of a list a part is better than nothing. */
  isList(id: RequestId): boolean {
    return this.#requests.get(id)?.method.endsWith('/list') ?? false;
  }

  /** Whether its answer may need work: `initialize` needs none. */
  needsWork(id: RequestId): boolean {
    return this.#requests.get(id)?.method !== 'initialize';
  }

  signalOf(id: RequestId): AbortSignal | undefined {
    return this.#requests.get(id)?.exchange.signal;
  }

  /** It is over, and its exchange may come to its end. Returns whether it was open. */
  settle(id: RequestId): boolean {
    const exchange = this.#requests.get(id)?.exchange;
    if (exchange) setTimeout(() => exchange.abort(), ANSWERED_MS).unref();
    return this.#requests.delete(id);
  }

  /** It is over, and its exchange with it. */
  abort(id: RequestId): void {
    const exchange = this.#requests.get(id)?.exchange;
    this.#requests.delete(id);
    exchange?.abort();
  }

  clear(): void {
    this.#requests.clear();
  }
}
