import type { Readable, Writable } from 'node:stream';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeOrRefuse, errorResponse, isRequestId, peekId, type RequestId, relateFrame } from '../../link/frames.ts';
import { LineSplitter, MAX_FRAME_BYTES } from '../../link/lineFraming.ts';
import { isMeta } from '../metaForm.ts';

export interface LineTransportOptions {
  input: Readable;
  output: Writable;
  frameLimit?: number;
  /**
   * Prefix of the ids of our own requests. Every process counts from 0: without a prefix, a client's answer to a lost
   * worker would pass for one to its successor.
   */
  idPrefix?: string;
  /** Whether to mark messages that belong to a request of the other side (`relateFrame`). */
  marksRelated?: boolean;
}

/**
 * The SDK's `Transport` over any pair of byte streams, with our own framing: a banner on stdout, a BOM or an oversized
 * line costs nothing but itself.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: LineTransportOptions;
  #closed = false;
  #blocked: Promise<void> | undefined;

  constructor(options: LineTransportOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { input, output, frameLimit = MAX_FRAME_BYTES } = this.#options;
    const splitter = new LineSplitter(
      { onLine: (line) => this.#onLine(line), onOversize: (prefix, bytes) => this.#onOversize(prefix, bytes) },
      frameLimit,
    );
    input.on('data', (chunk: Buffer) => splitter.push(chunk));
    input.once('end', () => void this.close());
    input.once('close', () => void this.close());
    input.on('error', () => void this.close());
    output.on('error', () => void this.close());
    return Promise.resolve();
  }

  /** Settles when the stream takes more, or with the loss of the connection: a dead child never calls back. */
  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const { output } = this.#options;
    if (this.#closed || output.destroyed || output.writableEnded) throw new Error('the connection is closed');
    const frame = encodeOrRefuse(this.#withPrefix(message));
    const request = this.#options.marksRelated === true && 'method' in message ? options?.relatedRequestId : undefined;
    if (output.write(request === undefined ? frame : relateFrame(frame, request))) return;
    this.#blocked ??= untilDrained(output).finally(() => {
      this.#blocked = undefined;
    });
    await this.#blocked;
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.onclose?.();
    }
    return Promise.resolve();
  }

  #onLine(line: Buffer): void {
    if (this.#closed) return;
    let value: unknown;
    try {
      value = JSON.parse(line.toString('utf8'));
    } catch {
      return;
    }
    // Only revision 2025-03-26 has batches, but accept them from any sender.
    for (const item of Array.isArray(value) ? value : [value]) {
      const message = readMessage(item);
      if (message) this.#deliver(message);
    }
  }

  /** Delivers a message, or refuses a request whose params MCP does not allow. */
  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message && !hasSoundParams(message)) {
      const { id, method } = message as { id: RequestId; method: string };
      this.#options.output.write(errorResponse(id, INVALID_REQUEST, `The params of ${method} are not of MCP's form.`));
    } else if ('method' in message) this.onmessage?.(message);
    else this.#deliverResponse(message);
  }

  #withPrefix(message: JSONRPCMessage): JSONRPCMessage {
    const { idPrefix } = this.#options;
    if (idPrefix === undefined || !('method' in message)) return message;
    if ('id' in message) return { ...message, id: `${idPrefix}${message.id}` };
    if (message.method !== 'notifications/cancelled') return message;
    return { ...message, params: { ...message.params, requestId: `${idPrefix}${message.params?.requestId}` } };
  }

  #deliverResponse(message: JSONRPCMessage): void {
    const { idPrefix } = this.#options;
    if (idPrefix === undefined || !('id' in message)) {
      this.onmessage?.(message);
      return;
    }
    const id = String(message.id);
    // Drop an answer to another process's question.
    if (id.startsWith(idPrefix)) this.onmessage?.({ ...message, id: Number(id.slice(idPrefix.length)) });
  }

  /** Fails the call that an oversized frame answers, where its beginning contains the id. */
  #onOversize(prefix: Buffer, bytes: number): void {
    const id = peekId(prefix);
    const message = `a message of ${bytes} bytes is beyond the limit of ${this.#options.frameLimit ?? MAX_FRAME_BYTES}`;
    if (id === undefined) this.onerror?.(new Error(message));
    else this.#deliver({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } });
  }
}

function untilDrained(output: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      output.off('drain', onDrain).off('close', onClose);
      if (error) reject(error);
      else resolve();
    };
    const onDrain = (): void => settle();
    const onClose = (): void => settle(new Error('the connection is closed'));
    output.on('drain', onDrain).on('close', onClose);
  });
}

/**
 * Reads one message, and repairs it where its meaning is plain. An invalid response fails its call instead of hanging
 * it.
 */
function readMessage(value: unknown): JSONRPCMessage | undefined {
  if (!isRecord(value)) return undefined;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (id !== undefined && !isRequestId(id)) return undefined;
    const head = { jsonrpc: '2.0' as const, ...(id === undefined ? {} : { id }), method };
    return (params === undefined || params === null ? head : { ...head, params }) as JSONRPCMessage;
  }
  if (!isRequestId(id)) return undefined;
  if (error === undefined || error === null) {
    if (isRecord(result)) return { jsonrpc: '2.0', id, result };
    return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: 'an answer whose result is not an object' } };
  }
  return { jsonrpc: '2.0', id, error: readError(error) };
}

/** Returns whether the params of a request are of MCP's form. */
function hasSoundParams({ params }: { params?: unknown }): boolean {
  return params === undefined || (isRecord(params) && isMeta(params._meta));
}

function readError(error: unknown): { code: number; message: string; data?: unknown } {
  const { code, message, data } = isRecord(error) ? error : { message: error };
  return {
    code: Number.isInteger(code) ? (code as number) : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : 'an error without a message',
    ...(data === undefined ? {} : { data }),
  };
}
