import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { deferred } from '../../../lib/deferred.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import type { RoundRefusal, UpstreamClientOptions } from '../upstreamClient.ts';
import type { Params, RpcError } from './eras.ts';
import type { OpenRequest } from './modernUpstream.ts';

/** Input that a request carries when it is sent again. */
export interface Inputs {
  inputResponses?: Params;
  /** State of the server, verbatim. */
  requestState?: string;
}

export interface InputRoundsPorts {
  /** Delivers a message to the client, as part of a call. */
  deliver(message: JSONRPCMessage, origin: object | undefined): void;
  /** Asks the questions of a round together, or is `undefined` where the client gets them one after the other. */
  askTogether: NonNullable<UpstreamClientOptions['onQuestions']>;
  isOpen(open: OpenRequest): boolean;
  /** Sends the request again. */
  resume(open: OpenRequest, inputs: Inputs): Promise<void>;
  fail(open: OpenRequest, error: RpcError): void;
  unusable(open: OpenRequest, message: string): void;
}

/** A server that asks more often does not get on with the call. */
const MAX_ROUNDS = 10;
const MAX_QUESTIONS = 16;
/** Limit of a key. The state of a client's round has all keys. */
const MAX_KEY_CHARS = 128;
/** Pause before a request is sent again for a server that asks for nothing but time. */
const PACE_MS = 250;

/** Requests that a server may ask of a client, with what to do where the client cannot answer them. */
const QUESTIONS: Readonly<Record<string, string>> = {
  'elicitation/create': 'call it from a client that supports elicitation',
  'sampling/createMessage': 'call it from a client that supports sampling',
  'roots/list': 'call it from a client with a workspace',
};

/** Question to the client, with the id that its request has, or would have. */
interface Question {
  key: string;
  id: string;
  method: string;
  params: Record<string, unknown>;
}

interface OpenQuestion {
  open: OpenRequest;
  resolve(result: Params): void;
  reject(error: RpcError): void;
}

/** Questions of servers within a call: the client gets them as requests, and the server its call again with the answers (M9.5). */
export class InputRounds {
  readonly #ports: InputRoundsPorts;
  readonly #questions = new Map<RequestId, OpenQuestion>();
  /** Ends the questions that a client is asked together. */
  readonly #together = new Map<OpenRequest, AbortController>();
  #lastId = 0;

  constructor(ports: InputRoundsPorts) {
    this.#ports = ports;
  }

  /** Answers the questions of a result and sends the request again. Reports a failure as the answer to the request. */
  async run(open: OpenRequest, result: Params): Promise<void> {
    const { isOpen, resume, fail, unusable } = this.#ports;
    const { requestState } = result;
    const asked = Object.entries(isRecord(result.inputRequests) ? result.inputRequests : {});
    const hasState = typeof requestState === 'string';
    open.rounds += 1;
    if (asked.length === 0 && !hasState) return unusable(open, 'an answer that asks for input and does not say which');
    if (asked.length > MAX_QUESTIONS) return unusable(open, `an answer with ${asked.length} questions at once`);
    if (asked.some(([key]) => key.length > MAX_KEY_CHARS)) return unusable(open, 'a question with an endless key');
    if (open.rounds > MAX_ROUNDS) {
      const message = `The server still asked for input after ${MAX_ROUNDS} rounds, so the call was given up; report it to the server's author.`;
      return fail(open, { code: INTERNAL_ERROR, message });
    }
    try {
      const questions = asked.map(([key, question]) => this.#read(key, question));
      const inputResponses = await this.#answersTo(open, questions);
      if (questions.length === 0) await sleep(PACE_MS);
      if (!isOpen(open)) return;
      await resume(open, {
        ...(questions.length > 0 ? { inputResponses } : {}),
        ...(hasState ? { requestState } : {}),
      });
    } catch (error) {
      fail(open, error as RpcError);
    }
  }

  /** Takes the client's answer to a question. */
  answered(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const { id = '' } = message;
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    if ('error' in message) question?.reject(message.error);
    else question?.resolve(message.result);
  }

  /** Withdraws the open questions of a request. */
  cancel(open: OpenRequest): void {
    this.#together.get(open)?.abort();
    for (const [requestId, question] of [...this.#questions]) {
      if (question.open !== open) continue;
      this.#questions.delete(requestId);
      const params = { requestId, reason: 'the call has ended' };
      this.#ports.deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, open.origin);
    }
  }

  #read(key: string, question: unknown): Question {
    const { method, params } = isRecord(question) ? question : {};
    if (typeof method !== 'string' || !Object.hasOwn(QUESTIONS, method)) {
      const name = typeof method === 'string' ? method.slice(0, 40) : 'nothing known';
      throw rpcError(METHOD_NOT_FOUND, `The call needs ${name} of its client, which MCP does not have.`);
    }
    this.#lastId += 1;
    const id = `waygate-input-${this.#lastId}`;
    return { key, id, method, params: asOlderParams(id, params) };
  }

  async #answersTo(open: OpenRequest, questions: readonly Question[]): Promise<Params> {
    const [first] = questions;
    if (!first) return {};
    const ended = new AbortController();
    const byKey = Object.fromEntries(questions.map(({ key, method, params }) => [key, { method, params }]));
    const together = this.#ports.askTogether(byKey, open.origin, ended.signal);
    if (together) {
      this.#together.set(open, ended);
      try {
        return await together;
      } catch (error) {
        const { method = first.method, ...refusal } = error as RoundRefusal;
        throw unanswered(method, { ...refusal, message: (error as Error).message });
      } finally {
        this.#together.delete(open);
      }
    }
    const answers: [string, Params][] = [];
    // Asked in turn, because a call may have one open question of a kind (M6.7).
    for (const question of questions) answers.push([question.key, await this.#ask(open, question)]);
    return Object.fromEntries(answers);
  }

  async #ask(open: OpenRequest, { id, method, params }: Question): Promise<Params> {
    const answer = deferred<Params>();
    this.#questions.set(id, { open, ...answer });
    this.#ports.deliver({ jsonrpc: '2.0', id, method, params }, open.origin);
    try {
      return await answer.promise;
    } catch (error) {
      throw unanswered(method, error as RpcError);
    }
  }
}

/** Adds the id that an elicitation by URL has in the older revisions. */
function asOlderParams(id: string, params: unknown): Record<string, unknown> {
  if (!isRecord(params)) return {};
  return params.mode === 'url' ? { ...params, elicitationId: id } : params;
}

/** Makes the error of a call whose question has no answer: it says why, and what to do. */
function unanswered(method: string, { code, message, data }: RpcError): RpcError {
  const why = message.replace(/^MCP error -?\d+: /, '').replace(/\.$/, '');
  // A reason with a remedy of its own has several sentences.
  const remedy = /\. /.test(why) ? '' : `; ${QUESTIONS[method]}`;
  return rpcError(code, `The call needs an answer to ${method}, and could not get it: ${why}${remedy}.`, data);
}

function rpcError(code: number, message: string, data?: unknown): RpcError {
  return { code, message, ...(data === undefined ? {} : { data }) };
}
