import type { ServerResponse } from 'node:http';

/** Time after which a client should reconnect to a cut stream (MCP 2025-11-25, SSE polling). */
const RETRY_MS = 1_000;

const HEAD = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/**
 * Stream of events to a client: the answer to a POST, or messages that belong to no request (GET). The stream outlives
 * its connection: it keeps sent events for a client that reconnects (`Last-Event-ID`), within the bound of its session.
 */
export class HttpStream {
  readonly key: string;
  /** Time of the end. Only a client that has lost the connection still fetches kept events. */
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
   * Sends on this response from now on, beginning behind event `after`, or behind everything written so far. A client
   * that reconnects is right even if the old connection looks alive.
   */
  attach(
    response: ServerResponse,
    options: { headers?: Record<string, string>; prime: boolean; after?: number },
  ): void {
    // The client may have disconnected while the server read its request.
    if (response.destroyed) return;
    this.#response?.end();
    response.writeHead(200, { ...HEAD, ...options.headers });
    response.flushHeaders();
    this.#response = response;
    response.once('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    this.#written = options.after ?? this.#written;
    // An event without data gives the client an id from which to reconnect.
    if (options.prime) response.write(`id: ${this.key}-${this.#written}\nretry: ${RETRY_MS}\ndata: \n\n`);
    for (const event of this.#events) if (event.seq > this.#written) this.#write(event);
    if (this.finishedAt !== undefined) this.#end();
  }

  /** Returns whether a client that received no more than event `after` can still learn of the end. */
  knowsAfter(after: number): boolean {
    return this.finishedAt === undefined || after >= this.#seq || this.#events.at(-1)?.seq === this.#seq;
  }

  /** Size of the kept events. */
  get keptChars(): number {
    return this.#events.reduce((sum, { text }) => sum + text.length, 0);
  }

  /** Sends an event. Returns by how much the kept size grew. */
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

  /** Drops the oldest event. Returns its size. */
  dropOldest(): number {
    return this.#events.shift()?.text.length ?? 0;
  }

  keepAlive(): void {
    if (this.#response && !this.#response.writableNeedDrain) this.#response.write(': \n\n');
  }

  /** Whether the client has more events waiting than the stream should hold. */
  get full(): boolean {
    return this.#response?.writableNeedDrain === true;
  }

  /**
   * Settles when the client has read on or has gone. Disconnects a client that reads nothing for `stallMs`; that client
   * may reconnect.
   */
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

/** Parses the event id with which a client reconnects to a stream. */
export function parseEventId(id: string): { key: string; seq: number } | undefined {
  const parts = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return parts ? { key: parts[1] as string, seq: Number(parts[2]) } : undefined;
}
