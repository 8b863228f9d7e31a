/** The first class ends here; each further one is a tenth wider, the last ends at some half an hour. */
const FIRST_MS = 0.01;
const RATIO = 1.1;
const CLASSES = 200;
const LOG_RATIO = Math.log(RATIO);

/** What a sketch holds, for another process. */
export interface SketchKept {
  /** How many are in which class; those that have any. */
  classes: readonly (readonly [at: number, count: number])[];
  sum: number;
  min: number;
  max: number;
  last: number;
}

/** Durations in fixed logarithmic classes: any quantile within 5 %, in constant room and constant time per entry. */
export class LatencySketch {
  readonly #classes = new Uint32Array(CLASSES);
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;
  #last: number | undefined;

  /** A clock that went backwards, or gave nothing, is a duration of nothing. */
  add(ms: number): void {
    const value = ms > 0 && Number.isFinite(ms) ? ms : 0;
    const at = classOf(value);
    this.#classes[at] = (this.#classes[at] as number) + 1;
    this.#count += 1;
    this.#sum += value;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    this.#last = value;
  }

  /** Undefined where there is nothing. */
  kept(): SketchKept | undefined {
    if (this.#last === undefined) return undefined;
    const classes = [...this.#classes].flatMap((count, at) => (count === 0 ? [] : [[at, count] as const]));
    return { classes, sum: this.#sum, min: this.#min, max: this.#max, last: this.#last };
  }

  /** What came later. */
  merge({ classes, sum, min, max, last }: SketchKept): void {
    for (const [at, count] of classes) {
      this.#classes[at] = (this.#classes[at] as number) + count;
      this.#count += count;
    }
    this.#sum += sum;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
    this.#last = last;
  }

  get count(): number {
    return this.#count;
  }
  get last(): number | undefined {
    return this.#last;
  }
  get max(): number {
    return this.#max;
  }
  get average(): number {
    return this.#count === 0 ? 0 : this.#sum / this.#count;
  }

  /** The value that `share` of all do not exceed (nearest rank); 0 where there is none. */
  quantile(share: number): number {
    if (this.#count === 0) return 0;
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let i = 0; i < CLASSES; i++) {
      seen += this.#classes[i] as number;
      if (seen >= rank) return Math.min(this.#max, Math.max(this.#min, middleOf(i)));
    }
    return this.#max;
  }
}

function classOf(ms: number): number {
  if (ms <= FIRST_MS) return 0;
  return Math.min(CLASSES - 1, Math.ceil(Math.log(ms / FIRST_MS) / LOG_RATIO));
}

/** The geometric middle: as far, in proportion, from both ends of the class. */
function middleOf(index: number): number {
  return index === 0 ? 0 : FIRST_MS * RATIO ** (index - 0.5);
}
