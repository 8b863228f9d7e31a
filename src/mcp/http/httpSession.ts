import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { PassThrough, type Readable, Writable } from 'node:stream';
import { isRequestId, peekResponseId, requestKey, splitRelated } from '../../link/frames.ts';
import { LineSplitter } from '../../link/lineFraming.ts';
import type { ClientMessage } from './clientMessages.ts';
import { HttpRefusal } from './httpRefusal.ts';
import { HttpStream, parseEventId } from './httpStream.ts';

export interface HttpSessionLimits {
  /** Size of the events that a session keeps for a client that reconnects. */
  keptChars: number;
  /** Time for which a session keeps an answer for a client that has lost the connection. */
  keepMs: number;
  /** Time for which a client that does not read may hold back its session. */
  stallMs: number;
  /** Limit of requests in flight. */
  requests: number;
  /** Limit of received bytes that the host has not read yet. */
  unreadBytes: number;
}

/** First revision in which a stream begins with an event without data. An older client would take it for a message. */
const PRIMED_SINCE = '2025-11-25';

/**
 * MCP session of one client over HTTP, as lines on two streams, so that code for stdio sessions serves this one too.
 * Messages of a request go to the stream of its POST, all others to the stream of GET. Every stream belongs to this
 * session alone (CVE-2026-25536).
 */
export class HttpSession {
  readonly id = randomUUID();
  /** Messages of the client, one per line. */
  readonly input: Readable;
  /** Messages for the client, one per line. */
  readonly output: Writable;
  /** Negotiated revision; empty before. */
  protocolVersion = '';
  readonly #limits: HttpSessionLimits;
  readonly #toHost = new PassThrough();
  readonly #standalone = new HttpStream('0');
  readonly #streams = new Map<string, HttpStream>([['0', this.#standalone]]);
  /** Stream of each request that awaits an answer. */
  readonly #routes = new Map<string, HttpStream>();
  /** Streams of all kept events, the oldest first. */
  #kept: HttpStream[] = [];
  #keptChars = 0;
  #nextStream = 1;
  #initializeId: string | undefined;
  #usedAt = performance.now();

  constructor(limits: HttpSessionLimits) {
    this.#limits = limits;
    this.input = this.#toHost;
    const splitter = new LineSplitter(
      { onLine: (line) => this.#onLine(line), onOversize: () => undefined },
      Number.POSITIVE_INFINITY,
    );
    this.output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        splitter.push(chunk);
        const full = [...this.#streams.values()].filter((stream) => stream.full);
        if (full.length === 0) done();
        else void Promise.all(full.map((stream) => stream.drained(limits.stallMs))).then(() => done());
      },
    });
  }

  /** Idle time; 0 while a stream is open or an answer awaited. */
  get idleMs(): number {
    const inUse = this.#routes.size > 0 || [...this.#streams.values()].some((stream) => stream.attached);
    return inUse ? 0 : performance.now() - this.#usedAt;
  }

  get batches(): boolean {
    return this.protocolVersion === '2025-03-26';
  }

  /** Takes the messages of a POST. The response becomes the stream for the answers. */
  receive(messages: readonly ClientMessage[], response: ServerResponse, headers: Record<string, string> = {}): void {
    const keys = requestKeys(messages);
    this.#checkRoom(keys);
    this.#usedAt = performance.now();
    if (keys.length === 0) response.writeHead(202, headers).end();
    else {
      const stream = new HttpStream(String(this.#nextStream++));
      this.#streams.set(stream.key, stream);
      for (const key of keys) this.#routes.set(key, stream);
      stream.attach(response, { headers, prime: this.#primes });
    }
    for (const { message, line } of messages) {
      if (message.method === 'initialize' && isRequestId(message.id)) this.#initializeId ??= requestKey(message.id);
      if (message.method === 'notifications/cancelled') this.#onCancelled(message.params?.requestId);
      this.#toHost.write(line);
    }
  }

  /** Opens the stream for messages that belong to no request. */
  listen(response: ServerResponse): void {
    this.#usedAt = performance.now();
    this.#standalone.attach(response, { prime: this.#primes });
  }

  /** Continues behind the last event that the client received. */
  resume(lastEventId: string, response: ServerResponse): void {
    const event = parseEventId(lastEventId);
    const stream = event && this.#streams.get(event.key);
    if (!stream?.knowsAfter(event?.seq ?? 0)) {
      throw new HttpRefusal(
        400,
        'The stream that Last-Event-ID names is not available any more; send its request again.',
      );
    }
    this.#usedAt = performance.now();
    stream.attach(response, { prime: this.#primes, after: event?.seq ?? 0 });
  }

  /** Keeps open connections alive, and drops events that no client will fetch any more. */
  tend(): void {
    const now = performance.now();
    for (const stream of this.#streams.values()) {
      stream.keepAlive();
      if (stream.finishedAt === undefined || now - stream.finishedAt <= this.#limits.keepMs) continue;
      this.#streams.delete(stream.key);
      this.#keptChars -= stream.keptChars;
      this.#kept = this.#kept.filter((one) => one !== stream);
    }
  }

  /** Ends the session, because the client has gone for good. */
  end(): void {
    this.#toHost.end();
  }

  /** Closes everything open, because the server of the session has ended. */
  dispose(): void {
    for (const stream of this.#streams.values()) stream.finish();
    this.#toHost.destroy();
    this.output.destroy();
  }

  #checkRoom(keys: readonly string[]): void {
    if (new Set(keys).size < keys.length || keys.some((key) => this.#routes.has(key))) {
      throw new HttpRefusal(400, 'A request with this id is in flight already.');
    }
    const { requests, unreadBytes } = this.#limits;
    const unread = this.#toHost.readableLength + this.#toHost.writableLength;
    if (this.#routes.size + keys.length > requests || unread > unreadBytes) {
      throw new HttpRefusal(503, 'Too many requests are in flight in this session; wait for their answers.');
    }
  }

  get #primes(): boolean {
    return this.protocolVersion >= PRIMED_SINCE;
  }

  #onLine(line: Buffer): void {
    const id = peekResponseId(line);
    if (id === undefined) {
      const { relatedTo, frame } = splitRelated(line);
      const stream = relatedTo === undefined ? undefined : this.#routes.get(requestKey(relatedTo));
      this.#send(stream ?? this.#standalone, frame);
      return;
    }
    const key = requestKey(id);
    if (key === this.#initializeId && this.protocolVersion === '') this.#readVersion(line);
    const stream = this.#routes.get(key);
    // No client waits for a cancelled request.
    if (!stream) return;
    this.#send(stream, line);
    this.#settle(key, stream);
  }

  #send(stream: HttpStream, frame: Buffer): void {
    this.#keptChars += stream.send(frame.toString('utf8'));
    this.#kept.push(stream);
    while (this.#keptChars > this.#limits.keptChars) this.#keptChars -= this.#kept.shift()?.dropOldest() ?? 0;
  }

  /** Closes the stream of a cancelled request, which gets no answer. */
  #onCancelled(requestId: unknown): void {
    if (!isRequestId(requestId)) return;
    const stream = this.#routes.get(requestKey(requestId));
    if (stream) this.#settle(requestKey(requestId), stream);
  }

  #settle(key: string, stream: HttpStream): void {
    this.#usedAt = performance.now();
    this.#routes.delete(key);
    if (![...this.#routes.values()].includes(stream)) stream.finish();
  }

  #readVersion(line: Buffer): void {
    const { result } = JSON.parse(line.toString('utf8')) as { result?: { protocolVersion?: unknown } };
    this.protocolVersion = String(result?.protocolVersion ?? '');
  }
}

function requestKeys(messages: readonly ClientMessage[]): string[] {
  return messages.flatMap(({ message: { id, method } }) =>
    method !== undefined && isRequestId(id) ? [requestKey(id)] : [],
  );
}
