import { type LostCall, MAX_LOST_CALLS } from '../ops/lostCall.ts';
import { encodeMessage, LOST_NOTIFICATION } from '../protocol/frames.ts';

/** What the host has answered in place of a worker, until there is one to count it. */
export class HeldLosses {
  #calls: LostCall[] = [];

  note(call: LostCall): void {
    if (this.#calls.length < MAX_LOST_CALLS) this.#calls.push(call);
  }

  /** Told once. */
  frames(): string[] {
    const calls = this.#calls;
    this.#calls = [];
    return calls.length === 0 ? [] : [encodeMessage({ method: LOST_NOTIFICATION, params: { calls } })];
  }
}
