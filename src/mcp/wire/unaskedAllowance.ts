/** Sustained rate and burst of a server's unrequested messages. Answers do not count. */
const BYTES_PER_SECOND = 512 * 1024;
const BURST_BYTES = 2 * 1024 * 1024;
/** Minimum cost of a message in bytes. A garbage line costs less, because the reader skips it quickly. */
const MESSAGE_COST = 128;
const GARBAGE_COST = 64;
/** Cost of a question. Over HTTP its answer takes a request of its own. */
const QUESTION_COST = 2048;
const COSTS = { message: MESSAGE_COST, garbage: GARBAGE_COST, question: QUESTION_COST };

/**
 * Limits the rate of unrequested input from a server. A server that sends more waits at its full pipe while Waygate
 * serves the others (M7.4). Four thousand messages a second stay within the limit.
 */
export class UnaskedAllowance {
  #left = BURST_BYTES;
  #at = performance.now();

  spend(bytes: number, kind: keyof typeof COSTS): void {
    this.#left -= Math.max(bytes, COSTS[kind]);
  }

  /** Milliseconds until the next read. */
  get waitMs(): number {
    const now = performance.now();
    this.#left = Math.min(BURST_BYTES, this.#left + ((now - this.#at) / 1_000) * BYTES_PER_SECOND);
    this.#at = now;
    return this.#left >= 0 ? 0 : Math.ceil((-this.#left / BYTES_PER_SECOND) * 1_000);
  }
}
