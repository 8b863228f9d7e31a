import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_CLOSED } from '../../../errors/rpcCodes.ts';
import { type FrameFault, faultResponse } from '../../../link/frameFault.ts';
import type { RequestId } from '../../../link/frames.ts';
import { MAX_FRAME_BYTES } from '../../../link/lineFraming.ts';
import { OpenRequests } from '../../session/openRequests.ts';
import { relateToSender } from '../callOrigin.ts';
import type { EraTransport, ModernHeaders } from '../modern/eras.ts';
import { Oddities } from '../oddities.ts';
import type { UpstreamAuth } from '../upstreamAuth.ts';
import { LOST, UpstreamRequestError, type UpstreamTransport } from '../upstreamClient.ts';
import type { BodyEnd } from './httpBody.ts';
import { isLeftToSdk } from './httpRedirect.ts';
import { HttpUpstreamAnswers } from './httpUpstreamAnswers.ts';
import { noMessageFailure, refusalFailure, refusedAnswer, thrownFailure } from './httpUpstreamFailure.ts';
import { HttpUpstreamRequests } from './httpUpstreamRequests.ts';

export interface HttpUpstreamOptions {
  url: string;
  /** Streamable HTTP, or the older HTTP+SSE (2024-11-05). */
  kind: 'http' | 'sse';
  auth: UpstreamAuth;
  oddities?: Oddities | undefined;
  /** Limit for the head of an answer that needs no work, and for the first event of a stream. */
  headTimeoutMs?: number;
  bodyLimit?: number;
}

const HEAD_TIMEOUT_MS = 20_000;
/** Limit of error answers to the server in flight at the same time. Each takes a connection. */
const MAX_REFUSALS_UNDER_WAY = 32;
const MAX_REFUSALS_WAITING = 1_024;
/** Time in which the SDK reads an answer after the end of its body. */
const READ_WAIT_MS = 100;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function httpUpstream(options: HttpUpstreamOptions): UpstreamTransport {
  return new HttpUpstream(options);
}

/**
 * Extends the SDK's client transports: limits for each phase and for the size of an answer, an immediate failure of a
 * request with a cut answer, and a report of a lost server. Both transports follow redirects within the origin only.
 */
class HttpUpstream implements EraTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #kind: 'http' | 'sse';
  readonly #oddities: Oddities;
  readonly #headTimeoutMs: number;
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  readonly #open = new OpenRequests();
  readonly #requests: HttpUpstreamRequests;
  readonly #answers: HttpUpstreamAnswers;
  #startFailure: UpstreamRequestError | undefined;
  #started = false;
  #closed = false;
  #refusing = 0;
  readonly #refusals: (() => void)[] = [];
  /** Headers of requests of revision 2026-07-28, for a server that speaks it. */
  #modern: ModernHeaders | undefined;
  /** Consecutive failed attempts to open a stream, by the event from which to resume; `''` is the listening stream. */
  readonly #failures = new Map<string, number>();
  /** The listening stream is open, or the server has none. */
  #listens = false;

  constructor(options: HttpUpstreamOptions) {
    const { kind, auth, oddities = new Oddities(), bodyLimit = MAX_FRAME_BYTES } = options;
    const { headTimeoutMs = HEAD_TIMEOUT_MS } = options;
    this.#kind = kind;
    this.#oddities = oddities;
    this.#headTimeoutMs = headTimeoutMs;
    const open = this.#open;
    const onBroken = (failure: UpstreamRequestError): void => {
      if (!this.#started) this.#startFailure = failure;
    };
    this.#requests = new HttpUpstreamRequests({ auth, headTimeoutMs, open, onBroken });
    const reply = (message: JSONRPCMessage): void => void this.#answer(message).catch(() => undefined);
    this.#answers = new HttpUpstreamAnswers({ bodyLimit, oddities, open, reply });
    const url = new URL(options.url);
    const fetch: Fetch = (target, init) => this.#fetch(target, init);
    this.#inner =
      kind === 'sse'
        ? new SSEClientTransport(url, { fetch })
        : new StreamableHTTPClientTransport(url, { fetch, reconnectionOptions: RECONNECTION });
    this.#inner.onmessage = (message) => this.#onMessage(message);
    this.#inner.onerror = (error) => this.#onError(error);
    this.#inner.onclose = () => this.#onClose();
  }

  get sessionId(): string | undefined {
    return this.#inner instanceof StreamableHTTPClientTransport ? this.#inner.sessionId : undefined;
  }

  setProtocolVersion(version: string): void {
    this.#answers.version = version;
    this.#inner.setProtocolVersion(version);
  }

  speakModern(headers: ModernHeaders | undefined): void {
    this.#modern = headers;
  }

  async start(): Promise<void> {
    const limit = this.#headTimeoutMs;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new UpstreamRequestError('timeout', `it opened no stream within ${limit / 1000} s`);
      timer = setTimeout(() => reject(error), limit);
    });
    try {
      await Promise.race([this.#inner.start(), late]);
      this.#started = true;
    } catch (error) {
      await this.#inner.close();
      throw this.#startFailure ?? thrownFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!('method' in message)) return this.#answer(message);
    const id = 'id' in message ? message.id : undefined;
    if (id !== undefined) this.#open.add(id, message.method);
    try {
      // In revision 2026-07-28 the end of the exchange cancels a request, and clients send no notification.
      if (id !== undefined || !this.#modern) await this.#inner.send(message);
    } catch (error) {
      if (id !== undefined) this.#open.settle(id);
      throw thrownFailure(error);
    } finally {
      if (message.method === 'notifications/cancelled') {
        // The server knows, or does not listen: ignore the rest of the answer.
        const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
        if (requestId !== undefined) this.#open.abort(requestId);
      }
    }
  }

  async #answer(message: JSONRPCMessage): Promise<void> {
    try {
      await ('error' in message ? this.#refuse(message) : this.#inner.send(message));
    } catch (error) {
      throw thrownFailure(error);
    }
  }

  /** Rejects a request of the server. A server that asks without end and does not read gets no endless rejections. */
  async #refuse(message: JSONRPCMessage): Promise<void> {
    if (this.#refusing < MAX_REFUSALS_UNDER_WAY) this.#refusing += 1;
    else if (this.#refusals.length < MAX_REFUSALS_WAITING) await new Promise<void>((go) => this.#refusals.push(go));
    else {
      this.#oddities.add('write_refused');
      throw new UpstreamRequestError('busy', `${MAX_REFUSALS_WAITING} rejections are already waiting`);
    }
    try {
      await this.#inner.send(message);
    } finally {
      const next = this.#refusals.shift();
      if (next) next();
      else this.#refusing -= 1;
    }
  }

  /** Also ends the session, so that the server need not wait for its own time limit. */
  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#inner instanceof StreamableHTTPClientTransport && this.#inner.sessionId !== undefined) {
      const patience = new Promise((resolve) => setTimeout(resolve, 500).unref());
      await Promise.race([this.#inner.terminateSession().catch(() => undefined), patience]);
    }
    await this.#inner.close();
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const isPost = init.method === 'POST';
    if (this.#kind === 'http' && init.method === 'GET') return this.#openStream(url, init);
    const id = idOf(init.body);
    const modern = id === undefined ? undefined : this.#modern?.(id);
    let response = await this.#requests.send(url, modern ? withHeaders(init, modern) : init, id);
    if (modern && id !== undefined && !response.ok) response = await refusedAnswer(response, id);
    if (isLeftToSdk(response, url)) return response;
    if (!response.ok && (isPost || (this.#kind === 'sse' && !this.#started))) {
      const failure = await refusalFailure(response, url, () => this.sessionId !== undefined);
      if (!isPost) this.#startFailure = failure;
      throw failure;
    }
    // Over HTTP+SSE the answer comes on the other stream.
    const answers = this.#kind === 'http' ? id : undefined;
    const failure = answers === undefined ? undefined : await noMessageFailure(response);
    if (failure) throw failure;
    const onEnd = (end: BodyEnd): void => {
      if (answers !== undefined) setTimeout(() => this.#lose(answers, end), READ_WAIT_MS);
    };
    return this.#answers.read(response, answers, onEnd);
  }

  /**
   * Opens a stream for the SDK. Closes the connection after the SDK's last attempt to resume a stream, because the SDK
   * gives up without a typed error.
   */
  async #openStream(url: string | URL, init: RequestInit): Promise<Response> {
    const event = new Headers(init.headers).get('last-event-id') ?? '';
    let response: Response | undefined;
    try {
      response = await this.#listen(url, init);
      return response;
    } finally {
      if (response?.ok || response?.status === METHOD_NOT_ALLOWED) this.#failures.delete(event);
      else if (!response || !isLeftToSdk(response, url)) {
        const failures = (this.#failures.get(event) ?? 0) + 1;
        this.#failures.set(event, failures);
        if (failures >= RECONNECTION.maxRetries) void this.#inner.close();
      }
    }
  }

  /**
   * Serves the SDK's GET: the listening stream, or the rest of an answer. The SDK also requests the rest of a finished
   * call, and gives up the connection if that fails. A failure must affect that call only.
   */
  #listen(url: string | URL, init: RequestInit): Promise<Response> {
    const event = new Headers(init.headers).get('last-event-id');
    const asked = event === null ? undefined : this.#answers.askedWith(event);
    if (asked !== undefined) return this.#resume(url, init, asked);
    // A GET without an event, while the listening stream is open, is a resume whose event the SDK has lost.
    return event === null && this.#listens ? Promise.resolve(nothingThere()) : this.#justListen(url, init);
  }

  async #justListen(url: string | URL, init: RequestInit): Promise<Response> {
    this.#listens = true;
    let response: Response | undefined;
    try {
      response = await this.#requests.send(url, init, undefined);
    } finally {
      this.#listens = response?.ok === true || response?.status === METHOD_NOT_ALLOWED;
    }
    if (!response.ok) return response;
    return this.#answers.read(response, undefined, () => {
      this.#listens = false;
    });
  }

  async #resume(url: string | URL, init: RequestInit, asked: RequestId): Promise<Response> {
    const wanted = this.#open.signalOf(asked);
    if (!wanted) return nothingThere();
    const signal = init.signal ? AbortSignal.any([init.signal, wanted]) : wanted;
    const response = await this.#requests.send(url, { ...init, signal }, undefined).catch((error: unknown) => {
      // The request has ended, or the server resumes without sending anything: another attempt is not worth the
      // connection.
      if (wanted.aborted || (error as UpstreamRequestError).failure === 'timeout') return nothingThere();
      throw error;
    });
    if (isLeftToSdk(response, url)) return response;
    if (!response.ok) {
      await response.body?.cancel();
      this.#lose(asked);
      return nothingThere();
    }
    return this.#answers.read(response, asked, (end) => {
      // The end of a rest without the answer is one more interruption.
      setTimeout(() => this.#lose(asked, end === 'whole' ? 'cut' : end), READ_WAIT_MS);
    });
  }

  #onMessage(message: JSONRPCMessage): void {
    // Before that revision all messages share one stream.
    if (this.#kind === 'http' && 'method' in message) relateToSender(message);
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#open.settle(message.id);
    this.onmessage?.(message);
  }

  #onError(error: Error): void {
    this.onerror?.(error);
    if (!this.#started || this.#closed) return;
    // The SDK would open another stream, unknown to the server's session.
    if (this.#kind === 'sse' && !(error instanceof UpstreamRequestError)) void this.#inner.close();
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#open.clear();
    this.onclose?.();
  }

  /** Fails a request that can get no answer any more: its body has ended, or it cannot be resumed. */
  #lose(id: RequestId, end: BodyEnd = 'cut'): void {
    if (!this.#open.settle(id)) return;
    if (end === 'whole' || (end !== 'cut' && end.frame)) {
      const [fault, words] =
        end === 'whole'
          ? (['malformed_response', 'a body that ended without an answer to the request'] as const)
          : [end.frame as FrameFault, end.message];
      this.onmessage?.(faultResponse(id, fault, words));
      return;
    }
    const message = end === 'cut' ? 'the connection broke off before the answer was complete' : end.message;
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: CONNECTION_CLOSED, message, data: LOST } });
  }
}

const METHOD_NOT_ALLOWED = 405;

const RECONNECTION = {
  initialReconnectionDelay: 1_000,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 1.5,
  maxRetries: 2,
};

/** Answer to a GET that stops the SDK from trying again. */
function nothingThere(): Response {
  return new Response(null, { status: METHOD_NOT_ALLOWED });
}

function withHeaders(init: RequestInit, more: Readonly<Record<string, string>>): RequestInit {
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(more)) headers.set(name, value);
  return { ...init, headers };
}

function idOf(body: unknown): RequestId | undefined {
  if (typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? undefined : id;
}
