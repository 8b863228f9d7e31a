import type { NumberRow } from '../scoring/corpus.ts';
import { analyzeWord, documentStems, eachRawWord, isStopWord } from './text.ts';

/** Words of a catalog. Every stem has a number, in the order of first occurrence. */
export class Lexicon {
  readonly #ids = new Map<string, number>();
  readonly stems: string[] = [];
  readonly #rawWords = new Map<string, readonly number[]>();
  readonly #texts = new Map<string, Int32Array>();

  get size(): number {
    return this.stems.length;
  }

  lookup(stem: string): number | undefined {
    return this.#ids.get(stem);
  }

  #intern(stem: string): number {
    let id = this.#ids.get(stem);
    if (id === undefined) {
      id = this.stems.length;
      this.#ids.set(stem, id);
      this.stems.push(stem);
    }
    return id;
  }

  /** Adds the term numbers of a text to a row, without stop words. */
  addTerms(text: string, row: Pick<NumberRow, 'push'>): void {
    eachRawWord(text, (raw) => {
      let ids = this.#rawWords.get(raw);
      if (ids === undefined) {
        const word = analyzeWord(raw);
        ids = isStopWord(word.lower) ? [] : documentStems(word).map((stem) => this.#intern(stem));
        this.#rawWords.set(raw, ids);
      }
      for (const id of ids) row.push(id);
    });
  }

  termsOf(text: string): number[] {
    const terms: number[] = [];
    this.addTerms(text, terms);
    return terms;
  }

  /** Same as `addTerms` with a cache: argument texts repeat from tool to tool. */
  addRepeatedTerms(text: string, row: NumberRow): void {
    let terms = this.#texts.get(text);
    if (terms === undefined) {
      terms = Int32Array.from(this.termsOf(text));
      this.#texts.set(text, terms);
    }
    for (let i = 0; i < terms.length; i++) row.push(terms[i] as number);
  }

  /** Ends the build and drops data that only the build needs. */
  seal(): void {
    this.#rawWords.clear();
    this.#texts.clear();
  }
}
