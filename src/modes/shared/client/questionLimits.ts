import type { SessionCall } from '../sessionCall.ts';
import { refused } from './serverQuestion.ts';

/** Limits of a server's questions of one kind. A user who must click through many stops reading them. */
export const MAX_PER_CALL = 5;
const MAX_PER_HOUR = 20;
const HOUR_MS = 60 * 60_000;

/**
 * Limits the questions of servers: one open and five in all for each call, and twenty an hour for each server (M6.7).
 * Questions of one round are open together.
 */
export class QuestionLimits {
  readonly #now: () => number;
  readonly #calls = new WeakMap<SessionCall, Map<string, { open: number; asked: number }>>();
  /** Times of the last hour for each server and kind, oldest first. */
  readonly #times = new Map<string, number[]>();

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a question and returns the function that ends it. Throws an error for the server beyond a limit. */
  begin(server: string, kind: string, call: SessionCall, { together = false } = {}): () => void {
    const kinds = this.#calls.get(call) ?? new Map<string, { open: number; asked: number }>();
    const counts = kinds.get(kind) ?? { open: 0, asked: 0 };
    const key = `${kind}\n${server}`;
    const now = this.#now();
    const times = (this.#times.get(key) ?? []).filter((time) => now - time < HOUR_MS);
    if (counts.open > 0 && !together) throw refused('Another question of this call is still open');
    if (counts.asked >= MAX_PER_CALL) throw refused(`A call may ask at most ${MAX_PER_CALL} times`);
    if (times.length >= MAX_PER_HOUR) throw refused(`A server may ask at most ${MAX_PER_HOUR} times an hour`);
    this.#calls.set(call, kinds.set(kind, counts));
    this.#times.set(key, [...times, now]);
    counts.open += 1;
    counts.asked += 1;
    return () => {
      counts.open -= 1;
    };
  }
}
