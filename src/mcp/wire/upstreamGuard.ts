import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { faultResponse, frameFaultOf } from '../../link/frameFault.ts';
import type { RequestId } from '../../link/frames.ts';
import type { EraFinder } from './modern/eraFinder.ts';
import type { RpcError } from './modern/eras.ts';
import { NotificationPace } from './notificationPace.ts';
import type { Oddities } from './oddities.ts';

/** Limit of a server's requests in progress (M7.3). */
const MAX_SERVER_REQUESTS = 32;
const PROGRESS = 'notifications/progress';
const ASKED_OF_CLIENTS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage']);
/** Number of remembered ids of finished requests. A copy that comes later counts as unknown. */
const MAX_REMEMBERED = 1_024;

type Response = Exclude<JSONRPCMessage, { method: string }>;

/** `data` of an error from beyond the guard. Errors of the client itself, with codes that servers use too, lack it. */
export class Answered {
  readonly data: unknown;

  constructor(data: unknown) {
    this.data = data;
  }
}

/**
 * Guards the way between the client and a server: an answer passes once, and only to its request (M7.2), and other
 * messages pass at a bearable pace (M7.3).
 */
export class UpstreamGuard implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #inner: Transport;
  readonly #oddities: Oddities;
  readonly #eras: EraFinder | undefined;
  readonly #pace: NotificationPace;
  /** Open requests with their progress tokens. */
  readonly #pending = new Map<RequestId, string | number | undefined>();
  readonly #tokens = new Set<string | number>();
  readonly #settled = new Map<RequestId, 'answered' | 'given_up'>();
  readonly #serverRequests = new Set<RequestId>();
  #heardAt = Number.NEGATIVE_INFINITY;
  #initialize: JSONRPCRequest | undefined;
  #offeredVersion: string | undefined;

  /** Without `eras`, the server gets `initialize` and nothing else. */
  constructor(inner: Transport, oddities: Oddities, eras?: EraFinder) {
    this.#inner = inner;
    this.#oddities = oddities;
    this.#eras = eras;
    this.#pace = new NotificationPace((notification) => this.onmessage?.(notification), oddities);
  }

  /** Time of the server's last readable message, by `performance.now()`. */
  get heardAt(): number {
    return this.#heardAt;
  }

  /** The protocol version in the server's answer to `initialize`. */
  get offeredVersion(): string | undefined {
    return this.#offeredVersion;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#adopt(this.#inner);
    await this.#inner.start();
  }

  #adopt(inner: Transport): void {
    this.#inner = inner;
    inner.onmessage = (message) => this.#onMessage(message);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => {
      this.#pace.close();
      this.onclose?.();
    };
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) return this.#answer(message, options);
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled') this.#giveUp(message);
      return this.#inner.send(message, options);
    }
    this.#track(message);
    try {
      if (message.method === 'initialize') await this.#greet(message);
      else await this.#inner.send(message, options);
    } catch (error) {
      this.#settle(message.id, 'given_up');
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Sends `initialize` over the transport of the server's era. */
  async #greet(initialize: JSONRPCRequest): Promise<void> {
    this.#initialize = initialize;
    if (this.#eras) {
      const fit = await this.#eras.open(this.#inner, initialize);
      if (fit !== this.#inner) this.#adopt(fit);
    }
    try {
      await this.#inner.send(initialize);
    } catch (error) {
      const { answered } = error as { answered?: RpcError };
      if (!answered || !(await this.#greetAgain(initialize, answered))) throw error;
    }
  }

  /** Greets a server that has refused `initialize` in the newer revision. Returns false if it does not speak that. */
  async #greetAgain(initialize: JSONRPCRequest, error: RpcError): Promise<boolean> {
    if (!this.#eras?.isWorthAsking(error)) return false;
    const fit = await this.#eras.afterRefusal(this.#inner, initialize, error);
    if (!fit) return false;
    this.#adopt(fit);
    await fit.send(initialize);
    return true;
  }

  #track({ id, params }: JSONRPCRequest): void {
    const token = params?._meta?.progressToken;
    this.#settled.delete(id);
    this.#pending.set(id, token);
    if (token !== undefined) this.#tokens.add(token);
  }

  #giveUp({ params }: JSONRPCNotification): void {
    const id = params?.requestId as RequestId | undefined;
    if (id !== undefined && this.#pending.has(id)) this.#settle(id, 'given_up');
  }

  #settle(id: RequestId, how: 'answered' | 'given_up'): void {
    const token = this.#pending.get(id);
    if (token !== undefined) {
      if (how === 'answered') this.#pace.flushProgress(token);
      this.#tokens.delete(token);
    }
    this.#pending.delete(id);
    this.#settled.set(id, how);
    for (const oldest of this.#settled.keys()) {
      if (this.#settled.size <= MAX_REMEMBERED) break;
      this.#settled.delete(oldest);
    }
  }

  async #answer(message: Response, options?: TransportSendOptions): Promise<void> {
    try {
      await this.#inner.send(message, options);
    } finally {
      // A request counts until its answer is on its way: a server that asks without reading gets no endless answers.
      if (message.id !== undefined) this.#serverRequests.delete(message.id);
    }
  }

  #onMessage(message: JSONRPCMessage): void {
    // An unusable message is no sign of life.
    if (!isFault(message)) this.#heardAt = performance.now();
    if (!('method' in message)) this.#onResponse(message);
    else if ('id' in message) this.#onRequest(message);
    else if (message.method !== PROGRESS || this.#isAwaited(message)) this.#pace.add(message);
    else this.#oddities.add('dropped_progress');
  }

  #onResponse(message: Response): void {
    // An error without an id answers nothing.
    const { id = '' } = message;
    if (this.#pending.has(id)) {
      if (id !== this.#initialize?.id) this.#pass(message, id);
      else if ('error' in message && this.#eras?.isWorthAsking(message.error)) void this.#onRefused(message, id);
      else {
        if ('result' in message) this.#offeredVersion = String(message.result.protocolVersion);
        this.#pass(message, id);
      }
      return;
    }
    const settled = this.#settled.get(id);
    if (settled === 'answered') this.#oddities.add('duplicate_response');
    else if (settled === 'given_up') this.#oddities.add('late_response');
    else this.#onUnknown(id);
  }

  #pass(message: Response, id: RequestId): void {
    this.#settle(id, 'answered');
    this.onmessage?.(asAnswered(message));
  }

  async #onRefused(message: Extract<Response, { error: unknown }>, id: RequestId): Promise<void> {
    const { error } = message;
    try {
      if (await this.#greetAgain(this.#initialize as JSONRPCRequest, error)) return;
      this.#pass(message, id);
    } catch (reason) {
      const { message: words } = reason as Error;
      this.#pass({ ...message, error: { ...error, message: words, data: reason } }, id);
    }
  }

  /** Fails the request that an id of another type names. The call would wait for its deadline otherwise. */
  #onUnknown(id: RequestId): void {
    const meant = typeof id === 'string' ? Number(id) : String(id);
    if (String(meant) !== String(id) || !this.#pending.has(meant)) {
      this.#oddities.add('unknown_response');
      return;
    }
    this.#oddities.add('mistyped_id');
    const words = `an answer whose id is ${typeof id === 'string' ? 'text' : 'a number'} instead of ${typeof meant === 'string' ? 'text' : 'a number'}`;
    this.#onResponse(faultResponse(meant, 'malformed_response', words));
  }

  #isAwaited({ params }: JSONRPCNotification): boolean {
    const token = params?.progressToken as string | number;
    return this.#tokens.has(token);
  }

  #onRequest(request: JSONRPCRequest): void {
    const { id, method } = request;
    const why = this.#serverRequests.has(id)
      ? 'this id is in flight already'
      : this.#serverRequests.size >= MAX_SERVER_REQUESTS
        ? `more than ${MAX_SERVER_REQUESTS} requests are in flight`
        : undefined;
    if (why !== undefined) {
      this.#oddities.add('request_over_cap');
      // Not kept for later: a server that does not read misses the rejection.
      void this.#inner
        .send({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: why } })
        .catch(() => undefined);
      return;
    }
    this.#serverRequests.add(id);
    if (method === 'ping') void this.#answer({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
    else this.onmessage?.(asPlain(request));
  }
}

/**
 * Removes the `task` of a server's request. Servers do not learn of any task capability, so a request with a task
 * counts as a plain one (MCP 2025-11-25, Tasks, Capability Negotiation).
 */
function asPlain(request: JSONRPCRequest): JSONRPCRequest {
  if (request.params?.task === undefined || !ASKED_OF_CLIENTS.has(request.method)) return request;
  const { task: _task, ...params } = request.params;
  return { ...request, params };
}

function asAnswered(message: Response): JSONRPCMessage {
  if (!('error' in message)) return message;
  return { ...message, error: { ...message.error, data: new Answered(message.error.data) } };
}

function isFault(message: JSONRPCMessage): boolean {
  return 'error' in message && frameFaultOf(message.error.data) !== undefined;
}
