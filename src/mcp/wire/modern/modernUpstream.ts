import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCNotification, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import { COMPLETE, DISCOVER, INPUT_REQUIRED, LISTEN, LOG_LEVEL_META, UNSUPPORTED_VERSION } from '../../modern/wire.ts';
import type { UpstreamClientOptions } from '../upstreamClient.ts';
import { type EraTransport, modernMeta, type Params, type RpcError } from './eras.ts';
import { InputRounds, type Inputs } from './inputRounds.ts';
import { Listening } from './listening.ts';
import { asOlderError, asOlderResult, introduction, sharedCapabilities } from './olderForms.ts';
import { RequestHeaders } from './requestHeaders.ts';

type Answer = Exclude<JSONRPCMessage, { method: string }>;

/** State of the program, which this file must not import: it has a bundle of its own. */
export interface ModernPorts {
  /** The transport, where it is one over HTTP. */
  http: EraTransport | undefined;
  /** Parameters of the client's `initialize`. */
  initialize: Params;
  /** Result of `server/discover`. */
  discovered: Params;
  /** Returns the call that the client sends for. */
  origin(): object | undefined;
  /** Returns the capabilities of the client that a call comes from, where it comes from one. */
  capabilitiesOf(origin: object | undefined): Params | undefined;
  /** Answers the questions of a round together, for a client that takes them so. */
  onQuestions: UpstreamClientOptions['onQuestions'];
  relate(message: object, origin: object | undefined): void;
  /** Returns whether a transport has put the error in place of an answer. */
  isLost(error: RpcError): boolean;
  /** Makes the answer to a request that was lost after its first round. */
  lost(id: RequestId, error: unknown): Answer;
  /** Makes the answer that replaces an unusable one. */
  unusable(id: RequestId, message: string): Answer;
  /** A list had tools that must not be called. */
  onInvalidTools(count: number): void;
  /** The server does not speak the revision any more. */
  onDoubt(): void;
}

/** Request of the client, until its answer. */
export interface OpenRequest {
  readonly request: JSONRPCRequest;
  /** Call that sends the request. */
  readonly origin: object | undefined;
  /** Id under which the server has the request; `undefined` while the server waits for input. */
  wireId: RequestId | undefined;
  /** Number of times that the server has asked for input. */
  rounds: number;
}

/**
 * Translates between a client of the older revisions and a server that speaks 2026-07-28. The client greets, subscribes
 * and answers questions as ever; the server gets requests that each carry the version and the client's capabilities
 * (M9.4).
 */
export class ModernUpstream implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #inner: Transport;
  readonly #ports: ModernPorts;
  readonly #headers = new RequestHeaders();
  readonly #rounds: InputRounds;
  readonly #listening: Listening;
  /** Requests by the id of the client, and by that which the server has. */
  readonly #open = new Map<RequestId, OpenRequest>();
  readonly #onWire = new Map<RequestId, OpenRequest>();
  #logLevel: unknown;
  #isDoubtful = false;
  #closed = false;

  /** `inner` has started. */
  constructor(inner: Transport, ports: ModernPorts) {
    this.#inner = inner;
    this.#ports = ports;
    inner.onmessage = (message) => this.#receive(message);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => this.#onClose();
    ports.http?.speakModern((id) => this.#headers.of(id));
    this.#rounds = new InputRounds({
      deliver: (message, origin) => {
        ports.relate(message, origin);
        this.onmessage?.(message);
      },
      askTogether: (questions, origin, signal) => ports.onQuestions?.(questions, origin, signal),
      isOpen: ({ request }) => this.#open.has(request.id),
      resume: (open, inputs) => this.#resume(open, inputs),
      fail: (open, error) => this.#settle(open, { jsonrpc: '2.0', id: open.request.id, error }),
      unusable: (open, message) => this.#settle(open, ports.unusable(open.request.id, message)),
    });
    this.#listening = new Listening({
      send: (id, params) => this.#write({ jsonrpc: '2.0', id, method: LISTEN, params }),
      cancel: (id) => this.#cancelOnWire(id),
      deliver: (method) => this.onmessage?.({ jsonrpc: '2.0', method }),
      isLost: (error) => ports.isLost(error),
      giveUp: () => void this.close(),
    });
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) this.#rounds.answered(message);
    else if ('id' in message) await this.#request(message);
    else this.#notify(message);
  }

  close(): Promise<void> {
    this.#listening.close();
    return this.#inner.close();
  }

  async #request(request: JSONRPCRequest): Promise<void> {
    const { id, method, params = {} } = request;
    switch (method) {
      case 'initialize':
        return this.#answer(id, introduction(this.#ports.discovered));
      case 'logging/setLevel':
        this.#logLevel = params.level;
        return this.#answer(id, {});
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const error = await this.#listening.follow(String(params.uri), method === 'resources/subscribe');
        return error ? this.#deliver({ jsonrpc: '2.0', id, error }) : this.#answer(id, {});
      }
    }
    const open: OpenRequest = { request, origin: this.#ports.origin(), wireId: undefined, rounds: 0 };
    this.#open.set(id, open);
    try {
      await this.#dispatch(open, id, {});
    } catch (error) {
      this.#forget(open);
      const { status } = error as { status?: number };
      // A server of this revision puts an error of JSON-RPC into such an answer.
      if (status === 400 || status === 404) this.#doubt();
      throw error;
    }
  }

  #notify({ method, params = {} }: JSONRPCNotification): void {
    if (method === 'notifications/initialized') this.#listening.begin(this.#ports.discovered.capabilities);
    else if (method === 'notifications/cancelled') this.#cancel(params.requestId as RequestId);
    // The revision has no other notification of a client.
  }

  #cancel(id: RequestId): void {
    const open = this.#open.get(id);
    if (!open) return;
    const { wireId } = open;
    this.#forget(open);
    if (wireId !== undefined) this.#cancelOnWire(wireId);
  }

  #cancelOnWire(requestId: RequestId): void {
    this.#headers.delete(requestId);
    const message = { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params: { requestId } };
    void this.#inner.send(message).catch(() => undefined);
  }

  /** Sends a request for the first time, or again with the input that the server asked for. */
  #dispatch(open: OpenRequest, wireId: RequestId, inputs: Inputs): Promise<void> {
    const { method, params = {} } = open.request;
    const { task: _task, ...rest } = params;
    open.wireId = wireId;
    this.#onWire.set(wireId, open);
    // The revision has no `ping`; any answer is a sign of life.
    const sent = method === 'ping' ? DISCOVER : method;
    return this.#write({ jsonrpc: '2.0', id: wireId, method: sent, params: { ...rest, ...inputs } }, open.origin);
  }

  async #write({ params = {}, ...request }: JSONRPCRequest, origin?: object): Promise<void> {
    const { http, initialize, capabilitiesOf } = this.#ports;
    const level = this.#logLevel === undefined ? {} : { [LOG_LEVEL_META]: this.#logLevel };
    const capabilities = sharedCapabilities(initialize.capabilities, capabilitiesOf(origin));
    const _meta = { ...params._meta, ...level, ...modernMeta({ ...initialize, capabilities }) };
    const message = { ...request, params: { ...params, _meta } };
    if (http) this.#headers.add(message);
    try {
      await this.#inner.send(message);
    } catch (error) {
      this.#headers.delete(message.id);
      throw error;
    }
  }

  async #resume(open: OpenRequest, inputs: Inputs): Promise<void> {
    try {
      await this.#dispatch(open, `waygate-${open.request.id}-${open.rounds}`, inputs);
    } catch (error) {
      this.#settle(open, this.#ports.lost(open.request.id, error));
    }
  }

  #receive(message: JSONRPCMessage): void {
    if (!('method' in message)) this.#receiveAnswer(message);
    else if ('id' in message) {
      const error = { code: METHOD_NOT_FOUND, message: `Method not found: ${message.method}` };
      void this.#inner.send({ jsonrpc: '2.0', id: message.id, error }).catch(() => undefined);
    } else if (!this.#listening.notified(message)) this.onmessage?.(message);
  }

  #receiveAnswer(message: Answer): void {
    const { id = '' } = message;
    this.#headers.delete(id);
    if (this.#listening.ended(message)) return;
    const open = this.#onWire.get(id);
    if (!open) {
      this.onmessage?.(message);
      return;
    }
    this.#onWire.delete(id);
    open.wireId = undefined;
    if ('error' in message) this.#receiveError(open, message.error);
    else this.#receiveResult(open, message.result);
  }

  #receiveError(open: OpenRequest, error: RpcError): void {
    const { request } = open;
    if (error.code === UNSUPPORTED_VERSION) this.#doubt();
    const { capabilities } = this.#ports.initialize;
    const older = asOlderError(error, request.method, isRecord(capabilities) ? capabilities : {});
    this.#settle(open, { jsonrpc: '2.0', id: request.id, error: older });
  }

  #receiveResult(open: OpenRequest, result: Params): void {
    const { request } = open;
    const { resultType = COMPLETE } = result;
    if (resultType === INPUT_REQUIRED) void this.#rounds.run(open, result);
    else if (resultType !== COMPLETE) {
      const words = `an answer of the unknown type ${String(resultType).slice(0, 40)}`;
      this.#settle(open, this.#ports.unusable(request.id, words));
    } else {
      const older = request.method === 'ping' ? {} : asOlderResult(result);
      if (this.#ports.http && request.method === 'tools/list') this.#learnTools(older);
      this.#settle(open, { jsonrpc: '2.0', id: request.id, result: older });
    }
  }

  /** Notes the headers that tools want, and removes the tools that want impossible ones. */
  #learnTools(result: Record<string, unknown>): void {
    if (!Array.isArray(result.tools)) return;
    const tools = result.tools.filter((tool) => this.#headers.learn(tool));
    if (tools.length < result.tools.length) this.#ports.onInvalidTools(result.tools.length - tools.length);
    result.tools = tools;
  }

  #settle(open: OpenRequest, answer: Answer): void {
    if (this.#open.get(open.request.id) !== open) return;
    this.#forget(open);
    this.onmessage?.(answer);
    // Other calls may still get their answers; the next start finds out the era.
    if (this.#isDoubtful && this.#open.size === 0) void this.close();
  }

  #forget(open: OpenRequest): void {
    this.#open.delete(open.request.id);
    if (open.wireId !== undefined) {
      this.#onWire.delete(open.wireId);
      this.#headers.delete(open.wireId);
    }
    this.#rounds.cancel(open);
  }

  #doubt(): void {
    this.#isDoubtful = true;
    this.#ports.onDoubt();
    // The caller learns its own outcome first.
    setImmediate(() => this.#open.size === 0 && void this.close());
  }

  #answer(id: RequestId, result: Record<string, unknown>): void {
    this.#deliver({ jsonrpc: '2.0', id, result });
  }

  #deliver(answer: Answer): void {
    queueMicrotask(() => this.onmessage?.(answer));
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#listening.close();
    this.#open.clear();
    this.#onWire.clear();
    this.onclose?.();
  }
}
