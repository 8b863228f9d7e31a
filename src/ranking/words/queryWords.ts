import type { Concept, WeightedTerm } from '../scoring/signals.ts';
import { conceptsOf, hintConcept, type KnownMeaning } from './concepts.ts';
import type { Lexicon } from './lexicon.ts';
import { type LiteralHint, readLiterals } from './literals.ts';
import { analyzeWord, eachRawWord, isStopWord, stemOf } from './text.ts';
import type { Thesaurus } from './thesaurus.ts';
import { correctTypo, splitCompound } from './typos.ts';

/** Limit of a wording. A longer text is a document, whose beginning contains the request. */
export const MAX_QUERY = 500;
const MAX_QUERY_WORDS = 64;
/** Limit of wordings. Two or three name a capability well, and each takes time like a query. */
const MAX_WORDINGS = 4;
/** Weight of a wording after the first, which is the agent's best: a later one widens the request, or repeats it. */
const LATER_WORDING = 0.75;
/** Weight of the parts of a joined name: `GitLab` is searched as `gitlab`, with its parts beside it. */
const PART_WEIGHT = 0.2;
const MAX_TERM_WEIGHT = 2;
const GUESSED_WEIGHT = 0.8;
/**
 * Limit of corrections. A query full of unknown words has no typos, and a correction costs up to a third of a
 * millisecond.
 */
const MAX_CORRECTED = 4;
const COMPOUND_WEIGHT = 0.25;

/** Word of the query, in order, including stop words, which phrases need. */
export interface QueryWord {
  raw: string;
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
  /** Words that look like the name of a product and that no tool, server or argument contains. */
  unmentioned: readonly string[];
  /** Neighbouring words, two stems with a blank between. */
  pairs: ReadonlySet<string>;
  /** Whether the query is a person's sentence rather than the words of an API. */
  sentence: boolean;
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

/**
 * Plans a query. Its wordings (`git stash | put changes aside`) are read apart, so that no phrase reaches from one into
 * the next; then their words count together, those of later wordings less, because a second wording seldom repeats the
 * product that the first names.
 */
export function planQuery(query: string, vocabulary: Vocabulary): QueryPlan {
  const words: QueryWord[] = [];
  const terms = new Map<number, number>();
  const concepts: Concept[] = [];
  const add = ({ term, weight }: WeightedTerm) =>
    terms.set(term, Math.min(MAX_TERM_WEIGHT, (terms.get(term) ?? 0) + weight));
  const hints: LiteralHint[] = [];
  const unmentioned = new Set<string>();
  const pairs = new Set<string>();
  let forms: ReadonlyMap<string, string> = new Map();
  let sentence = false;
  for (const [place, wording] of wordingsOf(query).entries()) {
    const share = place === 0 ? 1 : LATER_WORDING;
    const literals = readLiterals(wording);
    const own: QueryWord[] = [];
    readWords(literals.rest, 1, vocabulary, own);
    const wished = own.slice();
    for (const value of literals.values) readWords(value.text, value.weight, vocabulary, own);
    for (const word of own) reduce(word, share);
    for (const word of own) if (!word.stop) for (const term of word.terms) add(term);
    addCompounds(wished, share, vocabulary, add);
    concepts.push(...conceptsOf(wished, share, vocabulary));
    hints.push(...literals.hints);
    const content = wished.filter(({ stop }) => !stop);
    for (const [place, { stem }] of content.entries()) if (place > 0) pairs.add(`${content[place - 1]?.stem} ${stem}`);
    const prose = wished.length - content.length >= MIN_STOP_WORDS;
    sentence ||= prose;
    for (const name of unmentionedNames(wished, prose, vocabulary)) unmentioned.add(name);
    // The form of the first wording that has the word: `get segment effort | list segment efforts` wants one.
    forms = new Map([...own.filter(({ stop }) => !stop).map(({ stem, lower }) => [stem, lower] as const), ...forms]);
    words.push(...own);
  }
  concepts.push(...hintConcept(hints, vocabulary));
  return {
    words,
    terms: [...terms].map(([term, weight]) => ({ term, weight })),
    concepts,
    unmentioned: [...unmentioned],
    pairs,
    sentence,
    forms,
    sureness: namesOf(words, concepts, vocabulary),
  };
}

function reduce(word: QueryWord, share: number): void {
  word.weight *= share;
  for (const term of word.terms) term.weight *= share;
}

/** Number of stop words from which a wording is a sentence: `list issues of a repository` has two. */
const MIN_STOP_WORDS = 3;
/** Longest acronym: `VAT` and `HCL` are values or terms of a trade rather than products. */
const ACRONYM = /^\p{Lu}{1,4}s?$/u;
const CAPITALISED = /^\p{Lu}\p{Ll}+$/u;

const MAX_NAME = 40;

/** Finds names by their capitals. A sentence begins with a capital too, and `Dana's` is a person. */
function unmentionedNames(words: readonly QueryWord[], prose: boolean, { lexicon, thesaurus }: Vocabulary): string[] {
  return words.flatMap(({ raw, stem, stop }, place) => {
    if (stop || raw.length < 3 || !/\p{Lu}/u.test(raw) || ACRONYM.test(raw)) return [];
    const begins = place === 0 && CAPITALISED.test(raw) && (prose || thesaurus.meanings.has(stem));
    return begins || words[place + 1]?.lower === 's' || lexicon.lookup(stem) !== undefined
      ? []
      : [raw.slice(0, MAX_NAME)];
  });
}

/** Splits a query at `|` into its wordings. */
export function wordingsOf(query: string): string[] {
  const wordings = query.split('|', MAX_WORDINGS).map((part) => part.trim().slice(0, MAX_QUERY));
  return [...new Set(wordings)].filter((part) => part !== '');
}

function readWords(text: string, weight: number, vocabulary: Vocabulary, words: QueryWord[]): void {
  let unknown = 0;
  eachRawWord(text, (raw) => {
    if (words.length >= MAX_QUERY_WORDS) return;
    const word = analyzeWord(raw);
    const stop = isStopWord(word.lower);
    const entry: QueryWord = { raw, lower: word.lower, stem: word.stem, stop, terms: [], weight };
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
    // A name inside a sentence is no mistyped word: `Wrike` is not `write`.
    const name = words.length > 1 && /^\p{Lu}/u.test(raw);
    entry.terms.push(...guess(entry, vocabulary, !name && unknown < MAX_CORRECTED));
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
function addCompounds(
  words: readonly QueryWord[],
  share: number,
  { lexicon }: Vocabulary,
  add: (term: WeightedTerm) => void,
): void {
  for (let at = 1; at < words.length; at++) {
    const [first, second] = [words[at - 1] as QueryWord, words[at] as QueryWord];
    if (first.stop || second.stop || first.lower.length < 3 || second.lower.length < 3) continue;
    const term = lexicon.lookup(stemOf(first.lower + second.lower));
    if (term !== undefined) add({ term, weight: COMPOUND_WEIGHT * share });
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
