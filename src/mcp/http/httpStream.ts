import type { ServerResponse } from 'node:http';

/** How long a client should wait before it comes back to a stream that was cut (MCP 2025-11-25, SSE polling). */
const RETRY_MS = 1_000;

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * One stream of events to a client: the answer to one POST, or what belongs to no request (GET). It outlives its
 * connection: what was sent is kept for a client that comes back (`Last-Event-ID`), as far as its session's bound allows.
 */
export class HttpStream {
  readonly key: string;
  /** When it was finished: nothing more comes, what is kept is for whoever has lost the connection. */
  finishedAt: number | undefined;
  readonly #events: { seq: number; text: string }[] = [];
  #seq = 0;
  #written = 0;
  #response: ServerResponse | undefined;

  constructor(key: string) {
    this.key = key;
  }

  get attached(): boolean {
    return this.#response !== undefined;
  }

  /**
   * Sends on this response from now on, beginning behind event `after`; without it, behind what has been written ever.
   * A client that comes back while we still believe in its old connection is right.
   */
  attach(
    response: ServerResponse,
    options: { headers?: Record<string, string>; prime: boolean; after?: number },
  ): void {
    // It may have gone while its request was read.
    if (response.destroyed) return;
    this.#response?.end();
    response.writeHead(200, { ...HEAD, ...options.headers });
    response.flushHeaders();
    this.#response = response;
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    this.#written = options.after ?? this.#written;
    // An event without data: from here on there is an id to come back with.
    if (options.prime) response.write(`id: ${this.key}-${this.#written}\nretry: ${RETRY_MS}\ndata: \n\n`);
    for (const event of this.#events) if (event.seq > this.#written) this.#write(event);
    if (this.finishedAt !== undefined) this.#end();
  }

  /** Whether its end can still be told to a client that has had no more than event `after`. */
  knowsAfter(after: number): boolean {
    return this.finishedAt === undefined || after >= this.#seq || this.#events.at(-1)?.seq === this.#seq;
  }

  /** How much is kept of it. */
  get keptChars(): number {
    return this.#events.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** How much more is kept from now on. */
  send(json: string): number {
    this.#seq += 1;
    const event = { seq: this.#seq, text: `id: ${this.key}-${this.#seq}\nevent: message\ndata: ${json}\n\n` };
    this.#events.push(event);
    this.#write(event);
    return event.text.length;
  }

  finish(): void {
    this.finishedAt = performance.now();
    this.#end();
  }

  /** Forgets the oldest event; how much that was. */
  dropOldest(): number {
    return this.#events.shift()?.text.length ?? 0;
  }

  keepAlive(): void {
    if (this.#response && !this.#response.writableNeedDrain) this.#response.write(': \n\n');
  }

  /** Whether the client has more to read than should be held for it. */
  get full(): boolean {
    return this.#response?.writableNeedDrain === true;
  }

  /** Settles when the client has read on or has gone; one that takes nothing for so long is cut off, and may come back. */
  drained(stallMs: number): Promise<void> {
    const response = this.#response;
    if (!response?.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        response.off('drain', settle).off('close', settle);
        resolve();
      };
      const timer = setTimeout(() => response.destroy(), stallMs);
      response.on('drain', settle).on('close', settle);
    });
  }

  #write({ seq, text }: { seq: number; text: string }): void {
    if (!this.#response) return;
    this.#written = seq;
    this.#response.write(text);
  }

  #end(): void {
    this.#response?.end();
    this.#response = undefined;
  }
}

/** What a client names when it comes back to a stream. */
export function parseEventId(id: string): { key: string; seq: number } | undefined {
  const parts = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return parts ? { key: parts[1] as string, seq: Number(parts[2]) } : undefined;
}
