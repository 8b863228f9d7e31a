import { setTimeout as sleep } from 'node:timers/promises';
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { oneLine } from '../ops/porcelain.ts';
import { CONNECTION_CLOSED } from '../ops/rpcCodes.ts';
import { relateToSender } from './callOrigin.ts';
import { faultResponse } from './frameFault.ts';
import { boundedBody } from './httpBody.ts';
import { judgedBody } from './httpFrames.ts';
import { MAX_FRAME_BYTES } from './lineFraming.ts';
import { BATCH_VERSION } from './mcpVersions.ts';
import { Oddities } from './oddities.ts';
import { UnaskedAllowance } from './unaskedAllowance.ts';
import type { UpstreamAuth } from './upstreamAuth.ts';
import { LOST, UpstreamRequestError, type UpstreamTransport } from './upstreamClient.ts';
import { readUpstreamFrame } from './upstreamFrames.ts';

export interface HttpUpstreamOptions {
  url: string;
  /** Streamable HTTP, or the HTTP+SSE that came before it (2024-11-05). */
  kind: 'http' | 'sse';
  auth: UpstreamAuth;
  oddities?: Oddities | undefined;
  /** How long a server may take to the head of an answer that needs no work, and to the first event of a stream. */
  headTimeoutMs?: number;
  bodyLimit?: number;
}

/** A request's own time limit ends it earlier; this frees what a server holds open for ever. */
const MAX_REQUEST_MS = 10 * 60_000;
const HEAD_TIMEOUT_MS = 20_000;
/** Between the end of an answer's body and its being read. */
const READ_WAIT_MS = 100;
const LONGEST_HOLD_MS = 100;
/** So much of an error is told; whoever shows less of it masks what is secret first: half a secret is one still. */
const MAX_ERROR_CHARS = 8_000;
/** What undici and the system say when nothing was sent yet. */
const UNSENT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

type RequestId = string | number;
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function httpUpstream(options: HttpUpstreamOptions): UpstreamTransport {
  return new HttpUpstream(options);
}

/**
 * The SDK's client transports with what they leave out: limits for each phase and for the size of an answer, a request
 * whose answer is cut off fails at once, and a server that is gone is told. Both follow redirects within the origin only.
 */
class HttpUpstream implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: HttpUpstreamOptions;
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  /** Requests without an answer yet, with what ends their exchange. */
  readonly #pending = new Map<RequestId, AbortController>();
  /** The lists that are asked for, of which a part is better than nothing. */
  readonly #lists = new Set<RequestId>();
  readonly #oddities: Oddities;
  readonly #unasked = new UnaskedAllowance();
  #version: string | undefined;
  #startFailure: UpstreamRequestError | undefined;
  #started = false;
  #closed = false;

  constructor(options: HttpUpstreamOptions) {
    this.#options = options;
    this.#oddities = options.oddities ?? new Oddities();
    const url = new URL(options.url);
    const fetch: Fetch = (target, init) => this.#fetch(target, init);
    this.#inner =
      options.kind === 'sse'
        ? new SSEClientTransport(url, { fetch })
        : new StreamableHTTPClientTransport(url, { fetch });
    this.#inner.onmessage = (message) => this.#onMessage(message);
    this.#inner.onerror = (error) => this.#onError(error);
    this.#inner.onclose = () => this.#onClose();
  }

  get sessionId(): string | undefined {
    return this.#inner instanceof StreamableHTTPClientTransport ? this.#inner.sessionId : undefined;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    const limit = this.#headTimeout();
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
      throw this.#startFailure ?? toFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined) this.#pending.set(id, new AbortController());
    if (id !== undefined && 'method' in message && message.method.endsWith('/list')) this.#lists.add(id);
    try {
      await this.#inner.send(message);
    } catch (error) {
      if (id !== undefined) this.#pending.delete(id);
      throw toFailure(error);
    }
    if ('method' in message && message.method === 'notifications/cancelled') {
      // It has been told; what it still sends is for nobody.
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId !== undefined) this.#settle(requestId)?.abort();
    }
  }

  /** Ends the session too, for a server that has one: it need not wait for its own time limit. */
  async close(): Promise<void> {
    if (this.#closed) return;
    if (this.#inner instanceof StreamableHTTPClientTransport && this.#inner.sessionId !== undefined) {
      const patience = new Promise((resolve) => setTimeout(resolve, 500).unref());
      await Promise.race([this.#inner.terminateSession().catch(() => undefined), patience]);
    }
    await this.#inner.close();
  }

  async #fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const id = idOf(init.body);
    const response = await this.#request(url, init, id);
    const isPost = init.method === 'POST';
    if (isRedirect(response) && staysOnHost(response, url)) return response;
    if (!response.ok && (isPost || (this.#options.kind === 'sse' && !this.#started))) {
      const failure = await this.#refusal(response, url);
      if (!isPost) this.#startFailure = failure;
      throw failure;
    }
    if (!response.body) return response;
    const limit = this.#options.bodyLimit ?? MAX_FRAME_BYTES;
    const { body, resumable } = boundedBody(response.body, response.headers.get('content-type') ?? '', limit, () => {
      // Over HTTP+SSE the answer comes on the other stream.
      if (id !== undefined && this.#options.kind === 'http' && !resumable())
        setTimeout(() => this.#lose(id), READ_WAIT_MS);
    });
    const type = response.headers.get('content-type') ?? '';
    const judged = judgedBody(
      body,
      type,
      (frame) => this.#judge(frame, id),
      () => this.#hold(),
    );
    return new Response(judged, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  }

  /** What is wrong with a frame of an answer fails the call it answers, at once. */
  #judge(frame: Buffer, asked: RequestId | undefined): readonly object[] | undefined {
    const { messages, replies, isGarbage, isAltered } = readUpstreamFrame(frame, {
      oddities: this.#oddities,
      allowsBatches: this.#version === BATCH_VERSION,
      isList: (id) => this.#lists.has(id),
    });
    if (messages.every((message) => 'method' in message)) this.#unasked.spend(frame.length, 'message');
    for (const reply of replies) void this.#inner.send(JSON.parse(reply) as JSONRPCMessage).catch(() => undefined);
    if (isGarbage && asked !== undefined && this.#pending.has(asked) && messages.length === 0) {
      return [faultResponse(asked, 'malformed_response', 'an answer that is no message of MCP')];
    }
    return isAltered ? messages : undefined;
  }

  /** One that says too much by itself is read more slowly. */
  #hold(): Promise<void> | undefined {
    const { waitMs } = this.#unasked;
    if (waitMs === 0) return undefined;
    this.#oddities.add('throttled');
    return sleep(Math.min(waitMs, LONGEST_HOLD_MS));
  }

  async #request(url: string | URL, init: RequestInit, id: RequestId | undefined): Promise<Response> {
    for (let attempt = 0; ; attempt++) {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(await this.#options.auth.headers(new URL(url))))
        headers.set(name, value);
      const response = await this.#timed(url, { ...init, headers }, id);
      const { status } = response;
      if (status !== 401 && status !== 403) return response;
      const tryAgain = await this.#options.auth.onChallenge({
        status,
        wwwAuthenticate: response.headers.get('www-authenticate') ?? undefined,
        refused: headers.get('authorization') ?? undefined,
        again: attempt > 0,
      });
      if (!tryAgain || attempt > 0) return response;
      await response.body?.cancel();
    }
  }

  /** An answer that needs work may take as long as its call; all else has to begin soon. */
  async #timed(url: string | URL, init: RequestInit, id: RequestId | undefined): Promise<Response> {
    const works = id !== undefined && !String(init.body).includes('"method":"initialize"');
    const limit = works ? MAX_REQUEST_MS : this.#headTimeout();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limit);
    const own = id === undefined ? undefined : this.#pending.get(id)?.signal;
    const signals = [late.signal, own, init.signal].filter((signal) => signal !== undefined && signal !== null);
    try {
      return await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    } catch (error) {
      if (late.signal.aborted) {
        throw new UpstreamRequestError('timeout', `it sent no head of an answer within ${limit / 1000} s`);
      }
      const failure = toFailure(error);
      if (!this.#started) this.#startFailure = failure;
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }

  async #refusal(response: Response, url: string | URL): Promise<UpstreamRequestError> {
    const { status } = response;
    const location = isRedirect(response) ? response.headers.get('location') : null;
    const said = location === null ? await shortText(response) : '';
    const words = `HTTP ${status}${location === null ? '' : `, a redirect to ${whereTo(location, url)}, which is not followed`}${said && `: ${said}`}`;
    // Or by a token that does not reach far enough (RFC 6750 §3.1).
    if (status === 401 || (status === 403 && extractWWWAuthenticateParams(response).error === 'insufficient_scope'))
      return new UpstreamRequestError('unauthorized', words, status);
    // A session that the server no longer knows: it has done nothing with the request (MCP, Session Management).
    const forgotten = status === 404 || (status === 400 && /session/i.test(said));
    if (forgotten && this.sessionId !== undefined) return new UpstreamRequestError('unsent', words, status);
    return new UpstreamRequestError('error', words, status, retryAfterSeconds(response));
  }

  #onMessage(message: JSONRPCMessage): void {
    // Before that revision all messages come on one stream.
    if (this.#options.kind === 'http' && 'method' in message) relateToSender(message);
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#settle(message.id);
    this.onmessage?.(message);
  }

  #onError(error: Error): void {
    this.onerror?.(error);
    if (!this.#started || this.#closed) return;
    // The SDK has given up on the stream; the one before it would open another, unknown to the server's session.
    const over =
      this.#options.kind === 'sse'
        ? !(error instanceof UpstreamRequestError)
        : /^Maximum reconnection/.test(error.message);
    if (over) void this.#inner.close();
  }

  #onClose(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending.clear();
    this.onclose?.();
  }

  #settle(id: RequestId): AbortController | undefined {
    const exchange = this.#pending.get(id);
    this.#pending.delete(id);
    this.#lists.delete(id);
    return exchange;
  }

  /** Its answer will not come any more. */
  #lose(id: RequestId): void {
    if (!this.#settle(id)) return;
    const error = {
      code: CONNECTION_CLOSED,
      message: 'the connection broke off before the answer was whole',
      data: LOST,
    };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  #headTimeout(): number {
    return this.#options.headTimeoutMs ?? HEAD_TIMEOUT_MS;
  }
}

function idOf(body: unknown): RequestId | undefined {
  if (typeof body !== 'string') return undefined;
  const { id, method } = JSON.parse(body) as { id?: RequestId; method?: string };
  return method === undefined ? undefined : id;
}

function toFailure(error: unknown): UpstreamRequestError {
  if (error instanceof UpstreamRequestError) return error;
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const code = cause?.code ?? (error as { code?: unknown }).code;
  const words = oneLine(`${message ?? String(error)}${cause?.message ? `: ${cause.message}` : ''}`, MAX_ERROR_CHARS);
  if (typeof code === 'number' && code > 0) return new UpstreamRequestError('error', words, code);
  if (typeof code === 'string' && UNSENT_CODES.has(code)) return new UpstreamRequestError('unsent', words);
  return new UpstreamRequestError('closed', words);
}

function isRedirect({ status }: Response): boolean {
  return status >= 300 && status < 400;
}

/** Seconds or a date (RFC 9110 §10.2.3). */
function retryAfterSeconds({ headers }: Response): number | undefined {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/** The SDK follows what stays within the origin, and nothing else. */
function staysOnHost(response: Response, url: string | URL): boolean {
  const location = response.headers.get('location');
  try {
    return location !== null && new URL(location, url).hostname === new URL(url).hostname;
  } catch {
    return false;
  }
}

/** Never its query: that is where secrets stand. */
function whereTo(location: string, base: string | URL): string {
  try {
    const { origin, pathname } = new URL(location, base);
    return `${origin}${pathname}`;
  } catch {
    return 'somewhere else';
  }
}

async function shortText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const first = await reader?.read().catch(() => undefined);
  void reader?.cancel().catch(() => undefined);
  return oneLine(Buffer.from(first?.value ?? []).toString('utf8'), MAX_ERROR_CHARS);
}
