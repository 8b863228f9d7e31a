import type { Fault } from '../../errors/fault.ts';
import { traitsOf } from '../../errors/faultCodes.ts';
import { SYSTEM_CLOCK } from '../../lib/clock.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import type { Oddities } from '../../mcp/wire/oddities.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { CallJournal } from '../../replay/callJournal.ts';
import type { JournalCall, Terminal } from '../../replay/journalCall.ts';
import { probeArguments } from '../../replay/probe.ts';
import { contractOf } from '../../replay/replay.ts';
import { CircuitBreaker } from '../../supervision/circuitBreaker.ts';
import type { Live } from '../start/serverStart.ts';
import { waitForLoss } from '../start/waitForStart.ts';
import { LinkFailure } from '../transports/upstreamLink.ts';
import { CallFailedError, type FailedCall, failedCall } from './callFailed.ts';
import { thrownWords } from './judgeThrown.ts';
import { LifeCheck, ranOutOfTime } from './liveness.ts';
import { NotDispatchedError } from './notDispatched.ts';
import {
  type Answer,
  askProbe,
  type CalledServer,
  cancelled,
  completedResult,
  type Json,
  type Request,
  type RequestOptions,
} from './serverRequest.ts';

type RequestCall = JournalCall<Request>;

const LIMITS = {
  maxCalls: 10_000,
  /** No limit: the callers already hold the data. */
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxWaiting: 10_000,
  /** Upper bound of configured replays over lost connections. */
  maxReplays: 10,
  /** Two ends in a row may be a coincidence; after three, assume that the call kills the server. */
  maxEnded: 3,
  maxProbes: 2,
  retryAfter: 1,
};

/** Longer than the supervisor needs to notice the end of a start after a failed write. */
const ENDS_WITHIN_MS = 250;

/** Requests to one server over all its starts: assigns each to a start and decides about lost ones. */
export class ServerCalls {
  readonly #server: CalledServer;
  readonly #life: LifeCheck;
  readonly #breaker = new CircuitBreaker(SYSTEM_CLOCK.now);
  readonly #lives = new Map<number, Live>();
  readonly #journal = new CallJournal<Request, Answer>(
    {
      dispatch: (call, generation) => this.#dispatch(call, generation),
      wait: (call) => void this.#await(call),
      probe: (call, generation) => void this.#probe(call, generation),
      settle: (call, terminal) => this.#settle(call, terminal),
    },
    LIMITS,
  );
  #lastId = 0;

  constructor(server: CalledServer, oddities: Oddities) {
    this.#server = server;
    this.#life = new LifeCheck(oddities);
  }

  /** Sends waiting calls to a new start and resets the breaker, since a new process starts without failures. */
  opened(live: Live): void {
    this.#breaker.reset();
    this.#lives.set(live.generation, live);
    this.#journal.open(live.generation);
  }

  /** Handles the end of a start that the supervisor noticed. */
  lost(generation: number, fault: Fault): void {
    this.#lives.delete(generation);
    // A call that has not begun still waits for `onSend`; nothing has left.
    this.#journal.lose(generation, fault, { readToEnd: true });
  }

  send(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const { signal, probe, contract = contractOf(method), maxReplays = 1 } = options;
    if (signal?.aborted) return Promise.reject(cancelled());
    const answer = this.#breaker.admit();
    if (!answer.allowed) {
      const fault = this.#server.faultOf(new LinkFailure('', 'circuit_open'));
      const reason = 'it failed several calls in a row and is paused for a while';
      return Promise.reject(new NotDispatchedError(reason, fault, answer.retryAfter));
    }
    this.#lastId += 1;
    const id = String(this.#lastId);
    return new Promise((resolve, reject) => {
      const asked = probe && probeArguments(probe, params.arguments);
      const request: Request = {
        method,
        params,
        options,
        deadline: performance.now() + options.timeoutMs,
        permit: answer.permit,
        asked,
        onAbort: () => this.#onAbort(id, request),
        resolve,
        reject,
        generation: 0,
        awaits: false,
        returns: 0,
        thrown: undefined,
      };
      signal?.addEventListener('abort', request.onAbort);
      const canProbe = asked !== undefined;
      const terms = { contract, canProbe, maxReplays, declared: true };
      const admission = this.#journal.admit({ id, payload: request, bytes: 0, ...terms });
      if (admission.admitted) return;
      this.#leave(request);
      request.permit.abandoned();
      reject(new NotDispatchedError('too many calls to it are running', admission.fault, admission.retryAfter));
    });
  }

  /** Waits for a start of the server within the call's own deadline. */
  async #await({ id, payload: request }: RequestCall): Promise<void> {
    if (request.awaits) return;
    request.awaits = true;
    const { options, deadline } = request;
    try {
      while (this.#journal.isWaiting(id)) {
        await this.#endOf(request);
        await this.#server.waitUntilReady(options, deadline);
        // A ready start that does not take the call is about to end.
        if (performance.now() >= deadline)
          throw new UpstreamRequestError('timeout', 'no start of the server took the call');
      }
    } catch (error) {
      this.#fail(id, request, error);
    } finally {
      request.awaits = false;
    }
  }

  /** Waits until a closing start is over, because it may still answer pending calls. */
  async #endOf({ generation, options, deadline }: Request): Promise<void> {
    const before = this.#lives.get(generation);
    if (!before || before.client.closed) return;
    await waitAtMost(before.lost, Math.min(deadline, performance.now() + ENDS_WITHIN_MS), options.signal);
  }

  #dispatch({ id, payload: request }: RequestCall, generation: number): boolean {
    const live = this.#lives.get(generation);
    if (!live || live.client.closed) return false;
    const { options } = request;
    if (options.start !== undefined && options.start !== generation) {
      request.thrown = new UpstreamRequestError(
        'closed',
        'the server has restarted, which ended the subject of this request',
      );
      const { fault } = this.#failed(request.thrown, generation);
      queueMicrotask(() => this.#journal.loseCall(generation, id, fault));
      return true;
    }
    const isFirst = request.generation === 0 && !request.awaits;
    request.generation = generation;
    const announced = options.onSend?.();
    if (announced) void this.#sendAfter(announced, live, id, request);
    else this.#write(live, id, request, isFirst);
    return true;
  }

  /** Writes the request after `onSend` has completed. */
  async #sendAfter(announced: Promise<void>, live: Live, id: string, request: Request): Promise<void> {
    try {
      await announced;
    } catch {
      return this.#cancel(id, request);
    }
    if (live.client.closed) await waitForLoss(live);
    else this.#write(live, id, request, false);
  }

  #write(live: Live, id: string, request: Request, isFirst: boolean): void {
    const { generation, client } = live;
    // The call was cancelled or moved to another start.
    if (!this.#journal.begin(generation, id)) return;
    const { method, params, options, deadline } = request;
    const left = isFirst ? options : { ...options, timeoutMs: Math.max(1, deadline - performance.now()) };
    client.request(method, params, left).then(
      (result) => void this.#journal.reply(generation, id, { result }),
      (error: unknown) => void this.#onError(live, id, request, error),
    );
  }

  async #onError(live: Live, id: string, request: Request, thrown: unknown): Promise<void> {
    const { generation } = live;
    const error = asError(thrown);
    // The call was lost, given up or sent again meanwhile; ignore this outcome.
    if (request.generation !== generation || this.#journal.knowledgeOf(id) !== 'in_flight') return;
    switch (error instanceof UpstreamRequestError ? error.failure : undefined) {
      case 'timeout':
        this.#fail(id, request, error);
        void this.#life.check(live);
        break;
      case 'closed':
        // The start is lost with all its calls. `lost` follows soon and knows the cause.
        if (live.client.closed) await waitForLoss(live);
        else {
          request.thrown = error;
          this.#journal.loseCall(generation, id, this.#failed(error, generation).fault);
        }
        break;
      case 'gone':
        this.#journal.retire(generation);
        this.#journal.handBack(generation, id);
        break;
      case 'unsent':
        await this.#onUnsent(live, id, request, error as UpstreamRequestError);
        break;
      case 'busy':
        await this.#giveUp(live, id, request, Promise.resolve(error));
        break;
      case 'unauthorized': {
        // Status 403 concerns only this request; any other refusal means that the token no longer works.
        const failure = await live.link.explain(error);
        const { code } = error as UpstreamRequestError;
        this.#journal.reply(generation, id, { error: new UpstreamRequestError('unauthorized', failure.message, code) });
        if (code === 403) this.#server.remark(failure.message);
        else live.lose(failure);
        break;
      }
      default:
        this.#journal.reply(generation, id, { error });
    }
  }

  /** Resends a request after the server forgot the session or was restarted: nothing was executed. */
  async #onUnsent(live: Live, id: string, request: Request, error: UpstreamRequestError): Promise<void> {
    request.returns += 1;
    if (request.returns > 1 && error.status !== undefined) {
      // A new session cannot be forgotten already, so the answer concerns the call, which has arrived twice.
      const { status } = error;
      const refusal = Object.assign(new UpstreamRequestError('error', error.message, status), { status });
      this.#journal.reply(live.generation, id, { error: refusal });
      return;
    }
    if (request.returns > 1) {
      const why = live.link.explain(error);
      void why.then((failure) => live.lose(failure));
      return this.#giveUp(live, id, request, why);
    }
    this.#journal.handBack(live.generation, id);
    live.lose(new LinkFailure('It had to be reconnected.', 'session_lost'));
  }

  /** Fails a call that never left, without waiting for another start. */
  async #giveUp({ generation }: Live, id: string, request: Request, why: Promise<Error>): Promise<void> {
    request.awaits = true;
    this.#journal.handBack(generation, id);
    const error = await why;
    request.awaits = false;
    // Another start may have taken the call meanwhile.
    if (this.#journal.isWaiting(id)) this.#fail(id, request, error);
  }

  /** Asks the next start whether a lost call took effect. */
  async #probe({ id, payload: request }: RequestCall, generation: number): Promise<void> {
    const client = this.#lives.get(generation)?.client;
    const resolution = client && (await askProbe(client, request));
    // If the server ended during the probe, its supervisor reports that and the journal probes again.
    if (resolution) this.#journal.resolveProbe(generation, id, resolution);
  }

  /** Handles a cancellation or a deadline of the caller. */
  #onAbort(id: string, request: Request): void {
    const { signal } = request.options;
    if (ranOutOfTime(undefined, signal)) {
      this.#fail(id, request, new UpstreamRequestError('timeout', thrownWords(signal?.reason)));
      void this.#life.check(this.#server.usable);
    } else this.#cancel(id, request);
  }

  #cancel(id: string, request: Request): void {
    if (!this.#journal.cancel(id)) return;
    this.#leave(request);
    request.permit.abandoned();
    request.reject(cancelled());
  }

  #fail(id: string, request: Request, thrown: unknown): void {
    request.thrown = asError(thrown);
    this.#journal.fail(id, this.#failed(thrown, request.generation).fault, { readToEnd: true });
  }

  #failed(thrown: unknown, generation: number): FailedCall {
    return failedCall(thrown, (text) => this.#server.scrubSecrets(text), Math.max(1, generation));
  }

  #settle({ payload: request }: RequestCall, terminal: Terminal<Answer>): void {
    const { options, permit } = request;
    this.#leave(request);
    options.onEnd?.(terminal.dispatches);
    if (terminal.kind === 'reply' && !isUnusable(terminal.reply.error)) this.#server.proved();
    if (terminal.kind === 'fault') {
      this.#settleFault(request, terminal);
    } else if (terminal.kind === 'reply' && terminal.reply.error) {
      const { error } = terminal.reply;
      const failed = this.#failed(error, terminal.generation);
      permit.failed(failed.fault, failed.retryAfterSeconds);
      request.reject(new CallFailedError(error, failed));
    } else {
      permit.succeeded();
      this.#server.remark(undefined);
      request.resolve(terminal.kind === 'reply' ? (terminal.reply.result as Json) : completedResult(request));
    }
  }

  #settleFault({ permit, reject, thrown }: Request, { fault, knowledge }: FaultTerminal): void {
    const error = thrown ?? new UpstreamRequestError('closed', fault.detail);
    const { retryAfterSeconds } = error as { retryAfterSeconds?: number };
    if (knowledge === 'not_dispatched') {
      permit.abandoned();
      reject(
        error instanceof NotDispatchedError ? error : new NotDispatchedError(error.message, fault, retryAfterSeconds),
      );
      return;
    }
    // The supervisor handles losses; only a timeout counts for the breaker.
    if (traitsOf(fault).error === 'UPSTREAM_TIMEOUT') permit.failed(fault);
    else permit.abandoned();
    reject(new CallFailedError(error, { fault, knowledge, retryAfterSeconds }));
  }

  #leave({ options, onAbort }: Request): void {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

type FaultTerminal = Extract<Terminal<never>, { kind: 'fault' }>;

function isUnusable(error: Error | undefined): boolean {
  return error instanceof UpstreamRequestError && (error.failure !== 'error' || error.status !== undefined);
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(thrownWords(thrown));
}
