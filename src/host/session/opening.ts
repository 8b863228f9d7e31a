import type { Readable } from 'node:stream';
import { isRecord } from '../../lib/isRecord.ts';
import type { JsonRpcMessage } from '../../link/frames.ts';
import { claimsModern, DISCOVER, LISTEN } from '../../mcp/modern/wire.ts';

/** Bytes within which the first line should end. A longer one is of the legacy era, where the reader refuses it. */
const MAX_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** Reads the first message of a client, which stays in the stream. Undefined for a line that is no message. */
export function firstMessage(input: Readable): Promise<JsonRpcMessage | undefined> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const settle = (message: JsonRpcMessage | undefined): void => {
      input.off('readable', look).off('end', onEnd).off('error', onEnd);
      resolve(message);
    };
    const onEnd = (): void => settle(undefined);
    const look = (): void => {
      for (let chunk = input.read() as Buffer | null; chunk !== null; chunk = input.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
      }
      const line = firstLine(bytes);
      if (line === undefined && bytes.length <= MAX_BYTES) return;
      input.unshift(bytes);
      settle(line === undefined ? undefined : messageIn(line));
    };
    input.on('readable', look).once('end', onEnd).once('error', onEnd);
  });
}

/** Returns whether a client that begins with this message speaks the modern era. */
export function opensModern(message: JsonRpcMessage): boolean {
  return claimsModern(message) || message.method === DISCOVER || message.method === LISTEN;
}

/** Returns the first line that is not empty. */
function firstLine(bytes: Buffer): string | undefined {
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    const line = bytes.toString('utf8', start, end).trim();
    if (line !== '') return line;
    start = end + 1;
  }
  return undefined;
}

function messageIn(line: string): JsonRpcMessage | undefined {
  try {
    const message: unknown = JSON.parse(line.replace(/^\ufeff/, ''));
    return isRecord(message) ? (message as unknown as JsonRpcMessage) : undefined;
  } catch {
    return undefined;
  }
}
