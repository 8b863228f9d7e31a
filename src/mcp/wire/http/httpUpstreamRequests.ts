import type { RequestId } from '../../../link/frames.ts';
import type { OpenRequests } from '../../session/openRequests.ts';
import type { UpstreamAuth } from '../upstreamAuth.ts';
import { UpstreamRequestError } from '../upstreamClient.ts';
import { thrownFailure } from './httpUpstreamFailure.ts';

export interface HttpUpstreamRequestsOptions {
  auth: UpstreamAuth;
  /** Limit for the head of an answer that needs no work. */
  headTimeoutMs: number;
  open: OpenRequests;
  /** The server is unreachable or broke off; a late server is neither. */
  onBroken: (failure: UpstreamRequestError) => void;
}

/** Frees a response that a server keeps open for ever; the request's own limit ends first. */
const MAX_REQUEST_MS = 10 * 60_000;

/** Sends requests to a server over HTTP, up to the head of their answers: with authorisation and a time limit. */
export class HttpUpstreamRequests {
  readonly #options: HttpUpstreamRequestsOptions;

  constructor(options: HttpUpstreamRequestsOptions) {
    this.#options = options;
  }

  /** `id`: id of the request in the message; `undefined` for other messages. */
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

  /** An answer that needs work may take as long as its call; any other must begin soon. */
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
        throw new UpstreamRequestError('timeout', `it sent no response head within ${limit / 1000} s`);
      }
      const failure = thrownFailure(error);
      onBroken(failure);
      throw failure;
    } finally {
      clearTimeout(timer);
    }
  }
}
