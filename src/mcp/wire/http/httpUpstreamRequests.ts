import type { RequestId } from '../../../link/frames.ts';
import type { OpenRequests } from '../../session/openRequests.ts';
import type { UpstreamAuth } from '../upstreamAuth.ts';
import { UpstreamRequestError } from '../upstreamClient.ts';
import { thrownFailure } from './httpUpstreamFailure.ts';

export interface HttpUpstreamRequestsOptions {
  auth: UpstreamAuth;
  /** How long a server may take to the head of an answer that needs no work. */
  headTimeoutMs: number;
  open: OpenRequests;
  /** The server could not be reached, or it broke off; one that is late is there. */
  onBroken: (failure: UpstreamRequestError) => void;
}

/** A request's own time limit ends it earlier; this frees what a server holds open for ever. */
const MAX_REQUEST_MS = 10 * 60_000;

/** Requests to a server over HTTP as far as the head of their answers: with what lets us in, and a time limit. */
export class HttpUpstreamRequests {
  readonly #options: HttpUpstreamRequestsOptions;

  constructor(options: HttpUpstreamRequestsOptions) {
    this.#options = options;
  }

  /** `id` is that of the message in it, where that asks for an answer. */
  async send(url: string | URL, init: RequestInit, id: RequestId | undefined): Promise<Response> {
    const { auth } = this.#options;
    for (let attempt = 0; ; attempt++) {
      const headers = new Headers(init.headers);
      for (const [name, value] of Object.entries(await auth.headers(new URL(url)))) headers.set(name, value);
      const response = await this.#timed(url, { ...init, headers }, id);
      const { status } = response;
      if (status !== 401 && status !== 403) return response;
      const tryAgain = await auth.onChallenge({
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
    const { headTimeoutMs, open, onBroken } = this.#options;
    const limit = id !== undefined && open.needsWork(id) ? MAX_REQUEST_MS : headTimeoutMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limit);
    const own = id === undefined ? undefined : open.signalOf(id);
    const signals = [late.signal, own, init.signal].filter((signal) => signal !== undefined && signal !== null);
    try {
      return await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    } catch (error) {
      if (late.signal.aborted) {
        throw new UpstreamRequestError('timeout', `it sent no head of an answer within ${limit / 1000} s`);
      }
      const failure = thrownFailure(error);
      onBroken(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }
}
