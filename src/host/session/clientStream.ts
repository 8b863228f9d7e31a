import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../../link/lineFraming.ts';
import { tooLarge } from './clientLine.ts';

export interface ClientStreamEvents {
  onLine(line: Buffer): void;
  /** The client does not read what it is sent; `onDrain` tells when it does again. */
  onFull(): void;
  onDrain(): void;
}

/** The client of a session at the other end of two streams: a message a line, each way at the reader's pace. */
export class ClientStream {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #events: ClientStreamEvents;

  constructor(input: Readable, output: Writable, events: ClientStreamEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
  }

  /** Resolves when the client sends nothing more, or cannot be reached. */
  listen(): Promise<void> {
    const { onLine, onDrain } = this.#events;
    const splitter = new LineSplitter({
      onLine,
      onOversize: (prefix, bytes) => this.write(tooLarge(prefix, bytes)),
    });
    return new Promise((resolve) => {
      this.#input.on('data', (chunk: Buffer) => splitter.push(chunk));
      // Broken streams tell so more than once.
      this.#input.once('end', resolve).on('error', () => resolve());
      this.#output.on('error', () => resolve());
      this.#output.on('drain', () => onDrain());
    });
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  /** What the host says itself. */
  write(frame: string): void {
    this.#output.write(frame);
  }

  /** What a worker says, as it came. */
  relay(frame: Buffer): void {
    // One system call where that is cheaper than the copy; the client has nothing before the newline.
    const isCopied = frame.length <= MAX_COPIED_BYTES;
    if (!isCopied) this.#output.write(frame);
    if (!this.#output.write(isCopied ? framed(frame) : NEWLINE)) this.#events.onFull();
  }
}

const NEWLINE = Buffer.from('\n');
const MAX_COPIED_BYTES = 64 * 1024;

export function framed(line: Buffer): Buffer {
  return Buffer.concat([line, NEWLINE]);
}
