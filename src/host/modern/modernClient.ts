import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { errorResponse, type JsonRpcMessage } from '../../link/frames.ts';
import { completeResult } from '../../mcp/modern/dressing.ts';
import { type Envelope, isProblem, readEnvelope } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { DISCOVER, LISTEN, MODERN_VERSIONS, SHARED_METHODS } from '../../mcp/modern/wire.ts';
import type { ModernOptions } from './modernOptions.ts';
import { ModernSession } from './modernSession.ts';

/** Time for which a client may keep the answer to `server/discover`, which changes with the build and the mode only. */
const DISCOVER_TTL_MS = 60 * 60_000;

/**
 * Serves a client of revision 2026-07-28. Answers `server/discover` itself; the first other request opens the legacy
 * session that answers all of them.
 */
export class ModernClient {
  readonly #options: ModernOptions;
  readonly #principal: string;
  readonly #drained: () => Promise<void> | undefined;
  #session: ModernSession | undefined;
  #usedAt = performance.now();

  constructor(options: ModernOptions, principal: string, drained: () => Promise<void> | undefined) {
    this.#options = options;
    this.#principal = principal;
    this.#drained = drained;
  }

  /** Whether a request other than `server/discover` came. */
  get begun(): boolean {
    return this.#session !== undefined;
  }

  /** Time without any open request, call or subscription. */
  get idleMs(): number {
    return this.#session?.size ? 0 : performance.now() - this.#usedAt;
  }

  /** Serves a request. */
  request(message: JsonRpcMessage, exchange: Exchange): void {
    this.#usedAt = performance.now();
    try {
      this.#serve(message, exchange);
    } catch (error) {
      // Parameters can nest deeper than they can be written again.
      const text = `Invalid params: the request cannot be passed on: ${(error as Error).message}.`;
      exchange.answer(errorResponse(exchange.id, INVALID_PARAMS, text), INVALID_PARAMS);
    }
  }

  #serve(message: JsonRpcMessage, exchange: Exchange): void {
    const { method = '', params = {} } = message;
    const envelope = readEnvelope(message);
    if (isProblem(envelope)) {
      const { code, message: text, data } = envelope;
      exchange.answer(errorResponse(exchange.id, code, text, data), code);
    } else if (method === DISCOVER) void this.#discover(envelope, exchange);
    else {
      const { _meta, ...plain } = params;
      if (method === LISTEN) this.#sessionOf(envelope).listen(plain, exchange);
      else if (SHARED_METHODS.has(method))
        this.#sessionOf(envelope).request({ method, params: plain, envelope }, exchange);
      else
        exchange.answer(errorResponse(exchange.id, METHOD_NOT_FOUND, `Method not found: ${method}`), METHOD_NOT_FOUND);
    }
  }

  /** The client cancelled a request, or its connection has closed. */
  cancel(exchange: Exchange): void {
    this.#session?.cancel(exchange);
  }

  /** Resolves when the session has read what it got; `undefined` if it has. */
  drained(): Promise<void> | undefined {
    return this.#session?.drained();
  }

  /** Ends the session. Resolves to its exit code. */
  end(): Promise<number> {
    return this.#session?.end() ?? Promise.resolve(0);
  }

  async #discover(envelope: Envelope, exchange: Exchange): Promise<void> {
    const { introduction: known, kept, serverInfo } = this.#options;
    // In passthrough mode the servers make the introduction, which the worker knows.
    const shown = known ?? (this.#session ? undefined : kept?.read());
    const introduction = shown ?? (await this.#sessionOf(envelope).introduction());
    if (!introduction) {
      const message = 'The servers are not known: Waygate’s worker is unavailable. Try again.';
      exchange.answer(errorResponse(exchange.id, INTERNAL_ERROR, message), INTERNAL_ERROR);
      return;
    }
    const { capabilities, instructions } = introduction;
    const result = { supportedVersions: MODERN_VERSIONS, capabilities, ...(instructions ? { instructions } : {}) };
    const ttlMs = known ? DISCOVER_TTL_MS : 0;
    exchange.answer(
      completeResult(result, { id: exchange.id, method: DISCOVER, serverInfo, ttlMs, hidesHeaders: false }),
    );
  }

  #sessionOf(envelope: Envelope): ModernSession {
    this.#session ??= new ModernSession(this.#options, this.#principal, envelope, this.#drained);
    return this.#session;
  }
}
