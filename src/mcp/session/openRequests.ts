import type { RequestId } from '../../link/frames.ts';

interface OpenRequest {
  exchange: AbortController;
  method: string;
}

/** Time after which to close the stream of an answered request, if the server leaves it open. */
const ANSWERED_MS = 1_000;

/** Requests without an answer, each with the function that ends its exchange. */
export class OpenRequests {
  readonly #requests = new Map<RequestId, OpenRequest>();

  add(id: RequestId, method: string): void {
    this.#requests.set(id, { exchange: new AbortController(), method });
  }

  has(id: RequestId): boolean {
    return this.#requests.has(id);
  }

  /** Returns whether the request asks for a list, of which a part is better than nothing. */
  isList(id: RequestId): boolean {
    return this.#requests.get(id)?.method.endsWith('/list') ?? false;
  }

  /** Returns whether the answer may need work: that to a greeting needs none. */
  needsWork(id: RequestId): boolean {
    const method = this.#requests.get(id)?.method;
    return method !== 'initialize' && method !== 'server/discover';
  }

  signalOf(id: RequestId): AbortSignal | undefined {
    return this.#requests.get(id)?.exchange.signal;
  }

  /** Settles a request and lets its exchange end. Returns whether it was open. */
  settle(id: RequestId): boolean {
    const exchange = this.#requests.get(id)?.exchange;
    if (exchange) setTimeout(() => exchange.abort(), ANSWERED_MS).unref();
    return this.#requests.delete(id);
  }

  /** Settles a request and ends its exchange. */
  abort(id: RequestId): void {
    const exchange = this.#requests.get(id)?.exchange;
    this.#requests.delete(id);
    exchange?.abort();
  }

  clear(): void {
    this.#requests.clear();
  }
}
