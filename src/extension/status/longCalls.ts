import type { CallRecord } from '../../control/activityContract.ts';
import { type Disposable, Observable } from '../observable.ts';

/** Time after which a running call shows in the status bar. */
export const LONG_MS = 1_000;

/** Number of calls that have run for a second or longer. A call that waits for the user does not run. */
export class LongCalls implements Disposable {
  readonly count = new Observable(0);
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #long = new Set<number>();

  follow(calls: readonly CallRecord[]): void {
    for (const { id, phase, durationMs } of calls) {
      if (phase !== 'running') this.#end(id);
      else if (!this.#timers.has(id)) {
        this.#timers.set(
          id,
          setTimeout(() => {
            this.#long.add(id);
            this.#update();
          }, LONG_MS - durationMs),
        );
      }
    }
    this.#update();
  }

  /** Forgets the calls of a worker that is gone. */
  lost(): void {
    for (const id of [...this.#timers.keys()]) this.#end(id);
    this.#update();
  }

  dispose(): void {
    this.lost();
  }

  #end(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#long.delete(id);
  }

  #update(): void {
    this.count.set(this.#long.size);
  }
}
