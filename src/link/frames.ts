/** JSON-RPC frames as text, without the MCP SDK: all that a host needs to know of them. */

export type RequestId = string | number;

export interface JsonRpcMessage {
  jsonrpc: '2.0';
  id?: RequestId | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** What no client ever sees or may say, and no server either. */
export const PRIVATE_PREFIX = 'notifications/waygate/';
/** From the worker to its hosts alone: it was asked to stop, so nobody starts another before there is a request. */
export const STOPPED_NOTIFICATION = 'notifications/waygate/stopped';
/** Likewise: another worker has taken over. New requests are its own; this one finishes what it has. */
export const SUPERSEDED_NOTIFICATION = 'notifications/waygate/superseded';
/**
 * Likewise: `{ key, value }`, what a host keeps of the session for the worker that comes next; without value, no longer.
 * `counted` is the id of a request where that is what has changed: it was counted among the session's calls.
 */
export const KEEP_NOTIFICATION = 'notifications/waygate/keep';
/** From a host to a worker, before anything else of a session: `{ kept }`, each with its key, its value and its age in seconds. */
export const KEPT_NOTIFICATION = 'notifications/waygate/kept';
/**
 * From a host to a worker, before a request that it sends again: `{ id, counted, replays }`, whether a worker before has
 * counted it, and how many of them may have begun with it.
 */
export const RESENT_NOTIFICATION = 'notifications/waygate/resent';
/**
 * From the worker to its hosts alone: `{ id, contract }`, what a request's replay contract is, which depends on a tool
 * that the host does not know, and that the call begins now: until then it is as good as not sent. With `begins: false`
 * the contract alone, known before.
 */
export const CONTRACT_NOTIFICATION = 'notifications/waygate/contract';
/** From a host to a worker: `{ calls }`, which the host has answered without a worker (`LostCall`). */
export const LOST_NOTIFICATION = 'notifications/waygate/lost';

/**
 * A message as one frame. `id` comes before the payload, so that a forwarder can tell whose answer a frame of a
 * hundred megabytes is without parsing it (`peekResponseId`).
 */
export function encodeMessage(message: object): string {
  const { jsonrpc: _jsonrpc, id, ...rest } = message as { jsonrpc?: unknown; id?: unknown };
  const head = id === undefined ? { jsonrpc: '2.0' } : { jsonrpc: '2.0', id };
  return `${JSON.stringify({ ...head, ...rest })}\n`;
}

const RESPONSE_HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+),"(?:result|error)":/;
/** Ids are short; a response's head ends long before this. */
const HEAD_BYTES = 1024;

/** The id of a frame that `encodeMessage` made, when it is a response. */
export function peekResponseId(frame: Buffer): RequestId | undefined {
  const head = RESPONSE_HEAD.exec(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
  return head ? (JSON.parse(head[1] as string) as RequestId) : undefined;
}

const ERROR_HEAD = /^\{"jsonrpc":"2\.0","id":(?:"(?:[^"\\]|\\.)*"|-?\d+),"error":/;

/** Whether a response that `encodeMessage` made is an error. */
export function peekIsError(frame: Buffer): boolean {
  return ERROR_HEAD.test(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
}

/** Strings whole (one that is cut off ends with the text), punctuation, and whatever stands between. */
const TOKEN = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/**
 * The id of a frame of which only the beginning is there: that of the outermost object, never one further in, so that
 * an oversized answer fails its own call and no other. A request has an id of its sender's: it is no `answer`.
 */
export function peekId(prefix: Buffer, of: 'any' | 'answer' = 'any'): RequestId | undefined {
  let id: RequestId | undefined;
  for (const { name, value } of outerMembers(prefix)) {
    if (name === '"method"' && of === 'answer') return undefined;
    if (name === '"id"' && value !== undefined) id ??= parseId(value);
  }
  return id;
}

/** Whether what begins so is a request or a notification: its id, first or last, is its sender's. */
export function peekIsRequest(prefix: Buffer): boolean {
  return outerMembers(prefix).some(({ name }) => name === '"method"');
}

/** Whether what begins so is an answer, whosever. */
export function peekIsAnswer(prefix: Buffer): boolean {
  return outerMembers(prefix).some(({ name }) => name === '"result"' || name === '"error"');
}

/** The members of the outermost object, each with the first token of its value where that is whole. */
function outerMembers(prefix: Buffer): { name: string; value: string | undefined }[] {
  const tokens = prefix.toString('utf8').match(TOKEN) ?? [];
  const members: { name: string; value: string | undefined }[] = [];
  let depth = 0;
  for (const [i, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth += 1;
    else if (token === '}' || token === ']') depth -= 1;
    // What stands behind the value tells that the value is whole.
    else if (depth === 1 && tokens[i + 1] === ':')
      members.push({ name: token, value: i + 3 < tokens.length ? tokens[i + 2] : undefined });
  }
  return members;
}

/** The id of a message of which only the end is there, where it stands last, as some SDKs write it. */
const LAST_ID = /[,{]\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/**
 * Nothing but the message itself can end with it: within an inner object two braces would close, within a string a
 * quote would stand before the brace.
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

/** Which request a message of ours belongs to; a member of the private frame, taken off before a client sees it. */
const RELATED_MEMBER = 'waygateRelated';
const RELATED_HEAD = new RegExp(`^\\{"${RELATED_MEMBER}":("(?:[^"\\\\]|\\\\.)*"|-?\\d+),`);

/** Marks a frame of `encodeMessage` as part of the answer to a request: over HTTP it must go where that answer goes. */
export function relateFrame(frame: string, id: RequestId): string {
  return `{"${RELATED_MEMBER}":${JSON.stringify(id)},${frame.slice(1)}`;
}

/** The frame as it was before `relateFrame`. */
export function splitRelated(frame: Buffer): { relatedTo: RequestId | undefined; frame: Buffer } {
  const head = RELATED_HEAD.exec(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
  if (!head) return { relatedTo: undefined, frame };
  const rest = frame.subarray(Buffer.byteLength(head[0]));
  return { relatedTo: JSON.parse(head[1] as string) as RequestId, frame: Buffer.concat([Buffer.from('{'), rest]) };
}

/** A key that keeps the number 7 and the string "7" apart. */
export function requestKey(id: RequestId): string {
  return typeof id === 'string' ? `s${id}` : `n${id}`;
}

/** Longer ids would not fit the head of a response. */
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
