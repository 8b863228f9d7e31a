import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_CLOSED, METHOD_NOT_FOUND, REQUEST_TIMEOUT } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { VERSION } from '../../lib/build.ts';
import { type FrameFault, frameFaultOf } from '../../link/frameFault.ts';
import { oneLine } from '../../text/porcelain.ts';
import { IncomingRequests } from '../incomingRequests.ts';
import { PROTOCOL_VERSIONS } from '../mcpVersions.ts';
import { OutgoingRequests, type Progress } from '../outgoingRequests.ts';
import { originOf, sendFor } from './callOrigin.ts';
import { type Greeting, readGreeting, SERVER_VERSIONS } from './greeting.ts';
import { listPages, type PagedList } from './listPages.ts';
import { EraFinder, type KnownEra, type Opening } from './modern/eraFinder.ts';
import type { RpcError as AnsweredError } from './modern/eras.ts';
import { Oddities } from './oddities.ts';
import { Answered, UpstreamGuard } from './upstreamGuard.ts';

/** Transport of messages to a server and back. Created in this room only; opaque to others. */
export type UpstreamTransport = Transport;

/** Kind of a failed request to a server. */
export type UpstreamFailure =
  | 'timeout'
  | 'closed'
  | 'aborted'
  | 'protocol'
  /** The server speaks no known version of MCP. */
  | 'version'
  | 'error'
  /** The request never reached the server, or the server did nothing with it; a resend is safe. */
  | 'unsent'
  /** The request was not sent, because the connection is about to end. */
  | 'gone'
  /** The request was not sent, because the server reads more slowly than requests wait. */
  | 'busy'
  /** The server rejects us (HTTP 401), or the scope of this request (HTTP 403 with `insufficient_scope`). */
  | 'unauthorized';

/** Marks an error that a transport returns in place of a lost server. Compared by identity. */
export const LOST = Object.freeze({ lost: true });

export class UpstreamRequestError extends Error {
  override readonly name: string = 'UpstreamRequestError';
  readonly failure: UpstreamFailure;
  /** JSON-RPC code or HTTP status, when the server answered with an error. */
  readonly code: number | undefined;
  /** Seconds that the server asks to wait before the next request. */
  readonly retryAfterSeconds: number | undefined;
  /** Defect of an unusable answer. */
  frame: FrameFault | undefined;
  /** Time limit of a request that timed out. */
  timeoutMs: number | undefined;
  /** HTTP status of the answer, where an HTTP server gave no answer of MCP. */
  status: number | undefined;
  /** Error of JSON-RPC in the body of an HTTP refusal. */
  answered: AnsweredError | undefined;
  /** `data` of the server's error, unchanged. */
  readonly data: unknown;

  constructor(failure: UpstreamFailure, message: string, code?: number, retryAfterSeconds?: number, data?: unknown) {
    super(message);
    this.failure = failure;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.data = data;
  }
}

export interface CallOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Called with the server's progress. Each notification restarts the timeout, up to `MAX_CALL_MS`. */
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
  /** Call that causes the request; questions of the server belong to it. */
  origin?: object | undefined;
  /** `_meta` of the request. Our own progress token replaces one in it. */
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** Asks the server to run the call as a task (2025-11-25). The answer names the task, so `onProgress` is not called. */
  task?: { ttl: number } | undefined;
}

/** Longest call, however much progress a server reports (O11.1). */
const MAX_CALL_MS = 10 * 60_000;

/** Message that a server sends without a request, unchanged. */
export interface UpstreamMessage {
  method: string;
  params: Record<string, unknown>;
  /** Origin of the request on whose stream the message came, if the transport knows it. */
  origin?: object | undefined;
}

/** Question of a server within a round, under a key of the server's choice. */
export type RoundQuestions = Readonly<Record<string, { method: string; params: Record<string, unknown> }>>;

/** Reason why a round has no answers, and the question that it is about. */
export interface RoundRefusal {
  code: number;
  message: string;
  data?: unknown;
  method?: string;
}

export interface UpstreamClientOptions {
  /** Capabilities that servers may use, in the form of MCP's `ClientCapabilities`. */
  capabilities?: Record<string, object>;
  /** Returns the capabilities that a call offers, where it comes from a client. */
  capabilitiesOf?: (origin: object) => Readonly<Record<string, unknown>> | undefined;
  /** Counts oddities of the server. */
  oddities?: Oddities;
  /** Verdict about the server's era; without one, the server gets `initialize` and nothing else. */
  era?: KnownEra | undefined;
  onNotification?: (message: UpstreamMessage) => void;
  /** Answers a request of the server, or is `undefined` for an unknown method. */
  onRequest?: (message: UpstreamMessage, signal: AbortSignal) => Promise<Record<string, unknown>> | undefined;
  /**
   * Answers the questions of a round together, by their keys, or is `undefined` for a call whose client is asked one
   * question at a time. Rejects with a `RoundRefusal`.
   */
  onQuestions?: (
    questions: RoundQuestions,
    origin: object | undefined,
    signal: AbortSignal,
  ) => Promise<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Client of one MCP server. Returns results unchanged: one bad tool must not cost the list, and `results/` judges the
 * rest.
 */
export class UpstreamClient {
  readonly #options: UpstreamClientOptions;
  readonly #oddities: Oddities;
  readonly #asked: OutgoingRequests;
  readonly #questions: IncomingRequests;
  #guarded: UpstreamGuard | undefined;
  #greeting: Greeting = { capabilities: {}, implementation: undefined, instructions: undefined };
  #closed = false;

  constructor(options: UpstreamClientOptions = {}) {
    this.#options = options;
    this.#oddities = options.oddities ?? new Oddities();
    const send = async (message: JSONRPCMessage): Promise<void> => this.#connection.send(message);
    this.#asked = new OutgoingRequests(send, failure);
    this.#questions = new IncomingRequests(async (request, { signal }) => {
      const { method, params = {} } = request;
      const answer = options.onRequest?.({ method, params, origin: originOf(request) }, signal);
      if (!answer) throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
      return answer;
    }, send);
  }

  /** Greets the server over a transport. Calls `onClose` when the transport ends. */
  async connect(
    transport: UpstreamTransport,
    events: { onClose: () => void },
    timeoutMs: number,
    opening: Opening = 'only_initialize',
  ): Promise<void> {
    const { era, capabilitiesOf, onQuestions } = this.#options;
    const finder = era && new EraFinder(era, opening, { oddities: this.#oddities, capabilitiesOf, onQuestions });
    const guarded = new UpstreamGuard(transport, this.#oddities, finder);
    // What a listener cannot read must not end the reading of the server.
    guarded.onmessage = (message) => void this.#take(message).catch(() => undefined);
    guarded.onclose = () => {
      this.#questions.close();
      this.#closed = true;
      events.onClose();
      this.#asked.close();
    };
    this.#guarded = guarded;
    try {
      await sendFor(undefined, () => this.#greet(guarded, timeoutMs));
      finder?.greeted(guarded.offeredVersion ?? '');
    } catch (error) {
      const { offeredVersion: version } = guarded;
      if (version === undefined || SERVER_VERSIONS.includes(version)) throw toUpstreamError(error);
      throw new UpstreamRequestError('version', version);
    }
  }

  async #greet(server: UpstreamGuard, timeoutMs: number): Promise<void> {
    await server.start();
    try {
      const { capabilities = {} } = this.#options;
      const clientInfo = { name: 'waygate', version: VERSION };
      const offer = { protocolVersion: PROTOCOL_VERSIONS[0], capabilities, clientInfo };
      const answer = await this.#asked.request('initialize', offer, { timeoutMs });
      const greeting = readGreeting(answer);
      if ('wrong' in greeting) {
        throw new UpstreamRequestError('protocol', `its answer to initialize has no valid ${greeting.wrong}`);
      }
      this.#greeting = greeting;
      server.setProtocolVersion(String(answer.protocolVersion));
      await server.send({ method: 'notifications/initialized', jsonrpc: '2.0' });
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  async #take(message: JSONRPCMessage): Promise<void> {
    if (this.#asked.take(message) || this.#questions.take(message) || !('method' in message)) return;
    const { method, params = {} } = message;
    this.#options.onNotification?.({ method, params, origin: originOf(message) });
  }

  /** Time of the server's last message, by `performance.now()`. */
  get heardAt(): number {
    return this.#guarded?.heardAt ?? Number.NEGATIVE_INFINITY;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get instructions(): string | undefined {
    return this.#greeting.instructions;
  }

  /** Name and version that the server gives itself; undefined before it has answered, or without either. */
  get implementation(): Greeting['implementation'] {
    return this.#greeting.implementation;
  }

  /** Capabilities of the server. */
  get capabilities(): Fields {
    return this.#greeting.capabilities;
  }

  /**
   * Requests a whole list (`tools/list`) with unchanged items. `key` is the list's member in the answer. The timeout is
   * for each page.
   */
  async listAll(
    method: string,
    key: string,
    options: CallOptions & { limitMs?: number | undefined },
  ): Promise<PagedList> {
    const askPage = async (cursor: string | undefined, leftMs: number) => {
      const limits = { ...options, timeoutMs: Math.min(leftMs, options.timeoutMs) };
      const { [key]: items, nextCursor } = await this.request(method, cursor === undefined ? {} : { cursor }, limits);
      if (Array.isArray(items)) return { items, nextCursor };
      throw new UpstreamRequestError('protocol', `its answer to ${method} has no list of ${key}`);
    };
    const list = await listPages(key, askPage, options.limitMs);
    if (list.cut) this.#oddities.add('list_cut');
    return list;
  }

  callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    return this.request('tools/call', { name, arguments: args }, options);
  }

  /** Sends any request and returns the result unchanged. */
  async request(method: string, params: Fields, options: CallOptions): Promise<Record<string, unknown>> {
    const { timeoutMs, signal, onProgress, origin, meta, task } = options;
    const asked = withMeta(task ? { ...params, task } : params, meta);
    const limits = {
      timeoutMs,
      ...(signal && { signal }),
      ...(onProgress && !task && { onProgress: readable(onProgress), longestMs: Math.max(MAX_CALL_MS, timeoutMs) }),
    };
    try {
      return await sendFor(origin, () => this.#asked.request(method, asked, limits));
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    try {
      await this.#connection.send({ method, params, jsonrpc: '2.0' });
    } catch (error) {
      throw toUpstreamError(error);
    }
  }

  async close(): Promise<void> {
    await this.#guarded?.close().catch(() => undefined);
  }

  get #connection(): UpstreamGuard {
    if (!this.#guarded || this.#closed) throw new UpstreamRequestError('closed', 'the connection is closed');
    return this.#guarded;
  }
}

/** Leaves out the client's progress token, because several clients share the server. */
function withMeta(params: Fields, meta: Fields | undefined): Record<string, unknown> {
  const { progressToken: _token, ...sent } = meta ?? {};
  return Object.keys(sent).length === 0 ? params : { ...params, _meta: sent };
}

function readable(onProgress: NonNullable<CallOptions['onProgress']>): (progress: Progress) => void {
  return ({ progress, total, message }) =>
    onProgress({
      progress,
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message: oneLine(message) } : {}),
    });
}

function toUpstreamError(error: unknown): UpstreamRequestError {
  if (error instanceof UpstreamRequestError) return error;
  const words = error instanceof Error ? error.message : String(error);
  return new UpstreamRequestError(
    error instanceof Error && error.name === 'AbortError' ? 'aborted' : 'protocol',
    words,
  );
}

/**
 * Makes the error of a request. A loss and a timeout have codes that servers use too; an answered error is neither.
 */
function failure(code: number, words: string, data?: unknown): UpstreamRequestError {
  if (data instanceof Answered) return answeredError(words, code, data.data);
  // A cancelled request has the same code, and no data.
  if (code === REQUEST_TIMEOUT && data !== undefined) {
    const { timeout: timeoutMs } = data as { timeout?: number };
    return Object.assign(new UpstreamRequestError('timeout', words), { timeoutMs });
  }
  if (code === CONNECTION_CLOSED) return new UpstreamRequestError('closed', words);
  return new UpstreamRequestError('error', words, code, undefined, data);
}

/** Converts an error answer. A transport of ours has put `LOST` and frame faults in place of answers. */
function answeredError(words: string, code: number, data: unknown): UpstreamRequestError {
  if (data instanceof UpstreamRequestError) return data;
  if (data === LOST) return new UpstreamRequestError('closed', words);
  const fault = frameFaultOf(data);
  if (fault) return Object.assign(new UpstreamRequestError('protocol', words), { frame: fault });
  return new UpstreamRequestError('error', words, code, undefined, data);
}
