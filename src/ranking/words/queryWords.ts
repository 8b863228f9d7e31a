import type { Concept, WeightedTerm } from '../scoring/signals.ts';
import { conceptsOf, hintConcept, type KnownMeaning } from './concepts.ts';
import type { Lexicon } from './lexicon.ts';
import { readLiterals } from './literals.ts';
import { analyzeWord, eachRawWord, isStopWord, stemOf } from './text.ts';
import type { Thesaurus } from './thesaurus.ts';
import { correctTypo, splitCompound } from './typos.ts';

/** Limit of a query. A longer text is a document, whose beginning contains the request. */
export const MAX_QUERY = 500;
const MAX_QUERY_WORDS = 64;
/** Weight of the parts of a joined name: `GitLab` is searched as `gitlab`, with its parts beside it. */
const PART_WEIGHT = 0.2;
const MAX_TERM_WEIGHT = 2;
const GUESSED_WEIGHT = 0.8;
/**
 * Limit of corrections. A query full of unknown words has no typos, and a correction costs up to a third of a
 * millisecond.
 */
const MAX_CORRECTED = 4;
const COMPOUND_WEIGHT = 0.5;

/** Word of the query, in order, including stop words, which phrases need. */
export interface QueryWord {
  lower: string;
  stem: string;
  stop: boolean;
  /** Terms of the word in the catalog. */
  terms: WeightedTerm[];
  /** Reduced for a word inside a value. */
  weight: number;
}

export interface QueryPlan {
  words: readonly QueryWord[];
  /** Distinct terms to look up. */
  terms: readonly WeightedTerm[];
  concepts: readonly Concept[];
  /** Stems that may name tools or servers of the catalog, with their certainty. */
  sureness: ReadonlyMap<string, number>;
  /** Original words of the query, by stem. */
  forms: ReadonlyMap<string, string>;
}

export interface Vocabulary {
  lexicon: Lexicon;
  idf: Float64Array;
  maxIdf: number;
  thesaurus: Thesaurus;
  /** Meanings of the thesaurus that this catalog can use, filled on lookup. */
  meaningsHere: Map<string, KnownMeaning[]>;
  docFrequency(term: number): number;
  /** Returns whether any word list contains the stem, so that it is no typo. */
  isWord(stem: string): boolean;
}

export function planQuery(query: string, vocabulary: Vocabulary): QueryPlan {
  const literals = readLiterals(query.slice(0, MAX_QUERY));
  const words: QueryWord[] = [];
  readWords(literals.rest, 1, vocabulary, words);
  const wished = words.length;
  for (const value of literals.values) readWords(value.text, value.weight, vocabulary, words);
  const terms = new Map<number, number>();
  const add = ({ term, weight }: WeightedTerm) =>
    terms.set(term, Math.min(MAX_TERM_WEIGHT, (terms.get(term) ?? 0) + weight));
  for (const word of words) if (!word.stop) for (const term of word.terms) add(term);
  addCompounds(words.slice(0, wished), vocabulary, add);
  const concepts = [...conceptsOf(words.slice(0, wished), vocabulary), ...hintConcept(literals.hints, vocabulary)];
  return {
    words,
    terms: [...terms].map(([term, weight]) => ({ term, weight })),
    concepts,
    forms: new Map(words.filter((word) => !word.stop).map((word) => [word.stem, word.lower])),
    sureness: namesOf(words, concepts, vocabulary),
  };
}

function readWords(text: string, weight: number, vocabulary: Vocabulary, words: QueryWord[]): void {
  let unknown = 0;
  eachRawWord(text, (raw) => {
    if (words.length >= MAX_QUERY_WORDS) return;
    const word = analyzeWord(raw);
    const stop = isStopWord(word.lower);
    const entry: QueryWord = { lower: word.lower, stem: word.stem, stop, terms: [], weight };
    words.push(entry);
    if (stop) return;
    const { lexicon } = vocabulary;
    const joined = lexicon.lookup(word.stem);
    if (joined !== undefined) entry.terms.push({ term: joined, weight });
    for (const part of word.parts) {
      const term = isStopWord(part) ? undefined : lexicon.lookup(part);
      if (term !== undefined) entry.terms.push({ term, weight: weight * (joined === undefined ? 1 : PART_WEIGHT) });
    }
    if (entry.terms.length > 0 || weight < 1) return;
    entry.terms.push(...guess(entry, vocabulary, unknown < MAX_CORRECTED));
    unknown++;
  });
}

/**
 * Guesses an unknown word, preferring the reading that more tools contain: `repostory` is not `repo story`, and
 * `pulserate` is no mistyped `pulse`.
 */
function guess(word: QueryWord, { lexicon, docFrequency, isWord }: Vocabulary, mayCorrect: boolean): WeightedTerm[] {
  const halves = splitCompound(word.lower, stemOf, lexicon, docFrequency) ?? [];
  const corrected =
    isWord(word.stem) || !mayCorrect ? undefined : correctTypo(word.lower, lexicon, docFrequency, isWord);
  if (corrected !== undefined) {
    const term = lexicon.lookup(corrected);
    const frequency = term === undefined ? 0 : docFrequency(term);
    if (halves.length === 0 || frequency > Math.min(...halves.map(docFrequency))) {
      word.stem = corrected;
      return term === undefined ? [] : [{ term, weight: GUESSED_WEIGHT }];
    }
  }
  return halves.map((term) => ({ term, weight: GUESSED_WEIGHT }));
}

/** Joins neighbours: `web hook` matches `webhook` in the catalog. */
function addCompounds(words: readonly QueryWord[], { lexicon }: Vocabulary, add: (term: WeightedTerm) => void): void {
  for (let at = 1; at < words.length; at++) {
    const [first, second] = [words[at - 1] as QueryWord, words[at] as QueryWord];
    if (first.stop || second.stop || first.lower.length < 3 || second.lower.length < 3) continue;
    const term = lexicon.lookup(stemOf(first.lower + second.lower));
    if (term !== undefined) add({ term, weight: COMPOUND_WEIGHT });
  }
}

/** Expansions count less as a name. */
const NAME_BY_MEANING = 0.6;

function namesOf(
  words: readonly QueryWord[],
  concepts: readonly Concept[],
  { lexicon }: Vocabulary,
): Map<string, number> {
  const sureness = new Map<string, number>();
  const raise = (stem: string, by: number) => sureness.set(stem, Math.max(sureness.get(stem) ?? 0, by));
  for (const word of words) {
    if (word.stop) continue;
    raise(word.stem, word.weight);
    for (const { term, weight } of word.terms) raise(lexicon.stems[term] as string, weight);
  }
  for (const concept of concepts) {
    for (const expansion of concept.expansions) {
      for (const term of expansion.terms) {
        raise(lexicon.stems[term] as string, NAME_BY_MEANING * expansion.weight);
      }
    }
  }
  return sureness;
}
