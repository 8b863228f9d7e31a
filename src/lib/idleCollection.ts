import { Session } from 'node:inspector';
import { getHeapStatistics } from 'node:v8';
import { type Clock, SYSTEM_CLOCK } from './clock.ts';

/** Idle time before a collection: longer than the pauses between calls that an agent makes one after the other. */
const IDLE_MS = 3_000;
/** Least growth of the heap since the last collection. A collection takes 20 to 80 ms, so it must return something. */
const WORTH_BYTES = 8 * 1024 * 1024;

/**
 * Returns memory to the system when a process becomes idle. V8 collects garbage only when a program allocates, so a
 * process that waits keeps the garbage of its last work, and the pages that this work needed.
 */
export class IdleCollection {
  readonly #clock: Pick<Clock, 'after' | 'now'>;
  readonly #heap: Heap;
  #workedAt = 0;
  #isPlanned = false;
  #left = 0;

  constructor(heap: Heap = V8_HEAP, clock: Pick<Clock, 'after' | 'now'> = SYSTEM_CLOCK) {
    this.#heap = heap;
    this.#clock = clock;
  }

  /** Postpones the collection, because the process works. */
  work(): void {
    this.#workedAt = this.#clock.now();
    if (!this.#isPlanned) this.#plan(IDLE_MS);
  }

  #plan(ms: number): void {
    this.#isPlanned = true;
    this.#clock.after(ms, () => this.#check());
  }

  #check(): void {
    const left = this.#workedAt + IDLE_MS - this.#clock.now();
    if (left > 0) {
      this.#plan(left);
      return;
    }
    this.#isPlanned = false;
    if (this.#heap.bytes() - this.#left < WORTH_BYTES) return;
    this.#heap.collect(() => {
      this.#left = this.#heap.bytes();
    });
  }
}

export interface Heap {
  bytes(): number;
  collect(onCollected: () => void): void;
}

export const V8_HEAP: Heap = {
  bytes() {
    const { total_physical_size, external_memory } = getHeapStatistics();
    return total_physical_size + external_memory;
  },
  /**
   * Collects as V8 does when memory is short: it also drops compiled code that nothing refers to, and empties the pools
   * of its pages. The inspector offers this without a flag, which a host could not have: its client starts it.
   */
  collect(onCollected) {
    try {
      const session = new Session();
      session.connect();
      session.post('HeapProfiler.collectGarbage', () => {
        onCollected();
        // Node waits for its own lock forever if a session is disconnected in one of its callbacks.
        setImmediate(() => session.disconnect());
      });
    } catch {
      // A Node that was built without its inspector keeps the garbage.
    }
  },
};
