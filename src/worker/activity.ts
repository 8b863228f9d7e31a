import type { CallRecord } from '../control/contract.ts';
import { oneLine } from '../ops/porcelain.ts';

const MAX_RECORDS = 100;
const SUBJECT_CHARS = 120;
const TOOL_CHARS = 64;

/** The last calls, newest first: what was asked for and how it ended, never argument values. */
export class Activity {
  readonly #records: CallRecord[] = [];
  #next = 1;

  add(call: Omit<CallRecord, 'id'>): void {
    this.#records.unshift({
      ...call,
      id: this.#next++,
      metaTool: oneLine(call.metaTool, TOOL_CHARS),
      subject: oneLine(call.subject, SUBJECT_CHARS),
    });
    this.#records.length = Math.min(this.#records.length, MAX_RECORDS);
  }

  get recent(): readonly CallRecord[] {
    return [...this.#records];
  }
}
