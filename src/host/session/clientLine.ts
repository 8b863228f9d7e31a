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
  /** Answer to a request from a worker. */
  | { kind: 'answer' }
  /** Message that the host drops. */
  | { kind: 'ignored' }
  /** Invalid message, which the host answers with an error. */
  | { kind: 'refused'; answer: string };

const refused = (id: RequestId | null, code: number, message: string): ClientLine => ({
  kind: 'refused',
  answer: errorResponse(id, code, message),
});

/** Parses and classifies a line from the client. */
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
    return refused(isRequestId(id) ? id : null, INVALID_REQUEST, 'A message must have a method, a result or an error.');
  }
  // The worker trusts private methods, so only the host may send them.
  const isPrivate = message.method.startsWith(PRIVATE_PREFIX);
  if (isPrivate && id === undefined) return { kind: 'ignored' };
  if (isPrivate && isRequestId(id)) return refused(id, METHOD_NOT_FOUND, `Method not found: ${message.method}`);
  if (id === undefined) return { kind: 'notification', message };
  if (isRequestId(id)) return { kind: 'request', id, message };
  const known = typeof id === 'string' || typeof id === 'number' ? id : null;
  return refused(known, INVALID_REQUEST, `A request id must be ${ID_FORM}.`);
}

/** Makes the answer to an oversized message; its first bytes may contain the id. */
export function tooLarge(prefix: Buffer, bytes: number): string {
  return errorResponse(
    peekId(prefix) ?? null,
    INVALID_REQUEST,
    `A message of ${bytes} bytes is too large; the limit is 16 MiB.`,
  );
}
