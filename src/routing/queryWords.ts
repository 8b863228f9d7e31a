import type { Lexicon } from './lexicon.ts';
import { analyzeWord, eachRawWord, isStopWord } from './text.ts';

/** A question longer than this is a document; its beginning says what is wanted. */
export const MAX_QUERY = 500;
const MAX_QUERY_WORDS = 64;
const PART_WEIGHT = 0.2;

/** A word of the query, in order, stop words included (phrases need them). */
export interface QueryWord {
  raw: string;
  lower: string;
  stem: string;
  stop: boolean;
}

export interface QueryTerm {
  term: number;
  stem: string;
  weight: number;
}

export interface QueryWords {
  words: readonly QueryWord[];
  /** The terms to look up, each once, known to the catalog. */
  terms: readonly QueryTerm[];
  /** Words that the catalog does not know, in any form. */
  unknown: readonly QueryWord[];
}

const MAX_TERM_WEIGHT = 2;

export function readQuery(query: string, lexicon: Lexicon): QueryWords {
  const words: QueryWord[] = [];
  const unknown: QueryWord[] = [];
  const weights = new Map<number, QueryTerm>();
  const add = (stem: string, weight: number): boolean => {
    const term = lexicon.lookup(stem);
    if (term === undefined) return false;
    const known = weights.get(term);
    if (known) known.weight = Math.min(MAX_TERM_WEIGHT, known.weight + weight);
    else weights.set(term, { term, stem, weight });
    return true;
  };
  eachRawWord(query.slice(0, MAX_QUERY), (raw) => {
    if (words.length >= MAX_QUERY_WORDS) return;
    const word = analyzeWord(raw);
    const stop = isStopWord(word.lower);
    const entry = { raw, lower: word.lower, stem: word.stem, stop };
    words.push(entry);
    if (stop) return;
    const joined = add(word.stem, 1);
    let parts = false;
    for (const part of word.parts) if (!isStopWord(part)) parts = add(part, joined ? PART_WEIGHT : 1) || parts;
    if (!joined && !parts) unknown.push(entry);
  });
  return { words, terms: [...weights.values()], unknown };
}
