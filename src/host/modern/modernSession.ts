import { once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { deferred } from '../../lib/deferred.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeMessage, isRequestId, type JsonRpcMessage, peekResponseId, splitRelated } from '../../link/frames.ts';
import { LineSplitter } from '../../link/lineFraming.ts';
import { PROTOCOL_VERSIONS } from '../../mcp/mcpVersions.ts';
import { type Envelope, LOG_LEVELS } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { MODERN_VERSION, ROUNDS_CAPABILITY } from '../../mcp/modern/wire.ts';
import type { ModernRequest } from './heldCall.ts';
import type { Introduction, LegacyHost, ModernOptions } from './modernOptions.ts';
import { Rounds } from './rounds.ts';
import { Subscriptions } from './subscriptions.ts';

/**
 * Legacy session that serves one modern client. The client's requests state its capabilities one by one, so the session
 * declares what a host can turn into rounds, and the host refuses questions that the request does not allow. Roots are
 * an exception, because a server may replace its own folders by those of a client: the session declares those of its first
 * request, and each request those of its own (`REQUEST_CAPABILITIES_META`).
 */
export class ModernSession {
  readonly #options: ModernOptions;
  readonly #client: Envelope;
  readonly #toHost = new PassThrough();
  readonly #host: LegacyHost;
  readonly #running: Promise<number>;
  readonly #rounds: Rounds;
  readonly #subscriptions: Subscriptions;
  /** Requests of this class itself. */
  readonly #own = new Map<number, (frame: Buffer) => void>();
  #next = 1;
  #introduced: Promise<Introduction | undefined> | undefined;
  #logLevel: number = LOG_LEVELS.length;

  /** `drained` resolves when the client reads on, or is `undefined` while it reads. */
  constructor(options: ModernOptions, principal: string, client: Envelope, drained: () => Promise<void> | undefined) {
    this.#options = options;
    this.#client = client;
    const splitter = new LineSplitter(
      { onLine: (line) => this.#onLine(line), onOversize: () => undefined },
      Number.POSITIVE_INFINITY,
    );
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        splitter.push(chunk);
        const full = drained();
        if (full) void full.then(() => done());
        else done();
      },
    });
    this.#host = options.openHost({ input: this.#toHost, output }, options.mode);
    this.#running = this.#host.run();
    const ports = { send: (message: object) => this.#send(message), nextId: () => this.#next++, host: this.#host };
    this.#rounds = new Rounds({ ...options, ...ports, principal });
    this.#subscriptions = new Subscriptions({
      serverInfo: options.serverInfo,
      capabilities: async () => (await this.introduction())?.capabilities ?? {},
      request: async (method, params) => 'result' in (await this.#request(method, params)),
    });
  }

  /** Number of requests, calls and subscriptions that are open. */
  get size(): number {
    return this.#rounds.size + this.#subscriptions.size;
  }

  /** Resolves to the introduction of the mode; in passthrough mode the worker makes it. Undefined without a worker. */
  introduction(): Promise<Introduction | undefined> {
    const { introduction } = this.#options;
    this.#introduced ??= this.#introduce();
    return introduction ? Promise.resolve(introduction) : this.#introduced;
  }

  request(request: ModernRequest, exchange: Exchange): void {
    void this.introduction();
    this.#raiseLogLevel(request.envelope);
    this.#rounds.begin(request, exchange);
  }

  listen(params: ModernRequest['params'], exchange: Exchange): void {
    void this.introduction();
    void this.#subscriptions.listen(exchange, params);
  }

  cancel(exchange: Exchange): void {
    this.#rounds.cancel(exchange);
    this.#subscriptions.cancel(exchange);
  }

  /** Ends the session. Open requests may finish. */
  end(): Promise<number> {
    this.#subscriptions.end();
    this.#rounds.dropHeld();
    this.#toHost.end();
    return this.#running;
  }

  /** Resolves when the host has read what it got; `undefined` if it has. */
  drained(): Promise<void> | undefined {
    return this.#toHost.writableNeedDrain ? once(this.#toHost, 'drain').then(() => undefined) : undefined;
  }

  async #introduce(): Promise<Introduction | undefined> {
    const { client, capabilities } = this.#client;
    const roots = capabilities.roots ? { roots: {} } : {};
    const answering = this.#request('initialize', {
      protocolVersion: PROTOCOL_VERSIONS[0],
      capabilities: {
        elicitation: { form: {}, url: {} },
        sampling: { context: {}, tools: {} },
        experimental: { [ROUNDS_CAPABILITY]: { revision: MODERN_VERSION } },
        ...roots,
      },
      clientInfo: client,
    });
    this.#send({ method: 'notifications/initialized' });
    const { result } = await answering;
    // Without a worker the session has not begun, and the next request begins it again.
    if (!isRecord(result)) this.#introduced = undefined;
    else if (!this.#options.introduction) this.#keep(result as unknown as Introduction);
    return result as Introduction | undefined;
  }

  #keep(introduction: Introduction): void {
    try {
      this.#options.kept?.write(introduction);
    } catch {
      // The next host asks its worker.
    }
  }

  /** Asks the session for the logs that a request wants. Other requests do not get them (`Rounds`). */
  #raiseLogLevel({ logLevel }: Envelope): void {
    if (logLevel === undefined) return;
    const level = LOG_LEVELS.indexOf(logLevel);
    if (level >= this.#logLevel) return;
    this.#logLevel = level;
    void this.#request('logging/setLevel', { level: logLevel });
  }

  /** Sends a request of this class itself. */
  #request(method: string, params: object): Promise<JsonRpcMessage> {
    const id = this.#next++;
    const answered = deferred<JsonRpcMessage>();
    this.#own.set(id, (frame) => answered.resolve(JSON.parse(frame.toString('utf8')) as JsonRpcMessage));
    this.#send({ id, method, params });
    return answered.promise;
  }

  #send(message: object): void {
    if (!this.#toHost.writableEnded) this.#toHost.write(encodeMessage(message));
  }

  #onLine(line: Buffer): void {
    const id = peekResponseId(line);
    if (typeof id === 'number') {
      const own = this.#own.get(id);
      this.#own.delete(id);
      if (own) own(line);
      else this.#rounds.onAnswer(id, line);
    } else if (id === undefined) this.#onMessage(line);
  }

  #onMessage(line: Buffer): void {
    const { relatedTo, frame } = splitRelated(line);
    const { id, method, params } = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
    if (method === undefined) return;
    if (isRequestId(id)) this.#rounds.onQuestion(id, method, params, relatedTo);
    else if (method === 'notifications/cancelled') this.#rounds.onWithdrawn(params?.requestId);
    else if (OF_A_REQUEST.has(method)) this.#rounds.onNotification(method, params ?? {}, relatedTo);
    else this.#subscriptions.onNotification(method, params ?? {});
  }
}

const OF_A_REQUEST: ReadonlySet<string> = new Set(['notifications/progress', 'notifications/message']);
