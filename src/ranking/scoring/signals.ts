import type { Lexicon } from '../words/lexicon.ts';
import { IMPACT_SCALE, type Postings } from './postings.ts';

/** Term with a weight, from a query or an expansion. */
export interface WeightedTerm {
  term: number;
  weight: number;
}

/** Part of the query, with its own words and their expansions. */
export interface Concept {
  /** Wording in the query. */
  label: string;
  own: readonly WeightedTerm[];
  /** Weight of the query's own words, which limits the weight of expansions. */
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
  maxIdf: number;
  /** Phrases of the vocabulary in this catalog, computed on first use; their number is limited. */
  phrases: WeakMap<readonly number[], PhrasePostings>;
}

/** Adds the weights of the terms to each document. Returns the greatest sum, which never decreases. */
export function addTerms(index: TermIndex, terms: readonly WeightedTerm[], into: Float64Array): number {
  const { offsets, docs, impacts } = index.postings;
  let greatest = 0;
  for (const { term, weight } of terms) {
    const gain = (weight * (index.idf[term] as number)) / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      const sum = (into[doc] as number) + gain * (impacts[at] as number);
      into[doc] = sum;
      if (sum > greatest) greatest = sum;
    }
  }
  return greatest;
}

/** Arrays as long as the catalog, reused between the queries of one index. */
export class Scratch {
  readonly words: Float64Array;
  readonly meanings: Float64Array;
  readonly name: Float64Array;
  readonly base: Float64Array;
  /** Only for `addConcept`. */
  readonly best: Float64Array;
  constructor(docs: number) {
    this.words = new Float64Array(docs);
    this.meanings = new Float64Array(docs);
    this.name = new Float64Array(docs);
    this.base = new Float64Array(docs);
    this.best = new Float64Array(docs);
  }
}

/**
 * Expansions below this share of the rarest word's weight are skipped: they would touch half the catalog for nothing.
 */
const NOISE = 0.1;

/**
 * Counts each concept once, by its best expansion, and only beyond the weight of the query's own words. Plain addition
 * would let a tool win with five synonyms. Returns the greatest sum written.
 */
export function addConcept(index: TermIndex, concept: Concept, scratch: Scratch, into: Float64Array): number {
  const { offsets, docs, impacts } = index.postings;
  const best = scratch.best.fill(0);
  const noise = NOISE * index.maxIdf;
  let greatest = 0;
  for (const { term, weight } of concept.own) {
    const gain = (weight * (index.idf[term] as number)) / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      best[doc] = (best[doc] as number) + gain * (impacts[at] as number);
    }
  }
  for (const expansion of concept.expansions) {
    if (expansion.terms.length > 1) {
      greatest = Math.max(greatest, raiseToPhrase(index, expansion, concept.mass, best, into));
      continue;
    }
    const term = expansion.terms[0] as number;
    const weight = expansion.weight * Math.min(index.idf[term] as number, concept.mass);
    if (weight < noise) continue;
    const gain = weight / IMPACT_SCALE;
    const end = offsets[term + 1] as number;
    for (let at = offsets[term] as number; at < end; at++) {
      const doc = docs[at] as number;
      const rise = gain * (impacts[at] as number) - (best[doc] as number);
      if (rise <= 0) continue;
      best[doc] = (best[doc] as number) + rise;
      const sum = (into[doc] as number) + rise;
      into[doc] = sum;
      if (sum > greatest) greatest = sum;
    }
  }
  return greatest;
}

/** Documents that contain all words of a phrase, with the combined weight of these words. */
export interface PhrasePostings {
  docs: readonly number[];
  sums: readonly number[];
  mass: number;
}

/** Raises the documents that contain all words of a phrase. */
function raiseToPhrase(
  index: TermIndex,
  expansion: Expansion,
  mass: number,
  best: Float64Array,
  into: Float64Array,
): number {
  let phrase = index.phrases.get(expansion.terms);
  if (phrase === undefined) {
    phrase = phrasePostings(index, expansion.terms);
    index.phrases.set(expansion.terms, phrase);
  }
  const factor = (expansion.weight * Math.min(1, mass / phrase.mass)) / IMPACT_SCALE;
  let greatest = 0;
  for (let at = 0; at < phrase.docs.length; at++) {
    const doc = phrase.docs[at] as number;
    const rise = factor * (phrase.sums[at] as number) - (best[doc] as number);
    if (rise <= 0) continue;
    best[doc] = (best[doc] as number) + rise;
    into[doc] = (into[doc] as number) + rise;
    greatest = Math.max(greatest, into[doc] as number);
  }
  return greatest;
}

/** Scans the postings of the rarest word and looks up the other words. */
function phrasePostings(index: TermIndex, phrase: readonly number[]): PhrasePostings {
  const { offsets, docs, impacts } = index.postings;
  const length = (term: number) => (offsets[term + 1] as number) - (offsets[term] as number);
  const [rarest = 0, ...others] = [...phrase].sort((a, b) => length(a) - length(b) || a - b);
  const found: { docs: number[]; sums: number[]; mass: number } = { docs: [], sums: [], mass: 0 };
  for (const term of phrase) found.mass += index.idf[term] as number;
  const from = others.map((term) => offsets[term] as number);
  for (let at = offsets[rarest] as number; at < (offsets[rarest + 1] as number); at++) {
    const doc = docs[at] as number;
    let sum = (index.idf[rarest] as number) * (impacts[at] as number);
    for (let place = 0; place < others.length && sum > 0; place++) {
      const term = others[place] as number;
      const end = offsets[term + 1] as number;
      const next = firstAtLeast(docs, from[place] as number, end, doc);
      from[place] = next;
      if (next < end && docs[next] === doc) sum += (index.idf[term] as number) * (impacts[next] as number);
      else sum = 0;
    }
    if (sum === 0) continue;
    found.docs.push(doc);
    found.sums.push(sum);
  }
  return found;
}

/** Returns the first position from `from` whose document is not before `doc`, by galloping and binary search. */
export function firstAtLeast(docs: Uint32Array, from: number, to: number, doc: number): number {
  if (from >= to || (docs[from] as number) >= doc) return from;
  let low = from;
  let step = 1;
  while (low + step < to && (docs[low + step] as number) < doc) {
    low += step;
    step *= 2;
  }
  let high = Math.min(to, low + step);
  low++;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((docs[middle] as number) < doc) low = middle + 1;
    else high = middle;
  }
  return low;
}
