import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { faultResponse } from '../../link/frameFault.ts';
import { encodeOrRefuse, peekId, peekIsRequest, peekLastId, type RequestId } from '../../link/frames.ts';
import { LineSplitter, MAX_FRAME_BYTES } from '../../link/lineFraming.ts';
import { BATCH_VERSION } from '../mcpVersions.ts';
import { Oddities } from './oddities.ts';
import { PacedInput } from './pacedInput.ts';
import { UnaskedAllowance } from './unaskedAllowance.ts';
import { UpstreamRequestError } from './upstreamClient.ts';
import { readUpstreamFrame } from './upstreamFrames.ts';
import { WriteQueue } from './writeQueue.ts';

export interface StdioUpstreamOptions {
  /** Standard output of the server. */
  input: Readable;
  /** Standard input of the server. */
  output: Writable;
  oddities?: Oddities | undefined;
  /** Called with the beginning of a skipped line that is no JSON-RPC message. */
  onGarbage?: (sample: string) => void;
  frameLimit?: number;
}

/** Size of a sample for a log line. The receiver masks secrets before it shortens the sample. */
const SAMPLE_BYTES = 4 * 1024;
const LAST_WORDS_MS = 100;

/**
 * Transport to a server over its standard streams. The framing is our own, because the SDK gives up a connection for
 * one bad line (M7.1).
 */
export class StdioUpstream implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioUpstreamOptions;
  readonly #oddities: Oddities;
  readonly #queue: WriteQueue;
  readonly #unasked = new UnaskedAllowance();
  readonly #input: PacedInput;
  /** Open list requests, of which a part is better than nothing. */
  readonly #lists = new Set<RequestId>();
  #version: string | undefined;
  #closed = false;
  #closedBy: 'input' | 'output' | undefined;

  constructor(options: StdioUpstreamOptions) {
    this.#options = options;
    this.#oddities = options.oddities ?? new Oddities();
    this.#queue = new WriteQueue(options.output, () => this.#oddities.add('write_refused'));
    const { frameLimit = MAX_FRAME_BYTES } = options;
    const splitter = new LineSplitter(
      {
        onLine: (line) => this.#onLine(line),
        onOversize: (prefix, bytes, suffix) => this.#onOversize(prefix, bytes, suffix),
        onByteOrderMark: () => this.#oddities.add('byte_order_mark'),
      },
      frameLimit,
    );
    this.#input = new PacedInput(options.input, this.#unasked, {
      onBytes: (bytes) => splitter.push(bytes),
      onEnd: () => {
        if (splitter.pendingBytes > 0) this.#oddities.add('cut_line');
        this.#onClosed('output');
      },
      onThrottled: () => this.#oddities.add('throttled'),
    });
  }

  /** Stream of the server that has closed by itself. */
  get closedBy(): 'input' | 'output' | undefined {
    return this.#closedBy;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  start(): Promise<void> {
    this.#input.start();
    // Answers from before the server stopped reading may still be on their way.
    this.#options.output.on('error', () => setTimeout(() => this.#onClosed('input'), LAST_WORDS_MS));
    return Promise.resolve();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) throw new UpstreamRequestError('gone', 'the connection is closed');
    if ('method' in message && 'id' in message && message.method.endsWith('/list')) this.#lists.add(message.id);
    await this.#queue.write(encodeOrRefuse(message));
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#queue.close();
      this.#input.close();
      this.onclose?.();
    }
    return Promise.resolve();
  }

  #onClosed(stream: 'input' | 'output'): void {
    if (!this.#closed) this.#closedBy = stream;
    void this.close();
  }

  #onLine(line: Buffer): void {
    if (this.#closed) return;
    const { messages, replies, isGarbage } = readUpstreamFrame(line, {
      oddities: this.#oddities,
      allowsBatches: this.#version === BATCH_VERSION,
      isList: (id) => this.#lists.has(id),
    });
    if (isGarbage) this.#options.onGarbage?.(line.toString('utf8', 0, SAMPLE_BYTES));
    for (const reply of replies) void this.#queue.write(reply).catch(() => undefined);
    let isAnswer = false;
    for (const message of messages) {
      isAnswer ||= !('method' in message);
      this.#deliver(message);
    }
    if (!isAnswer) this.#unasked.spend(line.length, isGarbage ? 'garbage' : 'message');
  }

  #deliver(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#lists.delete(message.id);
    this.onmessage?.(message);
  }

  /** Fails the call that an oversized frame answers, where one of its ends contains the id. */
  #onOversize(prefix: Buffer, bytes: number, suffix: Buffer): void {
    if (this.#closed) return;
    this.#oddities.add('frame_too_large');
    const id = peekIsRequest(prefix) ? undefined : (peekId(prefix, 'answer') ?? peekLastId(suffix));
    const limit = this.#options.frameLimit ?? MAX_FRAME_BYTES;
    const words = `an answer of ${bytes} bytes is beyond the limit of ${limit}`;
    if (id === undefined) this.onerror?.(new Error(words));
    else this.#deliver(faultResponse(id, 'frame_too_large', words));
  }
}
