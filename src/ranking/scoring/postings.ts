import { NumberRow } from './corpus.ts';

/**
 * Weighted postings in compressed rows: for each term the documents that contain it, with weights as 16-bit integers.
 * Integers keep the order of results the same on every platform.
 */
export interface Postings {
  /** Row `term` is `offsets[term] .. offsets[term + 1]`. */
  offsets: Uint32Array;
  docs: Uint32Array;
  impacts: Uint16Array;
}

export const IMPACT_SCALE = 32_768;

/** Collects postings document by document (ascending), then arranges them by term. */
export class PostingsBuilder {
  readonly #terms = new NumberRow();
  readonly #docs = new NumberRow();
  readonly #impacts = new NumberRow();

  add(term: number, doc: number, impact: number): void {
    this.#terms.push(term);
    this.#docs.push(doc);
    this.#impacts.push(Math.min(65_535, Math.max(1, Math.round(impact * IMPACT_SCALE))));
  }

  build(termCount: number): Postings {
    const count = this.#terms.length;
    const terms = this.#terms.values;
    const offsets = new Uint32Array(termCount + 1);
    for (let i = 0; i < count; i++) {
      const next = (terms[i] as number) + 1;
      offsets[next] = (offsets[next] as number) + 1;
    }
    for (let term = 0; term < termCount; term++) {
      offsets[term + 1] = (offsets[term + 1] as number) + (offsets[term] as number);
    }
    const docs = new Uint32Array(count);
    const impacts = new Uint16Array(count);
    const next = offsets.slice();
    for (let i = 0; i < count; i++) {
      const term = terms[i] as number;
      const at = next[term] as number;
      next[term] = at + 1;
      docs[at] = this.#docs.values[i] as number;
      impacts[at] = this.#impacts.values[i] as number;
    }
    return { offsets, docs, impacts };
  }
}
