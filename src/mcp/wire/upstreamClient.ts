import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { ProgressCallback } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  type ClientCapabilities,
  McpError,
  ErrorCode as McpErrorCode,
  ResultSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { VERSION } from '../../lib/build.ts';
import { type FrameFault, frameFaultOf } from '../../link/frameFault.ts';
import { oneLine } from '../../text/porcelain.ts';
import { lazyValidator } from '../lazyValidator.ts';
import { originOf, sendFor } from './callOrigin.ts';
import { listPages, type PagedList } from './listPages.ts';
import { EraFinder, type KnownEra, type Opening } from './modern/eraFinder.ts';
import type { RpcError } from './modern/eras.ts';
import { Oddities } from './oddities.ts';
import { Answered, UpstreamGuard } from './upstreamGuard.ts';

/** Transport of messages to a server and back. Created in this room only; opaque to others. */
export type UpstreamTransport = Transport;

/** Kind of a failed request to a server, independent of the SDK's error classes. */
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
  answered: RpcError | undefined;
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

/**
 * Client of one MCP server. Returns results unchanged: one bad tool must not cost the list, and `results/` judges the
 * rest.
 */
export class UpstreamClient {
  readonly #client: Client;
  readonly #oddities: Oddities;
  readonly #options: UpstreamClientOptions;
  #guarded: UpstreamGuard | undefined;
  #closed = false;

  constructor(options: UpstreamClientOptions = {}) {
    const { capabilities = {}, oddities = new Oddities(), onNotification, onRequest } = options;
    this.#oddities = oddities;
    this.#options = options;
    this.#client = new Client(
      { name: 'waygate', version: VERSION },
      { capabilities: capabilities as ClientCapabilities, jsonSchemaValidator: lazyValidator() },
    );
    // Bypass the SDK's schemas to pass on notifications unchanged.
    this.#client.fallbackNotificationHandler = async (message) => {
      const { method, params = {} } = message;
      onNotification?.({ method, params, origin: originOf(message) });
    };
    this.#client.fallbackRequestHandler = async (message, { signal }) => {
      const { method, params = {} } = message;
      const answer = onRequest?.({ method, params, origin: originOf(message) }, signal);
      if (!answer) throw new McpError(McpErrorCode.MethodNotFound, `Method not found: ${method}`);
      return answer;
    };
  }

  /** Greets the server over a transport. Calls `onClose` when the transport ends. */
  async connect(
    transport: UpstreamTransport,
    events: { onClose: () => void },
    timeoutMs: number,
    opening: Opening = 'only_initialize',
  ): Promise<void> {
    this.#client.onclose = () => {
      this.#closed = true;
      events.onClose();
    };
    const { era, capabilitiesOf, onQuestions } = this.#options;
    const finder = era && new EraFinder(era, opening, { oddities: this.#oddities, capabilitiesOf, onQuestions });
    const guarded = new UpstreamGuard(transport, this.#oddities, finder);
    this.#guarded = guarded;
    try {
      await sendFor(undefined, () => this.#client.connect(guarded, { timeout: timeoutMs }));
      finder?.greeted(guarded.offeredVersion ?? '');
    } catch (error) {
      const { offeredVersion: version } = guarded;
      if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) throw toUpstreamError(error);
      throw new UpstreamRequestError('version', version);
    }
  }

  /** Time of the server's last message, by `performance.now()`. */
  get heardAt(): number {
    return this.#guarded?.heardAt ?? Number.NEGATIVE_INFINITY;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get instructions(): string | undefined {
    return this.#client.getInstructions();
  }

  /** Name and version that the server gives itself; undefined before it has answered, or without either. */
  get implementation(): { name: string; version: string } | undefined {
    const { name = '', version = '' } = this.#client.getServerVersion() ?? {};
    return name === '' && version === '' ? undefined : { name, version };
  }

  /** Capabilities of the server. */
  get capabilities(): Readonly<Record<string, unknown>> {
    return this.#client.getServerCapabilities() ?? {};
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
  request(method: string, params: Record<string, unknown>, options: CallOptions): Promise<Record<string, unknown>> {
    const { timeoutMs, signal, onProgress, origin, meta, task } = options;
    const asked = task ? { ...params, task } : params;
    return this.#guard(() =>
      sendFor(origin, () =>
        this.#client.request({ method, params: withMeta(asked, meta) }, ResultSchema, {
          timeout: timeoutMs,
          ...(signal ? { signal } : {}),
          // For a task the SDK would keep the progress handler forever.
          ...(onProgress && !task ? progressOptions(onProgress, timeoutMs) : {}),
        }),
      ),
    );
  }

  async notify(method: string, params: Record<string, unknown> = {}): Promise<void> {
    await this.#guard(() => this.#client.notification({ method, params }));
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => undefined);
  }

  async #guard<T>(run: () => Promise<T>): Promise<T> {
    if (!this.#client.transport) throw new UpstreamRequestError('closed', 'the connection is closed');
    try {
      return await run();
    } catch (error) {
      throw toUpstreamError(error);
    }
  }
}

/** Replaces the client's progress token with the SDK's, because several clients share the server. */
function withMeta(
  params: Record<string, unknown>,
  meta: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  const { progressToken: _token, ...sent } = meta ?? {};
  return Object.keys(sent).length === 0 ? params : { ...params, _meta: sent };
}

type OnProgress = NonNullable<CallOptions['onProgress']>;

function progressOptions(onProgress: OnProgress, timeoutMs: number) {
  const onprogress: ProgressCallback = ({ progress, total, message }) =>
    onProgress({
      progress: Number(progress),
      ...(typeof total === 'number' ? { total } : {}),
      ...(typeof message === 'string' ? { message: oneLine(message) } : {}),
    });
  return { onprogress, resetTimeoutOnProgress: true, maxTotalTimeout: Math.max(MAX_CALL_MS, timeoutMs) };
}

/** Prefix that the SDK puts before the server's own words. */
const SDK_PREFIX = /^MCP error -?\d+: /;

/**
 * Converts an error. The SDK uses codes for a loss and a timeout that servers use too; an answered error is neither.
 */
function toUpstreamError(error: unknown): UpstreamRequestError {
  if (error instanceof UpstreamRequestError) return error;
  const words = (error instanceof Error ? error.message : String(error)).replace(SDK_PREFIX, '');
  if (error instanceof McpError) {
    const { code, data } = error;
    if (data instanceof Answered) return answeredError(words, code, data.data);
    // A cancelled request has the same code, and no data.
    if (code === McpErrorCode.RequestTimeout && data !== undefined) {
      const { timeout: timeoutMs } = data as { timeout?: number };
      return Object.assign(new UpstreamRequestError('timeout', words), { timeoutMs });
    }
    if (code === McpErrorCode.ConnectionClosed) return new UpstreamRequestError('closed', words);
    return new UpstreamRequestError('error', words, code, undefined, data);
  }
  if (error instanceof Error && error.name === 'AbortError') return new UpstreamRequestError('aborted', words);
  return new UpstreamRequestError('protocol', words);
}

/** Converts an error answer. A transport of ours has put `LOST` and frame faults in place of answers. */
function answeredError(words: string, code: number, data: unknown): UpstreamRequestError {
  if (data instanceof UpstreamRequestError) return data;
  if (data === LOST) return new UpstreamRequestError('closed', words);
  const fault = frameFaultOf(data);
  if (fault) return Object.assign(new UpstreamRequestError('protocol', words), { frame: fault });
  return new UpstreamRequestError('error', words, code, undefined, data);
}
