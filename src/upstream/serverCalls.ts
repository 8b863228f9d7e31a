import { CircuitBreaker } from '../ops/circuitBreaker.ts';
import type { KnownFaultCode } from '../ops/faultCodes.ts';
import type { Oddities } from '../protocol/oddities.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../protocol/upstreamClient.ts';
import { ranOutOfTime, showsLife } from './liveness.ts';
import { NotDispatchedError } from './notDispatched.ts';
import type { ServerLife } from './serverLife.ts';
import type { Live } from './serverStart.ts';
import { SYSTEM_CLOCK } from './systemClock.ts';
import { LinkFailure } from './upstreamLink.ts';

export type SendRequest<T> = (client: UpstreamClient, options: CallOptions) => Promise<T>;

/** The requests to one server, over all its starts. */
export class ServerCalls {
  readonly #life: ServerLife;
  readonly #oddities: Oddities;
  readonly #breaker = new CircuitBreaker(SYSTEM_CLOCK.now);
  #checking: UpstreamClient | undefined;

  constructor(life: ServerLife, oddities: Oddities) {
    this.#life = life;
    this.#oddities = oddities;
  }

  /** A new start: what the one before did wrong is no longer held against it. */
  onReady(): void {
    this.#breaker.reset();
  }

  async send<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const answer = this.#breaker.admit();
    try {
      if (!answer.allowed) {
        throw new NotDispatchedError(
          'it failed several calls in a row and is left alone for a while',
          undefined,
          answer.retryAfter,
        );
      }
      const result = await this.#sendOnceMore(options, send);
      answer.permit.succeeded();
      this.#life.remark(undefined);
      return result;
    } catch (error) {
      const code = callFault(error, options.signal);
      if (answer.allowed && code) answer.permit.failed(this.#life.faultOf(new LinkFailure('', code)));
      throw error;
    } finally {
      if (answer.allowed) answer.permit.abandoned();
    }
  }

  async #sendOnceMore<T>(options: CallOptions, send: SendRequest<T>): Promise<T> {
    const deadline = performance.now() + options.timeoutMs;
    const live = this.#life.usable ?? (await this.#life.waitUntilReady(options, deadline));
    const left = { ...options, timeoutMs: Math.max(1, deadline - performance.now()) };
    try {
      return await send(live.client, left);
    } catch (error) {
      if (!(error instanceof UpstreamRequestError)) throw error;
      if (ranOutOfTime(error, options.signal)) void this.#checkLife();
      if (error.failure === 'unauthorized')
        throw new UpstreamRequestError('unauthorized', await this.#refused(live, error), error.code);
      if (error.failure !== 'unsent') throw error;
      live.lose(new LinkFailure('It had to be connected anew.', 'session_lost'));
    }
    // A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more.
    const next = await this.#life.waitUntilReady(options, deadline);
    try {
      return await send(next.client, { ...options, timeoutMs: Math.max(1, deadline - performance.now()) });
    } catch (error) {
      if (!(error instanceof UpstreamRequestError) || error.failure !== 'unsent') throw error;
      const failure = await next.link.explain(error);
      next.lose(failure);
      throw new NotDispatchedError(failure.message, this.#life.status.state, failure.retryAfterSeconds);
    }
  }

  /** A server that wants more for this one request serves the others; one that lets us in no longer does not. */
  async #refused(live: Live, error: UpstreamRequestError): Promise<string> {
    const failure = await live.link.explain(error);
    if (error.code === 403) this.#life.remark(failure.message);
    else live.lose(failure);
    return failure.message;
  }

  /** A process that let a deadline pass and says nothing at all is replaced: every further call would hang too. */
  async #checkLife(): Promise<void> {
    const live = this.#life.usable;
    if (live?.link.pid === undefined || this.#checking === live.client) return;
    this.#checking = live.client;
    if (await showsLife(live.client)) this.#checking = undefined;
    else {
      this.#oddities.add('unresponsive');
      live.lose(new LinkFailure('It stopped answering, so it was ended.', 'unresponsive'));
    }
  }
}

/** What a failed call says of its server; `undefined` where it says nothing. A loss is the supervisor's matter. */
function callFault(error: unknown, signal: AbortSignal | undefined): KnownFaultCode | undefined {
  if (ranOutOfTime(error, signal)) return 'call_timeout';
  if (!(error instanceof UpstreamRequestError)) return undefined;
  if (error.failure === 'protocol') return 'malformed_response';
  return error.failure === 'error' ? 'upstream_error' : undefined;
}
