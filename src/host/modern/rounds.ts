import { randomUUID } from 'node:crypto';
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeMessage, errorResponse, peekIsError, type RequestId } from '../../link/frames.ts';
import { dressAnswer, type Terms } from '../../mcp/modern/dressing.ts';
import { LOG_LEVELS } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import type { RoundState } from '../../mcp/modern/requestState.ts';
import { ASKING_METHODS, INPUT_REQUIRED, SERVER_INFO_META } from '../../mcp/modern/wire.ts';
import { lacks, obstacleIn, refuse, type Visit } from './callObstacles.ts';
import {
  answerWithoutClient,
  digestOf,
  faultOfResponse,
  type GivenAnswer,
  type HeldCall,
  type HeldQuestion,
  type ModernRequest,
  ONLY_WITHIN_CALLS,
  readQuestion,
} from './heldCall.ts';
import type { LegacyHost, ModernOptions } from './modernOptions.ts';

export interface RoundsPorts
  extends Pick<ModernOptions, 'mode' | 'serverInfo' | 'seal' | 'use' | 'outcomeUnknown' | 'isHttp'> {
  principal: string;
  host: Pick<LegacyHost, 'mayRepeat'>;
  /** Sends a message to the legacy session. */
  send(message: object): void;
  nextId(): number;
}

/** Time for which a call waits for the client's next round. A question of the worker waits as long. */
const ROUND_MS = 10 * 60_000;
/**
 * Limit of calls between two rounds. A client that never comes with the next one loses its oldest. Below the number of
 * calls that a worker runs at a time for one session.
 */
const MAX_HELD = 16;
/** Key of the question in `inputRequests`. There is one at a time. */
const QUESTION = 'question';
/** Time for which a client may keep the list of the gateway's own tools, which changes with the configuration only. */
const OWN_TOOLS_TTL_MS = 5 * 60_000;

/**
 * Runs the calls of a modern client in a legacy session. A question of the worker ends the client's request with
 * `input_required`, and the call stays open until the client comes with the answer. The session keeps the call meanwhile
 * as it keeps every other: it survives the worker, and runs once.
 */
export class Rounds {
  readonly #ports: RoundsPorts;
  readonly #calls = new Map<number, HeldCall>();
  /** Distinguishes the calls of this session from those of an earlier one. */
  readonly #session = randomUUID();

  constructor(ports: RoundsPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Runs a request, or continues the call to which its `requestState` belongs. */
  begin(request: ModernRequest, exchange: Exchange): void {
    const { requestState, inputResponses, ...params } = request.params;
    const plain = { ...request, params };
    // Answers without the state of a round answer nothing, and the call asks as if it had none.
    if (requestState === undefined) this.#start(plain, exchange, []);
    else if (typeof requestState === 'string') this.#resume(plain, exchange, requestState, inputResponses);
    else refuse(exchange, 'params.requestState must be a string.');
  }

  /** The client has gone, or wants no answer. */
  cancel(exchange: Exchange): void {
    for (const call of this.#calls.values()) if (call.exchange === exchange) this.#drop(call);
  }

  /** Takes an answer of the session. Returns whether it belongs to a call. */
  onAnswer(id: number, frame: Buffer): boolean {
    const call = this.#calls.get(id);
    if (!call) return false;
    if (call.exchange) this.#deliver(call, call.exchange, frame);
    else call.done = frame;
    return true;
  }

  /** Takes a request of a worker for the client. */
  onQuestion(id: RequestId, method: string, params: unknown, relatedTo: RequestId | undefined): void {
    const question = readQuestion(id, method, params);
    const call = this.#calls.get(Number(relatedTo));
    if (!call || !ASKING_METHODS.has(call.method)) {
      this.#ports.send({ id, error: ONLY_WITHIN_CALLS });
      return;
    }
    const given = call.answers.find((one) => one.digest === question.digest && one.worker !== question.worker);
    const own = given ? undefined : answerWithoutClient(question, call.envelope.capabilities);
    call.missing ??= own?.missing;
    if (given) {
      given.worker = question.worker;
      this.#ports.send({ id, result: given.response });
    } else if (own) this.#ports.send({ id, ...own.answer });
    else this.#ask(call, question);
  }

  /** A worker does not want the answer to its request any more. */
  onWithdrawn(id: unknown): void {
    for (const call of this.#calls.values()) call.questions = call.questions.filter((question) => question.id !== id);
  }

  /** Forwards progress and logs to the request of the client that they belong to. */
  onNotification(method: string, params: Readonly<Record<string, unknown>>, relatedTo: RequestId | undefined): void {
    const { exchange, envelope } = this.#calls.get(Number(relatedTo)) ?? {};
    if (!exchange || !envelope) return;
    const { progressToken, logLevel } = envelope;
    if (method === 'notifications/progress' && progressToken !== undefined) {
      exchange.notify(encodeMessage({ method, params: { ...params, progressToken } }));
    } else if (method === 'notifications/message' && logLevel !== undefined) {
      const level = (LOG_LEVELS as readonly unknown[]).indexOf(params.level);
      if (level >= LOG_LEVELS.indexOf(logLevel)) exchange.notify(encodeMessage({ method, params }));
    }
  }

  /** Cancels the calls that no request of the client waits for. */
  dropHeld(): void {
    for (const call of this.#calls.values()) if (!call.exchange) this.#drop(call);
  }

  #start(request: ModernRequest, exchange: Exchange, answers: GivenAnswer[]): void {
    const { method, params, envelope } = request;
    const id = this.#ports.nextId();
    const subject = digestOf({ method, params });
    const state = { questions: [], round: undefined, missing: undefined, done: undefined, timer: undefined };
    this.#calls.set(id, { ...request, id, subject, exchange, answers, ...state });
    // Tokens of different requests may be equal.
    const meta = { ...envelope.rest, ...(envelope.progressToken === undefined ? {} : { progressToken: id }) };
    const message = { id, method, params: Object.keys(meta).length === 0 ? params : { ...params, _meta: meta } };
    try {
      this.#ports.send(message);
    } catch (error) {
      this.#calls.delete(id);
      throw error;
    }
  }

  #resume(request: ModernRequest, exchange: Exchange, sealed: string, inputResponses: unknown): void {
    const state = this.#ports.seal.open(sealed);
    const problem = state ? this.#problemOf(state, request) : NOT_OURS;
    if (!state || problem !== undefined) {
      refuse(exchange, `params.requestState ${problem}`);
      return;
    }
    const call = this.#callOf(state.call);
    const response = isRecord(inputResponses) ? inputResponses[QUESTION] : undefined;
    const isShown = call !== undefined && !call.exchange && call.round?.nonce === state.nonce;
    // Without its answer the client is asked again (MCP 2026-07-28, Multi Round-Trip Requests).
    if (response === undefined && isShown) this.#continue(call, request, exchange);
    else this.#take(request, exchange, { call, state, response });
  }

  /** Takes the client's answer, once. */
  #take(
    request: ModernRequest,
    exchange: Exchange,
    { call, state, response }: { call: HeldCall | undefined; state: RoundState; response: unknown },
  ): void {
    const fault = faultOfResponse(state.asks, response);
    const isUsable = fault === undefined && this.#use(state.nonce);
    if (fault !== undefined) refuse(exchange, `params.inputResponses.${QUESTION} ${fault}.`);
    else if (isUsable instanceof Error) {
      const message = `The answer cannot be used, because its use cannot be recorded: ${isUsable.message}.`;
      exchange.answer(errorResponse(exchange.id, INTERNAL_ERROR, message), INTERNAL_ERROR);
    } else if (!isUsable) refuse(exchange, 'params.requestState was used already; call again without it.');
    else {
      const given = { digest: state.question, response: response as GivenAnswer['response'], worker: undefined };
      if (call) {
        this.#give(call, given);
        this.#continue(call, request, exchange);
      } else if (state.call === '' && given.response.action !== 'accept') {
        const message = 'The user did not visit the address that the server asked for, so the call did not run.';
        exchange.answer(errorResponse(exchange.id, INVALID_REQUEST, message));
      } else if (state.mayRepeat) this.#start(request, exchange, [given]);
      else this.#answer(request, exchange, Buffer.from(this.#ports.outcomeUnknown(request.method)));
    }
  }

  #use(nonce: string): boolean | Error {
    try {
      return this.#ports.use(nonce);
    } catch (error) {
      return error as Error;
    }
  }

  #problemOf({ expires, principal, subject }: RoundState, { method, params }: ModernRequest): string | undefined {
    if (expires < Date.now()) return 'has expired; call again without it.';
    const isOfRequest = principal === this.#ports.principal && subject === digestOf({ method, params });
    return isOfRequest ? undefined : 'belongs to another request; send it with the parameters of the first one.';
  }

  #callOf(key: string): HeldCall | undefined {
    const [session, id] = key.split(' ');
    return session === this.#session ? this.#calls.get(Number(id)) : undefined;
  }

  /** Gives an answer to the worker that asked. A worker that took its place will ask the same. */
  #give(call: HeldCall, given: GivenAnswer): void {
    call.round = undefined;
    call.answers.push(given);
    const asked = call.questions.find(({ digest }) => digest === given.digest);
    if (!asked) return;
    given.worker = asked.worker;
    call.questions = call.questions.filter((one) => one !== asked);
    this.#ports.send({ id: asked.id, result: given.response });
  }

  /** Lets a request of the client wait for the call. */
  #continue(call: HeldCall, { envelope }: ModernRequest, exchange: Exchange): void {
    clearTimeout(call.timer);
    call.exchange = exchange;
    call.envelope = envelope;
    if (call.done) this.#deliver(call, exchange, call.done);
    else this.#show(call);
  }

  #ask(call: HeldCall, question: HeldQuestion): void {
    const [shown, ...others] = call.questions;
    // Questions of a worker that has ended get no answer. The client may be working on the first.
    const isSame = shown !== undefined && shown.digest === question.digest && shown.worker !== question.worker;
    const alive = others.filter(({ worker }) => worker === question.worker);
    if (isSame) call.questions = [question, ...alive];
    else call.questions = [...(shown ? [shown] : []), ...alive, question];
    this.#show(call);
  }

  /** Ends the client's request with the first question. */
  #show(call: HeldCall): void {
    const {
      exchange,
      questions: [question],
    } = call;
    if (!exchange || !question) return;
    const { method, params, digest } = question;
    if (call.round?.digest !== digest) call.round = { nonce: randomUUID(), digest };
    const state = { call: `${this.#session} ${call.id}`, mayRepeat: this.#ports.host.mayRepeat(call.id) };
    call.exchange = undefined;
    call.timer = setTimeout(() => this.#drop(call), ROUND_MS).unref();
    this.#end(exchange, { method, params }, { ...state, ...call.round, subject: call.subject });
    const held = [...this.#calls.values()].filter((one) => !one.exchange);
    if (held.length > MAX_HELD) this.#drop(held[0] as HeldCall);
  }

  /** Ends a request of the client with a question. */
  #end(
    exchange: Exchange,
    { method, params }: Pick<HeldQuestion, 'method' | 'params'>,
    { digest, ...state }: Pick<RoundState, 'call' | 'mayRepeat' | 'nonce' | 'subject'> & { digest: string },
  ): void {
    const { principal, serverInfo, seal } = this.#ports;
    const expires = Date.now() + ROUND_MS;
    const requestState = seal.seal({ ...state, principal, question: digest, asks: method, expires });
    const result = { resultType: INPUT_REQUIRED, inputRequests: { [QUESTION]: { method, params } }, requestState };
    exchange.answer(
      encodeMessage({ id: exchange.id, result: { ...result, _meta: { [SERVER_INFO_META]: serverInfo } } }),
    );
  }

  /** Asks the user to visit an address before the call begins again: the server refused it until then. */
  #askToVisit({ subject, envelope }: HeldCall, exchange: Exchange, params: Visit): void {
    const question = { method: 'elicitation/create', params: { ...params } };
    const own = answerWithoutClient(question, envelope.capabilities);
    const state = { call: '', mayRepeat: true, nonce: randomUUID(), subject, digest: digestOf(question) };
    if (own?.missing) lacks(exchange, own.missing);
    else this.#end(exchange, question, state);
  }

  #deliver(call: HeldCall, exchange: Exchange, frame: Buffer): void {
    this.#calls.delete(call.id);
    // In the other modes a model reads the answer, which says what to do.
    const obstacle = this.#ports.mode === 'passthrough' ? obstacleIn(frame, call) : undefined;
    if (obstacle === undefined) this.#answer(call, exchange, frame);
    else if ('requiredCapabilities' in obstacle) lacks(exchange, obstacle.requiredCapabilities);
    else this.#askToVisit(call, exchange, obstacle);
  }

  #answer({ method, params }: ModernRequest, exchange: Exchange, frame: Buffer): void {
    const { mode, serverInfo, isHttp } = this.#ports;
    const terms: Terms = {
      id: exchange.id,
      method,
      uri: typeof params.uri === 'string' ? params.uri : undefined,
      serverInfo,
      ttlMs: mode === 'gateway' && method === 'tools/list' ? OWN_TOOLS_TTL_MS : 0,
      hidesHeaders: isHttp,
    };
    const dressed = dressAnswer(frame, terms);
    exchange.answer(dressed, peekIsError(frame) ? codeOf(dressed) : undefined);
  }

  #drop(call: HeldCall): void {
    clearTimeout(call.timer);
    this.#calls.delete(call.id);
    if (!call.done) this.#ports.send({ method: 'notifications/cancelled', params: { requestId: call.id } });
  }
}

const NOT_OURS = 'was changed, or this server did not make it; call again without it.';

function codeOf(frame: string | Buffer): number {
  const { error } = JSON.parse(String(frame)) as { error: { code: number } };
  return error.code;
}
