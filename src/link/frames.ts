import { INTERNAL_ERROR } from '../errors/rpcCodes.ts';

/** JSON-RPC frames as text, without the MCP SDK, for the host. */

export type RequestId = string | number;

export interface JsonRpcMessage {
  jsonrpc: '2.0';
  id?: RequestId | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** Prefix of private methods, which no client or server may send or receive (O1.8). */
export const PRIVATE_PREFIX = 'notifications/waygate/';
/** Sent by the worker to its hosts: it was asked to stop, so hosts start no other before the next request. */
export const STOPPED_NOTIFICATION = 'notifications/waygate/stopped';
/**
 * Sent by the worker to its hosts: another worker has taken over and gets new requests. This worker finishes its own.
 */
export const SUPERSEDED_NOTIFICATION = 'notifications/waygate/superseded';
/**
 * Sent by the worker to its hosts: `{ key, value }`, a value that the host keeps for the next worker; without a value,
 * the host forgets it. `counted` is the id of a request whose counting changed the value.
 */
export const KEEP_NOTIFICATION = 'notifications/waygate/keep';
/**
 * Sent by a host to a worker before any other frame of a session: `{ kept }`, each with its key, value and age in
 * seconds.
 */
export const KEPT_NOTIFICATION = 'notifications/waygate/kept';
/**
 * Sent by a host to a worker before a request that it sends again: `{ id, counted, replays }`, whether an earlier
 * worker has counted the request, and how many earlier workers may have begun it.
 */
export const RESENT_NOTIFICATION = 'notifications/waygate/resent';
/**
 * Sent by the worker to its hosts: `{ id, contract, toolId }`, the replay contract of a request, which depends on a tool
 * that the host does not know, and the begin of the call. Before this notification the call counts as not sent. With
 * `begins: false` it announces the contract alone.
 */
export const CONTRACT_NOTIFICATION = 'notifications/waygate/contract';
/** Sent by a host to a worker: `{ calls }`, calls that the host answered without a worker (`LostCall`). */
export const LOST_NOTIFICATION = 'notifications/waygate/lost';

/**
 * Encodes a message as one frame. `id` comes before the payload, so that a forwarder finds the request of a frame of a
 * hundred megabytes without parsing it (`peekResponseId`).
 */
export function encodeMessage(message: object): string {
  const { jsonrpc: _jsonrpc, id, ...rest } = message as { jsonrpc?: unknown; id?: unknown };
  const head = id === undefined ? { jsonrpc: '2.0' } : { jsonrpc: '2.0', id };
  return `${JSON.stringify({ ...head, ...rest })}\n`;
}

/** Encodes a message. A result that is too deep to serialize becomes an error for its caller. */
export function encodeOrRefuse(message: object): string {
  try {
    return encodeMessage(message);
  } catch (error) {
    const { id, result } = message as { id?: RequestId; result?: unknown };
    if (id === undefined || result === undefined) throw error;
    return errorResponse(id, INTERNAL_ERROR, `The answer cannot be sent: ${(error as Error).message}.`);
  }
}

const RESPONSE_HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":/;
/** Limit within which the head of a response ends, because ids are short. */
const HEAD_BYTES = 1024;

/** Returns the id of a frame of `encodeMessage`, if it is a response. */
export function peekResponseId(frame: Buffer): RequestId | undefined {
  const head = RESPONSE_HEAD.exec(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
  return head ? (JSON.parse(head[1] as string) as RequestId) : undefined;
}

const ERROR_HEAD = /^\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|-?\d+),"error":/;

/** Returns whether a response of `encodeMessage` is an error. */
export function peekIsError(frame: Buffer): boolean {
  return ERROR_HEAD.test(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
}

/** Matches whole strings (a cut one ends with the text), punctuation, and the text between. */
const TOKEN = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * Returns the id of a frame from its beginning: the id of the outermost object, never one further in, so that an
 * oversized answer fails its own call and no other. The id of a request is its sender's and does not count for
 * `answer`.
 */
export function peekId(prefix: Buffer, of: 'any' | 'answer' = 'any'): RequestId | undefined {
  let id: RequestId | undefined;
  for (const { name, value } of outerMembers(prefix)) {
    if (name === '"method"' && of === 'answer') return undefined;
    if (name === '"id"' && value !== undefined) id ??= parseId(value);
  }
  return id;
}

/** Returns whether a beginning belongs to a request or notification, with an id of its sender. */
export function peekIsRequest(prefix: Buffer): boolean {
  return outerMembers(prefix).some(({ name }) => name === '"method"');
}

/** Returns whether a beginning belongs to an answer. */
export function peekIsAnswer(prefix: Buffer): boolean {
  return outerMembers(prefix).some(({ name }) => name === '"result"' || name === '"error"');
}

/** Returns the members of the outermost object, each with the first token of its value where that is whole. */
function outerMembers(prefix: Buffer): { name: string; value: string | undefined }[] {
  const tokens = prefix.toString('utf8').match(TOKEN) ?? [];
  const members: { name: string; value: string | undefined }[] = [];
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    // The next token proves that the value is whole.
    else if (depth === 1 && tokens[i + 1] === ':')
      members.push({ name: token, value: i + 3 < tokens.length ? tokens[i + 2] : undefined });
  }
  return members;
}

/** Matches an id at the end of a message, where some SDKs write it. */
const LAST_ID = /[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Returns the id at the end of a message. Only the outermost object can end this way: within an inner object two braces
 * would close, within a string a quote would precede the brace.
 */
export function peekLastId(suffix: Buffer): RequestId | undefined {
  const id = LAST_ID.exec(suffix.toString('utf8'))?.[1];
  return id === undefined ? undefined : parseId(id);
}

function parseId(token: string): RequestId | undefined {
  try {
    const id: unknown = JSON.parse(token);
    return isRequestId(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Member of a private frame that names the related request. The host removes it before a client sees the frame. */
const RELATED_MEMBER = 'waygateRelated';
const RELATED_HEAD = new RegExp(`^\\{"${RELATED_MEMBER}":("(?:[^"\\\\]|\\\\.)*"|-?\\d+),`);

/** Marks a frame of `encodeMessage` as part of the answer to a request: over HTTP it must take the same stream. */
export function relateFrame(frame: string, id: RequestId): string {
  return `{"${RELATED_MEMBER}":${JSON.stringify(id)},${frame.slice(1)}`;
}

/** Returns the frame without the mark of `relateFrame`. */
export function splitRelated(frame: Buffer): { relatedTo: RequestId | undefined; frame: Buffer } {
  const head = RELATED_HEAD.exec(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
  if (!head) return { relatedTo: undefined, frame };
  const rest = frame.subarray(Buffer.byteLength(head[0]));
  return { relatedTo: JSON.parse(head[1] as string) as RequestId, frame: Buffer.concat([Buffer.from('{'), rest]) };
}

/** Returns a key that distinguishes the number 7 from the string "7". */
export function requestKey(id: RequestId): string {
  return typeof id === 'string' ? `s${id}` : `n${id}`;
}

/** Length limit of an id, so that it fits into the head of a response. */
const MAX_ID_CHARS = 128;
export const ID_FORM = `a whole number or a string of at most ${MAX_ID_CHARS} characters`;

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' ? value.length <= MAX_ID_CHARS : Number.isSafeInteger(value);
}

export function errorResponse(id: RequestId | null, code: number, message: string, data?: object): string {
  return encodeMessage({ id, error: { code, message, data } });
}

export function resultResponse(id: RequestId, result: unknown): string {
  return encodeMessage({ id, result });
}
