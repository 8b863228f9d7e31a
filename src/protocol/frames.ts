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

/** The codes of JSON-RPC 2.0; operational faults travel as tool results instead (design.md §3). */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const INTERNAL_ERROR = -32603;

/**
 * A message as one frame. `id` comes before the payload, so that a forwarder can tell whose answer a frame of a
 * hundred megabytes is without parsing it (`peekResponseId`).
 */
export function encodeMessage(message: object): string {
  const { jsonrpc: _jsonrpc, id, ...rest } = message as { jsonrpc?: unknown; id?: unknown };
  const head = id === undefined ? { jsonrpc: '2.0' } : { jsonrpc: '2.0', id };
  return `${JSON.stringify({ ...head, ...rest })}\n`;
}

const RESPONSE_HEAD = /^\{"jsonrpc":"2\.0","id":("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?),"(?:result|error)":/;
/** Ids are short; a response's head ends long before this. */
const HEAD_BYTES = 1024;

/** The id of a frame that `encodeMessage` made, when it is a response. */
export function peekResponseId(frame: Buffer): RequestId | undefined {
  const head = RESPONSE_HEAD.exec(frame.toString('utf8', 0, Math.min(frame.length, HEAD_BYTES)));
  return head ? (JSON.parse(head[1] as string) as RequestId) : undefined;
}

/** A key that keeps the number 7 and the string "7" apart. */
export function requestKey(id: RequestId): string {
  return typeof id === 'string' ? `s${id}` : `n${id}`;
}

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || typeof value === 'number';
}

export function errorResponse(id: RequestId | null, code: number, message: string): string {
  return encodeMessage({ id, error: { code, message } });
}

export function resultResponse(id: RequestId, result: unknown): string {
  return encodeMessage({ id, result });
}
