import { analyzeWord, eachRawWord, isStopWord, splitIdentifier } from '../words/text.ts';
import type { FieldTerms } from './corpus.ts';
import { IMPACT_SCALE, type Postings, PostingsBuilder } from './postings.ts';
import { FIELDS } from './toolText.ts';

/** Cap on the weight of a rare word in a name. */
const MAX_MASS = 6;

/** Builds, for each term, the documents with this term in their name, and its share of the name's weight. */
export function buildNameIndex({ terms, starts }: FieldTerms, idf: Float64Array, termCount: number): Postings {
  const builder = new PostingsBuilder();
  const nameField = FIELDS.indexOf('name');
  for (let doc = 0; doc * FIELDS.length < starts.length - 1; doc++) {
    const at = doc * FIELDS.length + nameField;
    const own = new Set(terms.subarray(starts[at] as number, starts[at + 1] as number));
    let mass = 0;
    for (const term of own) mass += Math.min(MAX_MASS, idf[term] as number);
    for (const term of own) builder.add(term, doc, Math.min(MAX_MASS, idf[term] as number) / Math.max(mass, 1e-9));
  }
  return builder.build(termCount);
}

/** Adds the share of each tool's name that the query covers with its own words or with expansions. */
export function addNameCoverage(names: Postings, weights: ReadonlyMap<number, number>, into: Float64Array): void {
  for (const [term, sureness] of weights) {
    const gain = sureness / IMPACT_SCALE;
    const end = names.offsets[term + 1] as number;
    for (let at = names.offsets[term] as number; at < end; at++) {
      const doc = names.docs[at] as number;
      into[doc] = (into[doc] as number) + gain * (names.impacts[at] as number);
    }
  }
}

/** Word of a name in its original form: `issues` is not `issue`. */
export interface NameWord {
  lower: string;
  stem: string;
}

export function nameWords(name: string): NameWord[] {
  const words: NameWord[] = [];
  eachRawWord(name, (raw) => {
    for (const part of splitIdentifier(raw)) {
      const { lower, stem } = analyzeWord(part);
      if (!isStopWord(lower)) words.push({ lower, stem });
    }
  });
  return words;
}
