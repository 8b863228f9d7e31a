import { createHash } from 'node:crypto';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import { METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { RequestId } from '../../link/frames.ts';
import type { Envelope } from '../../mcp/modern/envelope.ts';
import type { Exchange } from '../../mcp/modern/exchange.ts';
import { missingCapability } from '../../modes/shared/client/clientCapabilities.ts';

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
  /** Questions without an answer, of which the first is with the client. */
  questions: HeldQuestion[];
  /** Answers that the client gave in earlier rounds. */
  readonly answers: GivenAnswer[];
  /** Round that waits for the client. A question that is shown again stays the same round. */
  round: { nonce: string; digest: string } | undefined;
  /** Capability without which the client could not be asked something. */
  missing: object | undefined;
  /** Answer of the call that came while no request of the client was open. */
  done: Buffer | undefined;
  timer: NodeJS.Timeout | undefined;
}

export interface HeldQuestion {
  /** Id that the worker gave its request. */
  id: RequestId;
  worker: string;
  method: string;
  params: Readonly<Record<string, unknown>>;
  digest: string;
}

export interface GivenAnswer {
  digest: string;
  response: Readonly<Record<string, unknown>>;
  /** Worker that got the answer. Another one that asks the same gets it too, and the user is not asked again. */
  worker: string | undefined;
}

export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

/** Reads a request of a worker for the client. */
export function readQuestion(id: RequestId, method: string, given: unknown): HeldQuestion {
  // The revision has neither tasks nor a notification for the end of an elicitation by URL.
  const { _meta, task: _task, elicitationId: _id, ...params } = isRecord(given) ? given : {};
  // Ids of a worker count behind a prefix of its own.
  const worker = String(id).replace(/\d+$/, '');
  return { id, worker, method, params, digest: digestOf({ method, params }) };
}

/**
 * Answer to a question that the client must not be asked, as the client itself would give it, and the capability that it
 * lacks for the question.
 */
export function answerWithoutClient(
  { method, params }: Pick<HeldQuestion, 'method' | 'params'>,
  capabilities: Readonly<Record<string, unknown>>,
): { answer: { result: object } | { error: object }; missing?: object } | undefined {
  if (method === 'roots/list') return capabilities.roots ? undefined : { answer: { result: { roots: [] } } };
  const error = missingCapability(method, params, capabilities);
  if (!error) return undefined;
  const [name] = method.split('/') as [string];
  const part = name === 'sampling' ? params.tools && 'tools' : params.mode === 'url' ? 'url' : 'form';
  const missing = { [name]: part ? { [String(part)]: {} } : {} };
  return { answer: { error: { code: error.code, message: error.message } }, missing };
}

export const ONLY_WITHIN_CALLS = {
  code: METHOD_NOT_FOUND,
  message: 'The client can only be asked while it waits for tools/call, prompts/get or resources/read.',
};

const ACTIONS = ['accept', 'decline', 'cancel'];

/** Returns what is wrong with the client's answer to a question, or `undefined`. */
export function faultOfResponse(method: string, response: unknown): string | undefined {
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
