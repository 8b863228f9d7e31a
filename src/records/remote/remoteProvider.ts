import { setTimeout as pause } from 'node:timers/promises';
import { VERSION } from '../../lib/build.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { frameShape } from '../../mcp/wire/frameShape.ts';
import { ProviderError } from '../provider/providerError.ts';
import type { RecordAnswer, RecordProvider, RecordRequest } from '../provider/recordProvider.ts';
import { withoutToken } from './withoutToken.ts';

export interface RemoteLimits {
  /** Time limit of one attempt, with its body. */
  attemptMs: number;
  /** Time limit of a read, with its retries and the pauses between them. */
  readMs: number;
  attempts: number;
  /** Pause before the second attempt; each further pause doubles. */
  pauseMs: number;
  bodyBytes: number;
}

/** Longer than any page of 100 records should take, and shorter than the patience of most MCP clients (60 s). */
export const REMOTE_LIMITS: RemoteLimits = {
  attemptMs: 15_000,
  readMs: 30_000,
  attempts: 3,
  pauseMs: 250,
  bodyBytes: 16 * 1024 * 1024,
};

export interface RemoteOptions {
  /** Address of the provider. Paths are added to its own. */
  url: string;
  /** Client token of one grant. */
  token: string;
  limits?: Partial<RemoteLimits>;
}

const MAX_REDIRECTS = 3;
/** Statuses of a proxy or an overloaded server, which a later attempt may not meet. */
const PASSING: readonly number[] = [429, 502, 503, 504];
/** Form of a request id that may be shown. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;

/**
 * Resource server at an address (R7). Every request is a `GET`, so an attempt without an answer may be repeated. The
 * token is sent to the origin of the address and to no other, and occurs in no answer.
 */
export class RemoteProvider implements RecordProvider {
  readonly url: string;
  readonly #base: URL;
  readonly #token: string;
  readonly #limits: RemoteLimits;

  constructor({ url, token, limits }: RemoteOptions) {
    this.#base = new URL(url);
    this.url = `${this.#base.origin}${this.#base.pathname}`.replace(/\/+$/, '');
    this.#token = token;
    this.#limits = { ...REMOTE_LIMITS, ...limits };
  }

  async get(request: RecordRequest): Promise<RecordAnswer> {
    const { attempts, readMs, pauseMs } = this.#limits;
    const deadline = performance.now() + readMs;
    for (let attempt = 1; ; attempt++) {
      const left = deadline - performance.now();
      const outcome = await this.#attempt(request, left);
      const waits = attempt < attempts ? waitBefore(outcome, pauseMs * 2 ** (attempt - 1)) : undefined;
      if (waits === undefined || performance.now() + waits >= deadline) return outcome.settle();
      await pause(waits, undefined, { signal: request.signal }).catch(() => undefined);
    }
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }

  async #attempt(request: RecordRequest, leftMs: number): Promise<Outcome> {
    const limit = Math.min(this.#limits.attemptMs, leftMs);
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(limit)));
    const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
    try {
      const response = await this.#send(this.#address(request), signal);
      const text = await readBody(response, this.#limits.bodyBytes);
      const { headers, status } = response;
      const answer: RecordAnswer = {
        status,
        body: withoutToken(parsed(text), text, this.#token),
        requestId:
          [headers.get('request-id'), headers.get('x-request-id')].find((id) => REQUEST_ID.test(id ?? '')) ?? undefined,
        version: headers.get('pdpp-version') ?? undefined,
      };
      return { answer, retryAfter: headers.get('retry-after'), settle: () => answer };
    } catch (error) {
      const failure = this.#failure(error, {
        timedOut: timeout.aborted,
        cancelled: request.signal?.aborted === true,
        limit,
      });
      return {
        failure,
        settle: () => {
          throw failure;
        },
      };
    }
  }

  /** Follows redirects within the origin. Any other would carry the token, or the question, to another server. */
  async #send(address: URL, signal: AbortSignal): Promise<Response> {
    let at = address;
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(at.href, { headers: this.#headers(), redirect: 'manual', signal });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      const next = URL.canParse(location, at.href) ? new URL(location, at.href) : undefined;
      if (next?.origin !== this.#base.origin || redirects === MAX_REDIRECTS) {
        const where = redirects === MAX_REDIRECTS ? 'too many times' : 'to another address';
        throw new ProviderError(
          'provider_redirected',
          `The record provider redirects ${where}; Waygate does not follow. Configure the address that answers itself.`,
        );
      }
      at = next;
    }
  }

  #headers(): Record<string, string> {
    return {
      accept: 'application/json',
      authorization: `Bearer ${this.#token}`,
      'user-agent': `waygate/${VERSION}`,
    };
  }

  #address({ path, query }: RecordRequest): URL {
    const address = new URL(`${this.url}${path}`);
    for (const [key, value] of query) address.searchParams.append(key, value);
    return address;
  }

  #failure(
    error: unknown,
    { timedOut, cancelled, limit }: { timedOut: boolean; cancelled: boolean; limit: number },
  ): ProviderError {
    if (error instanceof ProviderError) return error;
    if (cancelled) return new ProviderError('cancelled', 'The read was cancelled.');
    if (timedOut) {
      const seconds = Math.round(limit / 100) / 10;
      return new ProviderError(
        'provider_timeout',
        `The record provider did not answer within ${seconds} s; try a narrower read.`,
      );
    }
    const cause = (error as { cause?: { code?: unknown } }).cause?.code;
    const why = typeof cause === 'string' ? ` (${cause})` : '';
    return new ProviderError(
      'provider_unreachable',
      `The record provider at ${this.#base.host} cannot be reached${why}.`,
    );
  }
}

interface Outcome {
  answer?: RecordAnswer;
  retryAfter?: string | null;
  failure?: ProviderError;
  /** Returns the answer, or throws the failure. */
  settle(): RecordAnswer;
}

/** Returns the pause before another attempt; undefined if the outcome is final. */
function waitBefore({ answer, retryAfter, failure }: Outcome, pauseMs: number): number | undefined {
  if (failure) return failure.code === 'provider_unreachable' ? pauseMs : undefined;
  if (answer === undefined || !PASSING.includes(answer.status)) return undefined;
  const seconds = /^\d{1,3}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
  if (seconds !== undefined) return Math.max(pauseMs, seconds * 1_000);
  // An error envelope is the provider's own decision; anything else comes from something in between.
  return answer.status === 429 || isRecord(answer.body) ? undefined : pauseMs;
}

async function readBody(response: Response, limit: number): Promise<string> {
  const tooLarge = (): ProviderError =>
    new ProviderError(
      'provider_answer_too_large',
      `The record provider answered with more than ${limit / 1024 / 1024} MiB; narrow the read with limit, fields or filter.`,
    );
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the body.
    if (bytes > limit) throw tooLarge();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (frameShape(body).tooDeep.length > 0) {
    throw new ProviderError(
      'provider_answer_invalid',
      'The record provider answered with JSON that is nested too deeply.',
    );
  }
  return body.toString('utf8').replace(/^\ufeff/, '');
}

/** Parses a body; text that is no JSON stays text. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
