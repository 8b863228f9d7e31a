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
  /** What a call carries is held by whoever made it, here too. */
  maxBytes: Number.MAX_SAFE_INTEGER,
  maxWaiting: 10_000,
  /** However often the person lets it be sent, over connections that break off. */
  maxReplays: 10,
  /** Two that end one after the other may have been ended by somebody; what three did not survive is what ends them. */
  maxEnded: 3,
  maxProbes: 2,
  retryAfter: 1,
};

/** Longer than it takes until the end of a start is heard of that was written to in vain. */
const ENDS_WITHIN_MS = 250;

/** The requests to one server, over all its starts: who has which, and what becomes of those that were lost. */
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

  /** A new start: what the one before did wrong is no longer held against it. */
  opened(live: Live): void {
    this.#breaker.reset();
    this.#lives.set(live.generation, live);
    this.#journal.open(live.generation);
  }

  /** Its supervisor has seen a start end. */
  lost(generation: number, fault: Fault): void {
    this.#lives.delete(generation);
    // What it has not begun waits for its word, here: nothing of it has left.
    this.#journal.lose(generation, fault, { heardOut: true });
  }

  send(method: string, params: Json, options: RequestOptions): Promise<Json> {
    const { signal, probe, contract = contractOf(method), maxReplays = 1 } = options;
    if (signal?.aborted) return Promise.reject(cancelled());
    const answer = this.#breaker.admit();
    if (!answer.allowed) {
      const fault = this.#server.faultOf(new LinkFailure('', 'circuit_open'));
      const reason = 'it failed several calls in a row and is left alone for a while';
      return Promise.reject(new NotDispatchedError(reason, fault, answer.retryAfter));
    }
    this.#lastId += 1;
    const id = String(this.#lastId);
    return new Promise((resolve, reject) => {
      const asked = probe && contract === 'probe_required' ? probeArguments(probe, params.arguments) : undefined;
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
      reject(new NotDispatchedError('too many calls of it are under way', admission.fault, admission.retryAfter));
    });
  }

  /** Sees to it that there is a start for a call that has none, within the call's own time. */
  async #await({ id, payload: request }: RequestCall): Promise<void> {
    if (request.awaits) return;
    request.awaits = true;
    const { options, deadline } = request;
    try {
      while (this.#journal.isWaiting(id)) {
        await this.#endOf(request);
        await this.#server.waitUntilReady(options, deadline);
        // One that is there and does not take it is being lost.
        if (performance.now() >= deadline) throw new UpstreamRequestError('timeout', 'no start of it took the call');
      }
    } catch (error) {
      this.#fail(id, request, error);
    } finally {
      request.awaits = false;
    }
  }

  /** A start that takes nothing any more may still answer what it has: its supervisor says when it is over. */
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
      request.thrown = new UpstreamRequestError('closed', 'the start of it that this was about has ended');
      const { fault } = this.#failed(request.thrown, generation);
      queueMicrotask(() => this.#journal.loseCall(generation, id, fault));
      return true;
    }
    const isFirst = request.generation === 0 && !request.awaits;
    request.generation = generation;
    const word = options.onSend?.();
    if (word) void this.#sendBehind(word, live, id, request);
    else this.#write(live, id, request, isFirst);
    return true;
  }

  /** Writes a request after the announcement that it is sent has left. */
  async #sendBehind(word: Promise<void>, live: Live, id: string, request: Request): Promise<void> {
    try {
      await word;
    } catch {
      return this.#cancel(id, request);
    }
    if (live.client.closed) await waitForLoss(live);
    else this.#write(live, id, request, false);
  }

  #write(live: Live, id: string, request: Request, isFirst: boolean): void {
    const { generation, client } = live;
    // Cancelled, or with another start meanwhile.
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
    // Lost, given up or sent again meanwhile: what this one comes to is nobody's any more.
    if (request.generation !== generation || this.#journal.knowledgeOf(id) !== 'in_flight') return;
    switch (error instanceof UpstreamRequestError ? error.failure : 'error') {
      case 'timeout':
        this.#fail(id, request, error);
        void this.#life.check(live);
        break;
      case 'closed':
        // The whole start is lost with all that it had: `lost` tells by what, which is known in a moment.
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
        await this.#onUnsent(live, id, request, error);
        break;
      case 'busy':
        await this.#giveUp(live, id, request, Promise.resolve(error));
        break;
      case 'unauthorized': {
        // A server that wants more for this one request serves the others; one that lets us in no longer does not.
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

  /** A session that the server has forgotten, or a server that was started anew: nothing has been done, so once more. */
  async #onUnsent(live: Live, id: string, request: Request, error: Error): Promise<void> {
    request.returns += 1;
    if (request.returns > 1) {
      const why = live.link.explain(error);
      void why.then((failure) => live.lose(failure));
      return this.#giveUp(live, id, request, why);
    }
    this.#journal.handBack(live.generation, id);
    live.lose(new LinkFailure('It had to be connected anew.', 'session_lost'));
  }

  /** It never left and waits for no other start. */
  async #giveUp({ generation }: Live, id: string, request: Request, why: Promise<Error>): Promise<void> {
    request.awaits = true;
    this.#journal.handBack(generation, id);
    const error = await why;
    request.awaits = false;
    // Another start may have come meanwhile, and has it.
    if (this.#journal.isWaiting(id)) this.#fail(id, request, error);
  }

  /** Whether a lost call took effect, by the server that came after it. */
  async #probe({ id, payload: request }: RequestCall, generation: number): Promise<void> {
    const live = this.#lives.get(generation);
    const resolution = live ? await askProbe(live.client, request) : 'unresolved';
    // Where the server was lost with the question too, its supervisor tells, and it is asked again.
    if (resolution) this.#journal.resolveProbe(generation, id, resolution);
  }

  /** Whoever made it no longer wants its answer, or has waited long enough for it. */
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
    this.#journal.fail(id, this.#failed(thrown, request.generation).fault, { heardOut: true });
  }

  #failed(thrown: unknown, generation: number): FailedCall {
    return failedCall(thrown, (text) => this.#server.scrubSecrets(text), Math.max(1, generation));
  }

  #settle({ payload: request }: RequestCall, terminal: Terminal<Answer>): void {
    const { options, permit } = request;
    this.#leave(request);
    options.onEnd?.(terminal.dispatches);
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
    // A loss is its supervisor's matter.
    if (traitsOf(fault).error === 'UPSTREAM_TIMEOUT') permit.failed(fault);
    else permit.abandoned();
    reject(new CallFailedError(error, { fault, knowledge, retryAfterSeconds }));
  }

  #leave({ options, onAbort }: Request): void {
    options.signal?.removeEventListener('abort', onAbort);
  }
}

type FaultTerminal = Extract<Terminal<never>, { kind: 'fault' }>;

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(thrownWords(thrown));
}
