import type { Readable } from 'node:stream';

/** What a server may say by itself; answers do not count. */
const BYTES_PER_SECOND = 1024 * 1024;
const BURST_BYTES = 4 * 1024 * 1024;
const PAUSE_MS = 25;

/**
 * Holds a server up that floods: its pipe fills, it waits, and the others are served meanwhile (facts/reliability.md
 * R6). Only one that says more by itself than a megabyte a second, for longer than a moment, ever notices.
 */
export class ReadingPace {
  readonly #input: Readable;
  readonly #onThrottled: () => void;
  #allowance = BURST_BYTES;
  #allowedAt = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(input: Readable, onThrottled: () => void) {
    this.#input = input;
    this.#onThrottled = onThrottled;
  }

  /** Something came that nobody had asked for. */
  spend(bytes: number): void {
    this.#refill();
    this.#allowance -= bytes;
    if (this.#allowance >= 0 || this.#timer !== undefined) return;
    this.#onThrottled();
    this.#hold();
  }

  close(): void {
    clearTimeout(this.#timer);
    // What is left must be read, or the end of the pipe is never seen.
    this.#input.resume();
  }

  #hold(): void {
    this.#input.pause();
    this.#timer = setTimeout(() => {
      this.#refill();
      if (this.#allowance < 0) return this.#hold();
      this.#timer = undefined;
      this.#input.resume();
    }, PAUSE_MS);
  }

  #refill(): void {
    const now = performance.now();
    this.#allowance = Math.min(BURST_BYTES, this.#allowance + ((now - this.#allowedAt) / 1_000) * BYTES_PER_SECOND);
    this.#allowedAt = now;
  }
}
