import type { Lexicon } from './lexicon.ts';
import { IMPACT_SCALE, type Postings } from './postings.ts';

/** A term with a weight, as it stands in a query or an expansion. */
export interface WeightedTerm {
  term: number;
  weight: number;
}

/** Something that the query asks for, in its own words and in others that stand for it. */
export interface Concept {
  /** As the query says it. */
  label: string;
  own: readonly WeightedTerm[];
  /** How much the query's own words can weigh: no other word may weigh more. */
  mass: number;
  expansions: readonly Expansion[];
}

export interface Expansion {
  terms: readonly number[];
  weight: number;
}

export interface TermIndex {
  lexicon: Lexicon;
  postings: Postings;
  idf: Float64Array;
}

export function addTerms(index: TermIndex, terms: readonly WeightedTerm[], into: Float64Array): void {
  const { offsets, docs, impacts } = index.postings;
  for (const { term, weight } of terms) {
    const gain = (weight * (index.idf[term] as number)) / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      into[doc] = (into[doc] as number) + gain * (impacts[at] as number);
    }
  }
}

/** Arrays as long as the catalog, reused between the queries of one index. */
export class Scratch {
  readonly words: Float64Array;
  readonly meanings: Float64Array;
  readonly name: Float64Array;
  readonly base: Float64Array;
  /** For `addConcept` alone, which leaves them at zero. */
  readonly best: Float64Array;
  readonly sum: Float64Array;
  readonly seen: Uint8Array;
  readonly touched: number[] = [];
  constructor(docs: number) {
    this.words = new Float64Array(docs);
    this.meanings = new Float64Array(docs);
    this.name = new Float64Array(docs);
    this.base = new Float64Array(docs);
    this.best = new Float64Array(docs);
    this.sum = new Float64Array(docs);
    this.seen = new Uint8Array(docs);
  }
}

/**
 * Each concept counts once, by its best expansion, and only beyond what the query's own words already gave: plain
 * addition lets a tool win by holding five words for one thing.
 */
export function addConcept(index: TermIndex, concept: Concept, scratch: Scratch, into: Float64Array): void {
  const { offsets, docs, impacts } = index.postings;
  const { best, touched } = scratch;
  for (const expansion of concept.expansions) {
    if (expansion.terms.length > 1) {
      raiseToPhrase(index, expansion, concept.mass, scratch);
      continue;
    }
    const term = expansion.terms[0] as number;
    const gain = (expansion.weight * Math.min(index.idf[term] as number, concept.mass)) / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      const value = gain * (impacts[at] as number);
      if (value <= (best[doc] as number)) continue;
      if (best[doc] === 0) touched.push(doc);
      best[doc] = value;
    }
  }
  for (const { term, weight: ownWeight } of concept.own) {
    const gain = (ownWeight * (index.idf[term] as number)) / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      if (best[doc] !== 0) best[doc] = (best[doc] as number) - gain * (impacts[at] as number);
    }
  }
  for (const doc of touched) {
    const value = best[doc] as number;
    if (value > 0) into[doc] = (into[doc] as number) + value;
    best[doc] = 0;
  }
  touched.length = 0;
}

/** A phrase counts where all of its words stand. */
function raiseToPhrase(index: TermIndex, expansion: Expansion, mass: number, scratch: Scratch): void {
  const { offsets, docs, impacts } = index.postings;
  const { best, sum, seen, touched } = scratch;
  const length = (term: number) => (offsets[term + 1] as number) - (offsets[term] as number);
  const terms = [...expansion.terms].sort((a, b) => length(a) - length(b) || a - b);
  const candidates: number[] = [];
  let ownMass = 0;
  for (const [place, term] of terms.entries()) {
    const idf = index.idf[term] as number;
    ownMass += idf;
    for (let at = offsets[term] as number; at < (offsets[term + 1] as number); at++) {
      const doc = docs[at] as number;
      if (seen[doc] !== place) continue;
      if (place === 0) candidates.push(doc);
      seen[doc] = place + 1;
      sum[doc] = (sum[doc] as number) + (idf * (impacts[at] as number)) / IMPACT_SCALE;
    }
  }
  const factor = expansion.weight * Math.min(1, mass / ownMass);
  for (const doc of candidates) {
    const value = seen[doc] === terms.length ? factor * (sum[doc] as number) : 0;
    seen[doc] = 0;
    sum[doc] = 0;
    if (value <= (best[doc] as number)) continue;
    if (best[doc] === 0) touched.push(doc);
    best[doc] = value;
  }
}
