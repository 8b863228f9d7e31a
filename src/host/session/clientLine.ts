import { INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR } from '../../errors/rpcCodes.ts';
import {
  errorResponse,
  ID_FORM,
  isRequestId,
  type JsonRpcMessage,
  PRIVATE_PREFIX,
  peekId,
  type RequestId,
} from '../../link/frames.ts';

export type ClientLine =
  | { kind: 'request'; id: RequestId; message: JsonRpcMessage }
  | { kind: 'notification'; message: JsonRpcMessage }
  /** To what a worker has asked. */
  | { kind: 'answer' }
  /** It is for nobody. */
  | { kind: 'ignored' }
  /** It is no message of MCP: the client is told so. */
  | { kind: 'refused'; answer: string };

const refused = (id: RequestId | null, code: number, message: string): ClientLine => ({
  kind: 'refused',
  answer: errorResponse(id, code, message),
});

/** What a line of the client is. */
export function readClientLine(line: Buffer): ClientLine {
  let message: JsonRpcMessage;
  try {
    message = JSON.parse(line.toString('utf8')) as JsonRpcMessage;
  } catch {
    return refused(null, PARSE_ERROR, 'The line is not JSON.');
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refused(null, INVALID_REQUEST, 'Each line must be one JSON-RPC message; batches are not part of MCP.');
  }
  const { id } = message as { id?: unknown };
  if (typeof message.method !== 'string') {
    if ('result' in message || 'error' in message) return { kind: 'answer' };
    return refused(isRequestId(id) ? id : null, INVALID_REQUEST, 'A message has a method, a result or an error.');
  }
  // A worker believes what is said there: only its host may.
  const isPrivate = message.method.startsWith(PRIVATE_PREFIX);
  if (isPrivate && id === undefined) return { kind: 'ignored' };
  if (isPrivate && isRequestId(id)) return refused(id, METHOD_NOT_FOUND, `Method not found: ${message.method}`);
  if (id === undefined) return { kind: 'notification', message };
  if (isRequestId(id)) return { kind: 'request', id, message };
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return refused(known, INVALID_REQUEST, `A request id must be ${ID_FORM}.`);
}

/** The answer to one that is not read whole; its beginning may tell whose it is. */
export function tooLarge(prefix: Buffer, bytes: number): string {
  return errorResponse(
    peekId(prefix) ?? null,
    INVALID_REQUEST,
    `A message of ${bytes} bytes is too large; the limit is 16 MiB.`,
  );
}
