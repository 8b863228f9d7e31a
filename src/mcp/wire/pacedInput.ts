import type { Readable } from 'node:stream';
import type { UnaskedAllowance } from './unaskedAllowance.ts';

export interface PacedInputHandlers {
  onBytes(bytes: Buffer): void;
  /** Called after the last input has been handled. */
  onEnd(): void;
  /** Reading pauses for a while. */
  onThrottled(): void;
}

/** Time to read one server before the others have their turn. */
const TURN_MS = 1;
/** Bytes between two readings of the clock. */
const SLICE_BYTES = 4 * 1024;
const LONGEST_HOLD_MS = 100;

/**
 * Reads a server's output in turns: 64 KB of a flood are thousands of lines, and a call to another server must not wait
 * for all of them (M7.4).
 */
export class PacedInput {
  readonly #input: Readable;
  readonly #allowance: UnaskedAllowance;
  readonly #handlers: PacedInputHandlers;
  readonly #backlog: Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn: NodeJS.Immediate | undefined;
  #over = false;

  constructor(input: Readable, allowance: UnaskedAllowance, handlers: PacedInputHandlers) {
    this.#input = input;
    this.#allowance = allowance;
    this.#handlers = handlers;
  }

  start(): void {
    const onEnd = (): void => this.#end();
    this.#input.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#input.once('end', onEnd).once('close', onEnd).on('error', onEnd);
  }

  close(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#backlog.length = 0;
    // Read the rest, or the end of the pipe never shows.
    this.#input.resume();
  }

  #take(chunk: Buffer): void {
    if (this.#over) return;
    this.#backlog.push(chunk);
    if (this.#timer === undefined && this.#turn === undefined) this.#work();
  }

  #work(): void {
    const started = performance.now();
    for (let slice = this.#next(); slice; slice = this.#next()) {
      this.#handlers.onBytes(slice);
      if (this.#over || this.#backlog.length === 0) continue;
      const waitMs = this.#allowance.waitMs;
      if (waitMs > 0) {
        this.#hold(waitMs);
        return;
      }
      if (performance.now() - started < TURN_MS) continue;
      this.#input.pause();
      this.#turn = setImmediate(() => {
        this.#turn = undefined;
        this.#work();
      });
      return;
    }
    const waitMs = this.#over ? 0 : this.#allowance.waitMs;
    if (waitMs > 0) this.#hold(waitMs);
    else this.#input.resume();
  }

  #hold(waitMs: number): void {
    this.#handlers.onThrottled();
    this.#input.pause();
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#work();
      },
      Math.min(waitMs, LONGEST_HOLD_MS),
    );
  }

  #next(): Buffer | undefined {
    const first = this.#backlog[0];
    if (first === undefined) return undefined;
    if (first.length <= SLICE_BYTES) this.#backlog.shift();
    else this.#backlog[0] = first.subarray(SLICE_BYTES);
    return first.subarray(0, SLICE_BYTES);
  }

  /** Reads the rest at once, which is at most one read of the pipe. */
  #end(): void {
    if (this.#over) return;
    for (let slice = this.#next(); slice && !this.#over; slice = this.#next()) this.#handlers.onBytes(slice);
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#handlers.onEnd();
  }
}
