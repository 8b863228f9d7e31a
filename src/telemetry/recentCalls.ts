import type { CallsInMinute } from '../control/healthContract.ts';

const MINUTES = 15;
const SLOT_MS = 10_000;
const SLOTS_A_MINUTE = 60_000 / SLOT_MS;

interface Slot extends CallsInMinute {
  /** Number of the ten seconds since the start. */
  number: number;
}

/**
 * Counts the calls of each of the last fifteen minutes. Minutes end now and not at a full minute, so that the last one is
 * not empty at its begin; slots of ten seconds make that possible at a constant cost.
 */
export class RecentCalls {
  readonly #slots: Slot[] = Array.from({ length: MINUTES * SLOTS_A_MINUTE }, () => ({
    number: -1,
    calls: 0,
    errors: 0,
  }));

  /** `uptimeMs`: time since the start. */
  add(uptimeMs: number, failed: boolean): void {
    const number = Math.floor(uptimeMs / SLOT_MS);
    const slot = this.#slotAt(number);
    if (slot.number !== number) Object.assign(slot, { number, calls: 0, errors: 0 });
    slot.calls += 1;
    if (failed) slot.errors += 1;
  }

  /** Returns the minutes, the present one last. */
  report(uptimeMs: number): CallsInMinute[] {
    const present = Math.floor(uptimeMs / SLOT_MS);
    return Array.from({ length: MINUTES }, (_, minute) => {
      const last = present - (MINUTES - 1 - minute) * SLOTS_A_MINUTE;
      const sum = { calls: 0, errors: 0 };
      for (let number = Math.max(0, last - SLOTS_A_MINUTE + 1); number <= last; number++) {
        const slot = this.#slotAt(number);
        if (slot.number !== number) continue;
        sum.calls += slot.calls;
        sum.errors += slot.errors;
      }
      return sum;
    });
  }

  #slotAt(number: number): Slot {
    return this.#slots[number % this.#slots.length] as Slot;
  }
}
