/** Misbehaviour of servers. Each kind is counted and has no other effect (M7.5). */
export type Oddity =
  /** A line that is no message: a banner, a log. */
  | 'garbage_line'
  /** A line that had begun when the output closed. */
  | 'cut_line'
  | 'byte_order_mark'
  | 'invalid_utf8'
  | 'frame_too_large'
  | 'frame_too_deep'
  | 'duplicate_member'
  | 'malformed_response'
  | 'malformed_request'
  | 'bad_result'
  | 'batch'
  | 'null_id'
  /** The text "7" in an answer to 7, or what is no id at all. */
  | 'mistyped_id'
  | 'unknown_response'
  | 'duplicate_response'
  /** An answer to what was given up. */
  | 'late_response'
  /** A request of the server beyond those it may have in flight. */
  | 'request_over_cap'
  | 'dropped_progress'
  | 'dropped_log'
  | 'dropped_notification'
  /** Reading was held up, because a server said more by itself than anybody wants to hear. */
  | 'throttled'
  /** A frame that was not taken, because the server does not read. */
  | 'write_refused'
  | 'list_cut'
  /** A process that gave no sign of life after a call's deadline. */
  | 'unresponsive';

/** More than this within the window is no accident. */
const EXCESS = 100;
const WINDOW_MS = 10_000;

/** Counts what is odd in one connection, over all its starts. */
export class Oddities {
  readonly #counts = new Map<Oddity, number>();
  readonly #windows = new Map<Oddity, { since: number; count: number }>();
  readonly #onExcess: ((oddity: Oddity) => void) | undefined;

  /** `onExcess` is called once for each window with more than a hundred oddities in ten seconds. */
  constructor(onExcess?: (oddity: Oddity) => void) {
    this.#onExcess = onExcess;
  }

  add(oddity: Oddity, count = 1): void {
    this.#counts.set(oddity, this.count(oddity) + count);
    const now = performance.now();
    let window = this.#windows.get(oddity);
    if (!window || now - window.since > WINDOW_MS) {
      window = { since: now, count: 0 };
      this.#windows.set(oddity, window);
    }
    const before = window.count;
    window.count += count;
    if (before <= EXCESS && window.count > EXCESS) this.#onExcess?.(oddity);
  }

  count(oddity: Oddity): number {
    return this.#counts.get(oddity) ?? 0;
  }

  /** Returns the counted oddities as plain data. */
  toJSON(): Partial<Record<Oddity, number>> {
    return Object.fromEntries(this.#counts);
  }
}
