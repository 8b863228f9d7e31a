/** Protocol violations of servers to count, with a plural name of each kind for the user. */
export const ODDITIES = {
  /** For example a banner or a log. */
  garbage_line: 'lines on stdout that are not messages',
  /** The output closed within a line. */
  cut_line: 'incomplete last lines',
  byte_order_mark: 'byte order marks before a message',
  invalid_utf8: 'messages that are not valid UTF-8',
  frame_too_large: 'messages above the limit of 16 MiB',
  frame_too_deep: 'messages that are nested too deeply',
  duplicate_member: 'messages with a duplicate member',
  malformed_response: 'answers that are not valid JSON-RPC',
  malformed_request: 'requests that are not valid JSON-RPC',
  bad_result: 'results of the wrong form',
  batch: 'messages in a batch, which its version of MCP does not have',
  null_id: 'answers without an id',
  /** For example the text "7" in an answer to 7. */
  mistyped_id: 'answers whose id is of another type than that of the request',
  unknown_response: 'answers to unknown requests',
  duplicate_response: 'duplicate answers',
  late_response: 'answers to requests that were given up',
  /** Requests of the server beyond those that it may have in flight. */
  request_over_cap: 'requests rejected because too many were waiting',
  dropped_progress: 'progress reports that were dropped',
  dropped_log: 'log messages that were dropped',
  dropped_notification: 'notifications that were dropped',
  throttled: 'pauses in reading, because it sends too much',
  write_refused: 'messages that it did not read',
  invalid_tool_header: 'tools with invalid headers, which were left out',
  list_cut: 'lists that were cut because they are too long',
  /** No sign of life after the deadline of a call. */
  unresponsive: 'times without a sign of life',
} as const;

export type Oddity = keyof typeof ODDITIES;

/** A larger number within the window is no accident. */
const EXCESS = 100;
const WINDOW_MS = 10_000;

/** Counts the protocol violations of one connection, over all its starts. */
export class Oddities {
  readonly #counts = new Map<Oddity, number>();
  readonly #windows = new Map<Oddity, { since: number; count: number }>();
  readonly #onExcess: ((oddity: Oddity) => void) | undefined;

  /** Calls `onExcess` once for each window with more than a hundred violations in ten seconds. */
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

  /** Counts of the kinds that have occurred. */
  toJSON(): Partial<Record<Oddity, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Kinds that have occurred with their names, the most frequent first. */
  report(): { kind: Oddity; count: number; words: string }[] {
    return [...this.#counts]
      .map(([kind, count]) => ({ kind, count, words: ODDITIES[kind] }))
      .sort((a, b) => b.count - a.count || (a.kind < b.kind ? -1 : 1));
  }
}
