import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { encodeMessage, isRequestId } from './frames.ts';
import { LineSplitter, MAX_FRAME_BYTES } from './lineFraming.ts';

export interface LineTransportOptions {
  input: Readable;
  output: Writable;
  /** A line that is no JSON-RPC message: skipped, and told of. */
  onGarbage?: (sample: string) => void;
  frameLimit?: number;
}

/** Samples of what is not a message are for a log line. */
const SAMPLE_CHARS = 120;

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

  send(message: JSONRPCMessage): Promise<void> {
    const { output } = this.#options;
    if (this.#closed || output.destroyed || output.writableEnded) {
      return Promise.reject(new Error('the connection is closed'));
    }
    // Settles with the loss of the connection too: a dead child never calls back.
    return new Promise((resolve, reject) => {
      if (output.write(encodeMessage(message))) resolve();
      else {
        const settle = (error?: Error): void => {
          output.off('drain', settle).off('close', onClose);
          if (error) reject(error);
          else resolve();
        };
        const onClose = (): void => settle(new Error('the connection is closed'));
        output.on('drain', settle).on('close', onClose);
      }
    });
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
    const text = line.toString('utf8');
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      this.#options.onGarbage?.(text.slice(0, SAMPLE_CHARS));
      return;
    }
    if (isMessage(value)) this.onmessage?.(value);
    else this.#options.onGarbage?.(text.slice(0, SAMPLE_CHARS));
  }

  /** The oversized frame fails its own call, where its beginning tells whose answer it is. */
  #onOversize(prefix: Buffer, bytes: number): void {
    const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]/.exec(prefix.toString('utf8'))?.[1];
    const message = `a message of ${bytes} bytes is beyond the limit of ${this.#options.frameLimit ?? MAX_FRAME_BYTES}`;
    if (id === undefined) this.onerror?.(new Error(message));
    else this.onmessage?.({ jsonrpc: '2.0', id: JSON.parse(id), error: { code: -32000, message } } as JSONRPCMessage);
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const message = value as Record<string, unknown>;
  // Servers that forget "jsonrpc" mean the same.
  message['jsonrpc'] ??= '2.0';
  if (typeof message['method'] === 'string') return message['id'] === undefined || isRequestId(message['id']);
  return isRequestId(message['id']) && ('result' in message || 'error' in message);
}
