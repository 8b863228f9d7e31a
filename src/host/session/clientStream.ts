import type { Readable, Writable } from 'node:stream';
import { LineSplitter } from '../../link/lineFraming.ts';
import { tooLarge } from './clientLine.ts';

export interface ClientStreamEvents {
  onLine(line: Buffer): void;
  /** The client has stopped reading; `onDrain` follows when it reads again. */
  onFull(): void;
  onDrain(): void;
}

/** Exchanges messages with the client over two streams, one message per line. Each side sends at the reader's pace. */
export class ClientStream {
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #events: ClientStreamEvents;

  constructor(input: Readable, output: Writable, events: ClientStreamEvents) {
    this.#input = input;
    this.#output = output;
    this.#events = events;
  }

  /** Resolves when the client closes its end or becomes unreachable. */
  listen(): Promise<void> {
    const { onLine, onDrain } = this.#events;
    const splitter = new LineSplitter({
      onLine,
      onOversize: (prefix, bytes) => this.write(tooLarge(prefix, bytes)),
    });
    return new Promise((resolve) => {
      this.#input.on('data', (chunk: Buffer) => splitter.push(chunk));
      // Broken streams emit several errors.
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

  /** Writes a message of the host itself. */
  write(frame: string): void {
    this.#output.write(frame);
  }

  /** Forwards a worker's frame unchanged. */
  relay(frame: Buffer): void {
    // A copy saves a system call for small frames. A large frame gets its newline in a second write.
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
