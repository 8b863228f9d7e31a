/**
 * Weighted postings in compressed rows: for each term the tools that hold it and how strongly, as 16-bit integers.
 * Integers keep the order of results the same on every platform.
 */
export interface Postings {
  /** Row `term` is `offsets[term] .. offsets[term + 1]`. */
  offsets: Uint32Array;
  docs: Uint32Array;
  impacts: Uint16Array;
}

export const IMPACT_SCALE = 32_768;

/** Collects postings document by document (ascending), then lays them out by term. */
export class PostingsBuilder {
  readonly #terms: number[] = [];
  readonly #docs: number[] = [];
  readonly #impacts: number[] = [];

  add(term: number, doc: number, impact: number): void {
    this.#terms.push(term);
    this.#docs.push(doc);
    this.#impacts.push(Math.min(65_535, Math.max(1, Math.round(impact * IMPACT_SCALE))));
  }

  build(termCount: number): Postings {
    const offsets = new Uint32Array(termCount + 1);
    for (const term of this.#terms) offsets[term + 1] = (offsets[term + 1] as number) + 1;
    for (let term = 0; term < termCount; term++)
      offsets[term + 1] = (offsets[term + 1] as number) + (offsets[term] as number);
    const docs = new Uint32Array(this.#terms.length);
    const impacts = new Uint16Array(this.#terms.length);
    const next = offsets.slice();
    for (let i = 0; i < this.#terms.length; i++) {
      const term = this.#terms[i] as number;
      const at = next[term] as number;
      next[term] = at + 1;
      docs[at] = this.#docs[i] as number;
      impacts[at] = this.#impacts[i] as number;
    }
    return { offsets, docs, impacts };
  }
}
