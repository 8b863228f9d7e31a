import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { CONNECTION_CLOSED } from '../../../errors/rpcCodes.ts';
import { deferred } from '../../../lib/deferred.ts';
import { faultResponse, frameFaultOf } from '../../../link/frameFault.ts';
import { DISCOVER, MODERN_VERSION } from '../../modern/wire.ts';
import { currentOrigin, relate } from '../callOrigin.ts';
import type { Oddities } from '../oddities.ts';
import { LOST, type UpstreamClientOptions, UpstreamRequestError } from '../upstreamClient.ts';
import {
  asksForModern,
  discoverRequest,
  type Era,
  type EraTransport,
  offersModern,
  type Params,
  type RpcError,
  standardHeaders,
  supportedIn,
} from './eras.ts';

/** Verdict about a server's era, over its starts. */
export interface KnownEra {
  /** Era that an earlier start found, unless the server has to be asked again. */
  known: Era | undefined;
  /** `isSure`: the next start need not ask. */
  onFound(era: Era, version: string, isSure: boolean): void;
  /** The server does not speak the known era any more. */
  onDoubt(): void;
}

/**
 * First request to a server of an unknown era. `initialize` over stdio, because servers exit on any other request;
 * `discover` over HTTP, where a server may answer `initialize` although it prefers the newer revision. `only_initialize`
 * for transports that revision 2026-07-28 does not have.
 */
export type Opening = 'initialize' | 'discover' | 'only_initialize';

/** Client that requests of the newer revision come from. */
interface ClientOfEras {
  oddities: Oddities;
  capabilitiesOf: UpstreamClientOptions['capabilitiesOf'];
  onQuestions: UpstreamClientOptions['onQuestions'];
}

/** Limit of an answer to `server/discover`. A server that ignores the request gets `initialize`. */
const DISCOVER_MS = 5_000;
const DISCOVER_ID = 'waygate-discover';
/** HTTP statuses that say nothing about the era. */
const UNDECIDED: ReadonlySet<number | undefined> = new Set([401, 403, 408, 429]);

/** Finds out the era of a server at its start (M9.1, M9.2). Only a modern server loads the code for its requests. */
export class EraFinder {
  readonly #era: KnownEra;
  readonly #opening: Opening;
  readonly #client: ClientOfEras;
  #isModern = false;
  /** Whether the server itself has ruled out revision 2026-07-28 at this start. */
  #isRuledOut = false;
  #isSure = true;
  /** Refusal of `server/discover` that asks for a sign-in. */
  #signIn: UpstreamRequestError | undefined;

  constructor(era: KnownEra, opening: Opening, client: ClientOfEras) {
    this.#era = era;
    this.#opening = opening;
    this.#client = client;
  }

  get isModern(): boolean {
    return this.#isModern;
  }

  /** Returns the transport for `initialize`. */
  async open(inner: Transport, initialize: JSONRPCRequest): Promise<Transport> {
    const { known = this.#opening === 'discover' ? 'modern' : 'legacy' } = this.#era;
    if (known === 'legacy' || this.#opening === 'only_initialize') return inner;
    return (await this.#discover(inner, initialize.params ?? {})) ?? inner;
  }

  /** Returns whether to ask a server that has refused `initialize` for the newer revision. */
  isWorthAsking(error: RpcError): boolean {
    if (this.#opening === 'only_initialize' || this.#isRuledOut) return false;
    return this.#signIn !== undefined || asksForModern(error);
  }

  /** Returns the transport for `initialize` after a refusal, if the server speaks the newer revision. */
  async afterRefusal(inner: Transport, initialize: JSONRPCRequest, error: RpcError): Promise<Transport | undefined> {
    const supported = supportedIn(error);
    if (supported && !supported.includes(MODERN_VERSION)) {
      throw new UpstreamRequestError('version', supported.join(', ') || 'it names none');
    }
    const fit = this.#signIn ? undefined : await this.#discover(inner, initialize.params ?? {});
    if (this.#signIn) throw this.#signIn;
    return fit;
  }

  /** Notes the era of a server that has answered the greeting. */
  greeted(version: string): void {
    if (this.#isModern) this.#era.onFound('modern', MODERN_VERSION, true);
    else this.#era.onFound('legacy', version, this.#isSure);
  }

  async #discover(inner: Transport, initialize: Params): Promise<Transport | undefined> {
    const http = 'speakModern' in inner ? (inner as EraTransport) : undefined;
    http?.speakModern(() => standardHeaders(DISCOVER));
    const discovered = await this.#ask(inner, initialize);
    if (!discovered) {
      http?.speakModern(undefined);
      if (this.#era.known === 'modern' && this.#isSure) this.#era.onDoubt();
      return undefined;
    }
    this.#isModern = true;
    const { ModernUpstream } = await import('./modernUpstream.ts');
    return new ModernUpstream(inner, {
      http,
      initialize,
      discovered,
      origin: currentOrigin,
      capabilitiesOf: (origin) => origin && this.#client.capabilitiesOf?.(origin),
      onQuestions: this.#client.onQuestions,
      relate,
      isLost: ({ data }) => data === LOST || frameFaultOf(data) !== undefined,
      lost: (id, error) => ({ jsonrpc: '2.0', id, error: lostError(error) }),
      unusable: (id, message) => faultResponse(id, 'bad_result', message),
      onInvalidTools: (count) => this.#client.oddities.add('invalid_tool_header', count),
      onDoubt: () => this.#era.onDoubt(),
    });
  }

  /** Returns the result of `server/discover`, if it offers the newer revision. */
  async #ask(inner: Transport, initialize: Params): Promise<Params | undefined> {
    try {
      const request = discoverRequest(DISCOVER_ID, initialize);
      let answer = await exchange(inner, request);
      // A server that refuses the version and names it gets one more chance.
      const isOffered = answer && 'error' in answer && supportedIn(answer.error)?.includes(MODERN_VERSION);
      if (isOffered) answer = await exchange(inner, { ...request, id: `${DISCOVER_ID}-again` });
      if (answer && 'result' in answer && offersModern(answer.result)) return answer.result;
      this.#isRuledOut = answer !== undefined;
    } catch (error) {
      const { failure, status, retryAfterSeconds } = error as UpstreamRequestError;
      // `initialize` would meet the same.
      if (failure === 'unsent' || failure === 'gone' || retryAfterSeconds !== undefined) throw error;
      // Some servers want no sign-in for `initialize`.
      if (failure === 'unauthorized') this.#signIn = error as UpstreamRequestError;
      this.#isSure = status !== undefined && status < 500 && !UNDECIDED.has(status);
      this.#isRuledOut = this.#isSure;
    }
    return undefined;
  }
}

/** Sends a request before the conversation begins. Resolves to nothing if the server does not answer or ends. */
async function exchange(
  inner: Transport,
  request: JSONRPCRequest,
): Promise<Exclude<JSONRPCMessage, { method: string }> | undefined> {
  const { onmessage, onclose } = inner;
  const answered = deferred<Exclude<JSONRPCMessage, { method: string }> | undefined>();
  inner.onmessage = (message) => {
    if (!('method' in message) && message.id === request.id) answered.resolve(message);
    else onmessage?.(message);
  };
  inner.onclose = () => {
    answered.resolve(undefined);
    onclose?.();
  };
  const timer = setTimeout(() => {
    answered.resolve(undefined);
    // Ends the exchange over HTTP. Servers on stdio of the older revisions get no more than they know.
    const late = { jsonrpc: '2.0' as const, method: 'notifications/cancelled', params: { requestId: request.id } };
    if ('speakModern' in inner) void inner.send(late).catch(() => undefined);
  }, DISCOVER_MS);
  inner.send(request).catch(answered.reject);
  try {
    return await answered.promise;
  } finally {
    clearTimeout(timer);
    Object.assign(inner, { onmessage, onclose });
  }
}

/**
 * Makes the error of a request that was lost between two rounds. The server has begun with the call, so its outcome is
 * unknown; a refused sign-in stays one.
 */
function lostError(error: unknown): RpcError {
  const message = error instanceof Error ? error.message : String(error);
  const isRefused = error instanceof UpstreamRequestError && error.failure === 'unauthorized';
  return { code: CONNECTION_CLOSED, message, data: isRefused ? error : LOST };
}
