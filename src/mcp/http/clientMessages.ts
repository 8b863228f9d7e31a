import type { IncomingMessage } from 'node:http';
import { PARSE_ERROR } from '../../errors/rpcCodes.ts';
import { isRequestId, type JsonRpcMessage } from '../../link/frames.ts';
import { HttpRefusal } from './httpRefusal.ts';

/** Message of the client, and its line for the host. */
export interface ClientMessage {
  message: JsonRpcMessage;
  line: string;
}

export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = (): HttpRefusal => new HttpRefusal(413, `The message is too large; the limit is ${limit} bytes.`);
  if (Number(request.headers['content-length']) > limit) throw tooLarge();
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > limit) throw tooLarge();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Limit of a batch. Only revision 2025-03-26 has batches (M4.1). */
const MAX_BATCH = 100;

export function parseMessages(body: Buffer, batches: boolean): ClientMessage[] {
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpRefusal(400, 'The body is not JSON.', {}, PARSE_ERROR);
  }
  if (!Array.isArray(value)) {
    assertMessage(value);
    // JSON has line ends only between tokens, where a space means the same.
    return [{ message: value, line: `${text.replace(/[\r\n]+/g, ' ')}\n` }];
  }
  if (!batches) throw new HttpRefusal(400, 'The body must be one JSON-RPC message; batches are not part of MCP.');
  if (value.length === 0 || value.length > MAX_BATCH) {
    throw new HttpRefusal(400, `A batch must have between 1 and ${MAX_BATCH} messages.`);
  }
  return value.map((message: unknown) => {
    assertMessage(message);
    return { message, line: `${JSON.stringify(message)}\n` };
  });
}

function assertMessage(value: unknown): asserts value is JsonRpcMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HttpRefusal(400, 'The body must be one JSON-RPC message.');
  }
  const { id, method } = value as JsonRpcMessage;
  const wellFormed = typeof method === 'string' ? id === undefined || isRequestId(id) : isRequestId(id);
  if (!wellFormed)
    throw new HttpRefusal(400, 'The body is neither a request, a notification nor an answer of JSON-RPC.');
}
