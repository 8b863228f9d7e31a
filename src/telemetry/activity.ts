import type { CallRecord } from '../control/contract.ts';
import { oneLine } from '../text/porcelain.ts';

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
    this.#cut();
  }

  get recent(): readonly CallRecord[] {
    return [...this.#records];
  }

  /** All of them; from now on they are the other's. */
  take(): CallRecord[] {
    return this.#records.splice(0);
  }

  /** What the worker before has had, and still had to finish. */
  inherit(records: readonly CallRecord[]): void {
    this.#records.push(...records.map((record) => ({ ...record, id: this.#next++ })));
    this.#records.sort((a, b) => b.at - a.at);
    this.#cut();
  }

  #cut(): void {
    this.#records.length = Math.min(this.#records.length, MAX_RECORDS);
  }
}
