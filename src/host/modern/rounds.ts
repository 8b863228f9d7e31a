import { randomUUID } from 'node:crypto';
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeMessage, errorResponse, peekIsError, type RequestId } from '../../link/frames.ts';
import { dressAnswer, type Terms } from '../../mcp/modern/dressing.ts';
import { LOG_LEVELS } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import type { RoundState } from '../../mcp/modern/requestState.ts';
import { ASKING_METHODS, INPUT_REQUIRED, REQUEST_CAPABILITIES_META, SERVER_INFO_META } from '../../mcp/modern/wire.ts';
import { lacks, obstacleIn, refuse, type Visit } from './callObstacles.ts';
import {
  answerTo,
  digestOf,
  faultOfResponses,
  type GivenAnswer,
  type HeldCall,
  type HeldQuestion,
  lackOf,
  type ModernRequest,
  ONLY_WITHIN_CALLS,
  QUESTION,
  type Question,
  type Responses,
  readQuestion,
  splitQuestion,
  takeEarly,
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
    if (requestState === undefined) this.#start(plain, exchange, [], inputResponses);
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
    const early = takeEarly(call, question);
    if (given) this.#answerWorker(call, question, given);
    else if (early) this.#ports.send(answerTo(question, early));
    else if (!this.#needsNoClient(call, question)) this.#ask(call, question);
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

  #start(request: ModernRequest, exchange: Exchange, answers: GivenAnswer[], early?: unknown): void {
    const { method, params, envelope } = request;
    const id = this.#ports.nextId();
    const subject = digestOf({ method, params });
    const state = { questions: [], round: undefined, missing: undefined, done: undefined, timer: undefined };
    this.#calls.set(id, { ...request, id, subject, exchange, answers, early, ...state });
    const { rest, capabilities, progressToken } = envelope;
    const _meta = {
      ...rest,
      [REQUEST_CAPABILITIES_META]: capabilities,
      // Tokens of different requests may be equal.
      ...(progressToken === undefined ? {} : { progressToken: id }),
    };
    const message = { id, method, params: { ...params, _meta } };
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
    const given = isRecord(inputResponses) ? Object.entries(inputResponses) : [];
    const responses = Object.fromEntries(given.filter(([key]) => Object.hasOwn(state.asks, key))) as Responses;
    const isShown = call !== undefined && !call.exchange && call.round?.nonce === state.nonce;
    const isWhole = Object.keys(state.asks).every((key) => Object.hasOwn(responses, key));
    // Without all answers the client is asked again (MCP 2026-07-28, Multi Round-Trip Requests).
    if (!isWhole && isShown) this.#continue(call, request, exchange);
    else this.#take(request, exchange, { call, state, responses });
  }

  /** Takes the client's answers, once. */
  #take(
    request: ModernRequest,
    exchange: Exchange,
    { call, state, responses }: { call: HeldCall | undefined; state: RoundState; responses: Responses },
  ): void {
    const fault = faultOfResponses(state.asks, responses);
    const isUsable = fault === undefined && this.#use(state.nonce);
    if (fault !== undefined) refuse(exchange, fault);
    else if (isUsable instanceof Error) {
      const message = `The answer cannot be used, because its use cannot be recorded: ${isUsable.message}.`;
      exchange.answer(errorResponse(exchange.id, INTERNAL_ERROR, message), INTERNAL_ERROR);
    } else if (!isUsable) refuse(exchange, 'params.requestState was used already; call again without it.');
    else {
      const given = { digest: state.question, responses, worker: undefined };
      if (call) {
        this.#give(call, given);
        this.#continue(call, request, exchange);
      } else if (state.call === '' && responses[QUESTION]?.action !== 'accept') {
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

  /** Gives answers to the worker that asked. A worker that took its place will ask the same. */
  #give(call: HeldCall, given: GivenAnswer): void {
    call.round = undefined;
    call.answers.push(given);
    const asked = call.questions.find(({ digest }) => digest === given.digest);
    if (!asked) return;
    call.questions = call.questions.filter((one) => one !== asked);
    this.#answerWorker(call, asked, given);
  }

  #answerWorker({ envelope }: HeldCall, question: HeldQuestion, given: GivenAnswer): void {
    const { own } = splitQuestion(question, envelope.capabilities);
    given.worker = question.worker;
    this.#ports.send(answerTo(question, { ...own, ...given.responses }));
  }

  /** Answers a worker whose questions the client need not or cannot be asked. Returns false if the client is needed. */
  #needsNoClient(call: HeldCall, question: HeldQuestion): boolean {
    const { asked, own, refusal } = splitQuestion(question, call.envelope.capabilities);
    if (refusal) call.missing ??= refusal.missing;
    else if (Object.keys(asked).length > 0) return false;
    this.#ports.send(refusal ? { id: question.id, error: refusal.error } : answerTo(question, own));
    return true;
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

  /** Ends the client's request with the first input that the worker waits for. */
  #show(call: HeldCall): void {
    const { exchange } = call;
    if (!exchange) return;
    // Each request of the client states anew what it can be asked.
    while (call.questions[0] && this.#needsNoClient(call, call.questions[0])) call.questions.shift();
    const [question] = call.questions;
    if (!question) return;
    const { digest } = question;
    const { asked } = splitQuestion(question, call.envelope.capabilities);
    if (call.round?.digest !== digest) call.round = { nonce: randomUUID(), digest };
    const state = { call: `${this.#session} ${call.id}`, mayRepeat: this.#ports.host.mayRepeat(call.id) };
    call.exchange = undefined;
    call.timer = setTimeout(() => this.#drop(call), ROUND_MS).unref();
    this.#end(exchange, asked, { ...state, ...call.round, subject: call.subject });
    const held = [...this.#calls.values()].filter((one) => !one.exchange);
    if (held.length > MAX_HELD) this.#drop(held[0] as HeldCall);
  }

  /** Ends a request of the client with questions. */
  #end(
    exchange: Exchange,
    inputRequests: Readonly<Record<string, Question>>,
    { digest, ...state }: Pick<RoundState, 'call' | 'mayRepeat' | 'nonce' | 'subject'> & { digest: string },
  ): void {
    const { principal, serverInfo, seal } = this.#ports;
    const expires = Date.now() + ROUND_MS;
    const asks = Object.fromEntries(Object.entries(inputRequests).map(([key, { method }]) => [key, method]));
    const requestState = seal.seal({ ...state, principal, question: digest, asks, expires });
    const result = { resultType: INPUT_REQUIRED, inputRequests, requestState };
    exchange.answer(
      encodeMessage({ id: exchange.id, result: { ...result, _meta: { [SERVER_INFO_META]: serverInfo } } }),
    );
  }

  /** Asks the user to visit an address before the call begins again: the server refused it until then. */
  #askToVisit({ subject, envelope }: HeldCall, exchange: Exchange, params: Visit): void {
    const question = { method: 'elicitation/create', params: { ...params } };
    const lack = lackOf(question, envelope.capabilities);
    const asked = { [QUESTION]: question };
    const state = { call: '', mayRepeat: true, nonce: randomUUID(), subject, digest: digestOf(asked) };
    if (lack) lacks(exchange, lack.missing);
    else this.#end(exchange, asked, state);
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
