import { createHash } from 'node:crypto';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import { METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { RequestId } from '../../link/frames.ts';
import type { Envelope } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { QUESTIONS_METHOD } from '../../mcp/modern/wire.ts';
import { missingCapability } from '../../modes/shared/client/clientCapabilities.ts';
import { visibleJson } from '../../text/visibleText.ts';

/** Request of a modern client without the members of the revision. */
export interface ModernRequest {
  method: string;
  params: Readonly<Record<string, unknown>>;
  envelope: Envelope;
}

/** Call in the legacy session. Between two rounds the client has no open request for it. */
export interface HeldCall extends ModernRequest {
  /** Id in the legacy session. */
  readonly id: number;
  /** Digest of the method and the parameters. */
  readonly subject: string;
  /** Request of the client that waits. */
  exchange: Exchange | undefined;
  /** Inputs without an answer, of which the first is with the client. */
  questions: HeldQuestion[];
  /** Answers that the client gave in earlier rounds. */
  readonly answers: GivenAnswer[];
  /** Answers that the client gave before it was asked. They may answer the first round of a server. */
  early: unknown;
  /** Round that waits for the client. Questions that are shown again stay the same round. */
  round: { nonce: string; digest: string } | undefined;
  /** Capability without which the client could not be asked something. */
  missing: object | undefined;
  /** Answer of the call that came while no request of the client was open. */
  done: Buffer | undefined;
  timer: NodeJS.Timeout | undefined;
}

export interface Question {
  method: string;
  params: Readonly<Record<string, unknown>>;
}

/** Request of a worker for input of the client: one question, or those of a server's round. */
export interface HeldQuestion {
  /** Id that the worker gave its request. */
  id: RequestId;
  worker: string;
  /** The questions have keys of their server, and the worker wants all answers by them. */
  isRound: boolean;
  /** Questions by key, as the client gets them. */
  asked: Readonly<Record<string, Question>>;
  digest: string;
}

/** Answers to questions, by their keys. */
export type Responses = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface GivenAnswer {
  digest: string;
  responses: Responses;
  /** Worker that got the answer. Another one that asks the same gets it too, and the user is not asked again. */
  worker: string | undefined;
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

/** Key of a question that has none of a server. */
export const QUESTION = 'question';

/** Reads a request of a worker for the client. */
export function readQuestion(id: RequestId, method: string, params: unknown): HeldQuestion {
  const isRound = method === QUESTIONS_METHOD;
  const requests = isRecord(params) && isRecord(params.requests) ? params.requests : {};
  const questions = isRound
    ? Object.entries(requests as Record<string, Question>)
    : [[QUESTION, { method, params }] as const];
  const asked = Object.fromEntries(questions.map(([key, one]) => [key, plainQuestion(one.method, one.params)]));
  // Ids of a worker count behind a prefix of its own.
  const worker = String(id).replace(/\d+$/, '');
  return { id, worker, isRound, asked, digest: digestOf(asked) };
}

function plainQuestion(method: string, given: unknown): Question {
  // The revision has neither tasks nor a notification for the end of an elicitation by URL.
  const { _meta, task: _task, elicitationId: _id, ...params } = isRecord(given) ? given : {};
  return { method, params };
}

/** Makes the answer to a worker's request. */
export function answerTo({ id, isRound }: HeldQuestion, responses: Responses): object {
  return { id, result: isRound ? { responses } : responses[QUESTION] };
}

/** Parts of a worker's request. */
interface Split {
  /** Questions for the client. */
  asked: HeldQuestion['asked'];
  /** Answers that need no client. */
  own: Responses;
  /** Error if the client cannot be asked one of the questions, and the capability that it lacks. */
  refusal: { error: object; missing: object } | undefined;
}

/** Divides a request of a worker by what the client can be asked. */
export function splitQuestion(
  { isRound, asked: all }: HeldQuestion,
  capabilities: Readonly<Record<string, unknown>>,
): Split {
  // Not assigned by key, because a server may choose `__proto__`.
  const asked: [string, Question][] = [];
  const own: [string, Responses[string]][] = [];
  let refusal: Split['refusal'];
  for (const [key, question] of Object.entries(all)) {
    const { method } = question;
    const lack = lackOf(question, capabilities);
    if (lack) refusal ??= { ...lack, error: isRound ? { ...lack.error, data: { method } } : lack.error };
    else if (method === 'roots/list' && !capabilities.roots) own.push([key, { roots: [] }]);
    else asked.push([key, question]);
  }
  return { asked: Object.fromEntries(asked), own: Object.fromEntries(own), refusal };
}

/**
 * Returns the answers to a round that the request of the client had without a state, once. A server of the revision may
 * take such answers. A question of the gateway takes none: an approval answers what the user saw.
 */
export function takeEarly(call: HeldCall, { isRound, asked }: HeldQuestion): Responses | undefined {
  const { early } = call;
  if (!isRound || !isRecord(early)) return undefined;
  call.early = undefined;
  const methods = Object.fromEntries(Object.entries(asked).map(([key, { method }]) => [key, method]));
  const responses = Object.fromEntries(Object.entries(early).filter(([key]) => Object.hasOwn(asked, key))) as Responses;
  return faultOfResponses(methods, responses) === undefined ? responses : undefined;
}

/** Error for a question that the client cannot be asked, as the client itself would give it, and the missing capability. */
export function lackOf(
  { method, params }: Question,
  capabilities: Readonly<Record<string, unknown>>,
): { error: object; missing: object } | undefined {
  const error = method === 'roots/list' ? undefined : missingCapability(method, params, capabilities);
  if (!error) return undefined;
  const [name] = method.split('/') as [string];
  const part = name === 'sampling' ? params.tools && 'tools' : params.mode === 'url' ? 'url' : 'form';
  const missing = { [name]: part ? { [String(part)]: {} } : {} };
  return { error: { code: error.code, message: error.message }, missing };
}

export const ONLY_WITHIN_CALLS = {
  code: METHOD_NOT_FOUND,
  message: 'The client can only be asked while it waits for tools/call, prompts/get or resources/read.',
};

const ACTIONS = ['accept', 'decline', 'cancel'];

/** Returns what is wrong with the client's answers to the questions with these methods, or `undefined`. */
export function faultOfResponses(
  methods: Readonly<Record<string, string>>,
  responses: Partial<Responses>,
): string | undefined {
  for (const [key, method] of Object.entries(methods)) {
    const fault = faultOfResponse(method, responses[key]);
    const member = /^\w+$/.test(key) ? `.${key}` : `[${visibleJson(key)}]`;
    if (fault) return `params.inputResponses${member} ${fault}.`;
  }
  return undefined;
}

function faultOfResponse(method: string, response: unknown): string | undefined {
  if (response === undefined) return 'is missing';
  if (!isRecord(response)) return 'must be an object';
  if (method === 'elicitation/create') {
    return ACTIONS.some((action) => action === response.action)
      ? undefined
      : `must have an action of ${ACTIONS.join(', ')}`;
  }
  if (method === 'roots/list') return Array.isArray(response.roots) ? undefined : 'must have a list of roots';
  return typeof response.role === 'string' && response.content !== undefined
    ? undefined
    : 'must have a role and content';
}
