import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { faultResponse, frameFaultOf } from '../../link/frameFault.ts';
import type { RequestId } from '../../link/frames.ts';
import { inOrder } from '../inOrder.ts';
import { NotificationPace } from './notificationPace.ts';
import type { Oddities } from './oddities.ts';

/** Limit of a server's requests in progress (M7.3). */
const MAX_SERVER_REQUESTS = 32;
const PROGRESS = 'notifications/progress';
const ASKED_OF_CLIENTS: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage']);
/** Number of remembered ids of finished requests. A copy that comes later counts as unknown. */
const MAX_REMEMBERED = 1_024;

/** `data` of an error from beyond the guard. Errors of the SDK itself, with codes that servers use too, lack it. */
export class Answered {
  readonly data: unknown;

  constructor(data: unknown) {
    this.data = data;
  }
}

/**
 * Guards the way between the SDK and a server: an answer passes once, and only to its request (M7.2), and other
 * messages pass at a bearable pace (M7.3). The SDK itself takes the text "7" for the number 7 and answers every
 * request.
 */
export class UpstreamGuard implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: Transport;
  readonly #oddities: Oddities;
  readonly #pace: NotificationPace;
  /** Open requests with their progress tokens. */
  readonly #pending = new Map<RequestId, string | number | undefined>();
  readonly #tokens = new Set<string | number>();
  readonly #settled = new Map<RequestId, 'answered' | 'given_up'>();
  readonly #serverRequests = new Set<RequestId>();
  readonly #arrive = inOrder((message) => this.onmessage?.(message));
  #heardAt = Number.NEGATIVE_INFINITY;
  #initializeId: RequestId | undefined;
  #offeredVersion: string | undefined;

  constructor(inner: Transport, oddities: Oddities) {
    this.#inner = inner;
    this.#oddities = oddities;
    this.#pace = new NotificationPace((notification) => this.#arrive(notification), oddities);
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
    this.#inner.onmessage = (message) => this.#onMessage(message);
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => {
      this.#pace.close();
      this.onclose?.();
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) return this.#answer(message, options);
    if (!('id' in message)) {
      if (message.method === 'notifications/cancelled') this.#giveUp(message);
      return this.#inner.send(message, options);
    }
    this.#track(message);
    try {
      await this.#inner.send(message, options);
    } catch (error) {
      this.#settle(message.id, 'given_up');
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #track({ id, method, params }: JSONRPCRequest): void {
    if (method === 'initialize') this.#initializeId = id;
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

  async #answer(message: Exclude<JSONRPCMessage, { method: string }>, options?: TransportSendOptions): Promise<void> {
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

  #onResponse(message: Exclude<JSONRPCMessage, { method: string }>): void {
    // The SDK allows an error without an id, which answers nothing.
    const { id = '' } = message;
    if (this.#pending.has(id)) {
      this.#settle(id, 'answered');
      if (id === this.#initializeId && 'result' in message)
        this.#offeredVersion = String(message.result.protocolVersion);
      this.#arrive(asAnswered(message));
      return;
    }
    const settled = this.#settled.get(id);
    if (settled === 'answered') this.#oddities.add('duplicate_response');
    else if (settled === 'given_up') this.#oddities.add('late_response');
    else this.#onUnknown(id);
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
    else this.#arrive(asPlain(request));
  }
}

/**
 * Removes the `task` of a server's request. Servers do not learn of any task capability, so a request with a task
 * counts as a plain one (MCP 2025-11-25, Tasks, Capability Negotiation). The SDK would reject it.
 */
function asPlain(request: JSONRPCRequest): JSONRPCRequest {
  if (request.params?.task === undefined || !ASKED_OF_CLIENTS.has(request.method)) return request;
  const { task: _task, ...params } = request.params;
  return { ...request, params };
}

function asAnswered(message: Exclude<JSONRPCMessage, { method: string }>): JSONRPCMessage {
  if (!('error' in message)) return message;
  return { ...message, error: { ...message.error, data: new Answered(message.error.data) } };
}

function isFault(message: JSONRPCMessage): boolean {
  return 'error' in message && frameFaultOf(message.error.data) !== undefined;
}
