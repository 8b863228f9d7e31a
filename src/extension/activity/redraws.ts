import { throttled } from '../gateway/pacing.ts';
import type { Disposable } from '../observable.ts';
import type { CallChange } from './callFeed.ts';
import { type Call, callKey } from './callList.ts';

/** A redrawn tree swallows a click in progress. */
const REDRAW_INTERVAL_MS = 250;

/**
 * Collects changes and redraws at most four times a second, and only while the view is visible. Redraws single rows
 * where no row was added or removed.
 */
export class Redraws implements Disposable {
  readonly #drawn = new Set<string>();
  readonly #changed = new Set<string>();
  #isWhole = true;
  #isVisible = false;
  readonly #redraw: (change: 'all' | readonly string[]) => void;
  readonly #paced = throttled(REDRAW_INTERVAL_MS, () => this.#run());

  /** `redraw` gets the keys of the rows whose content changed, or `all`. */
  constructor(redraw: (change: 'all' | readonly string[]) => void) {
    this.#redraw = redraw;
  }

  /** Reports the rows that were drawn. */
  drew(calls: readonly Call[]): void {
    this.#drawn.clear();
    for (const call of calls) this.#drawn.add(callKey(call));
  }

  note(change: CallChange): void {
    if (change === 'all') this.#isWhole = true;
    else
      for (const call of change) {
        this.#changed.add(callKey(call));
        this.#isWhole ||= !this.#drawn.has(callKey(call));
      }
    if (this.#isVisible) this.#paced();
  }

  show(isVisible: boolean): void {
    this.#isVisible = isVisible;
    if (isVisible && (this.#isWhole || this.#changed.size > 0)) this.#paced();
  }

  dispose(): void {
    this.#paced.dispose();
  }

  #run(): void {
    if (!this.#isVisible) return;
    const change = this.#isWhole ? 'all' : [...this.#changed];
    this.#isWhole = false;
    this.#changed.clear();
    if (change.length > 0) this.#redraw(change);
  }
}
