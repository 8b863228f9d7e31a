import type { Lexicon } from './lexicon.ts';
import { type LiteralHint, readLiterals } from './literals.ts';
import type { Concept, Expansion, WeightedTerm } from './signals.ts';
import { analyzeWord, eachRawWord, isStopWord, stemOf } from './text.ts';
import type { Meaning, Thesaurus } from './thesaurus.ts';
import { correctTypo, splitCompound } from './typos.ts';

/** A question longer than this is a document; its beginning says what is wanted. */
export const MAX_QUERY = 500;
const MAX_QUERY_WORDS = 64;
/** `GitLab` is asked for as `gitlab`; its parts count this much beside it. */
const PART_WEIGHT = 0.2;
const MAX_TERM_WEIGHT = 2;
const GUESSED_WEIGHT = 0.8;
const COMPOUND_WEIGHT = 0.5;

/** Of the greatest idf in the catalog: what an unknown word, and a phrase of stop words, may weigh. */
const UNKNOWN_MASS = 1;
const PHRASE_MASS = 0.6;
const QUESTION_WEIGHT = 0.4;
const INSIDE_PHRASE = 0.5;

/** A word of the query, in order, stop words included (phrases need them). */
export interface QueryWord {
  lower: string;
  stem: string;
  stop: boolean;
  /** Its terms in the catalog. */
  terms: WeightedTerm[];
  /** Inside a value: no wish of its own. */
  weight: number;
}

export interface QueryPlan {
  words: readonly QueryWord[];
  /** The terms to look up, each once. */
  terms: readonly WeightedTerm[];
  concepts: readonly Concept[];
  /** What the catalog's names and servers may be called by: a stem and how surely. */
  sureness: ReadonlyMap<string, number>;
  /** The query's words as they stand in it, by stem. */
  forms: ReadonlyMap<string, string>;
  /** What the query's vector is made of. */
  vectorWords: readonly { stem: string; weight: number }[];
}

export interface Vocabulary {
  lexicon: Lexicon;
  idf: Float64Array;
  maxIdf: number;
  thesaurus: Thesaurus;
  docFrequency(term: number): number;
  /** Whether any word list knows the stem, so that it is no typo. */
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
  const concepts = [...conceptsOf(words.slice(0, wished), vocabulary), ...hintConcepts(literals.hints, vocabulary)];
  return {
    words,
    terms: [...terms].map(([term, weight]) => ({ term, weight })),
    concepts,
    forms: new Map(words.filter((word) => !word.stop).map((word) => [word.stem, word.lower])),
    ...namesOf(words, concepts, vocabulary),
  };
}

function readWords(text: string, weight: number, vocabulary: Vocabulary, words: QueryWord[]): void {
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
    if (entry.terms.length === 0 && weight === 1) entry.terms.push(...guess(entry, vocabulary));
  });
}

function guess(word: QueryWord, { lexicon, docFrequency, isWord }: Vocabulary): WeightedTerm[] {
  const halves = splitCompound(word.lower, stemOf, lexicon, docFrequency);
  if (halves) return halves.map((term) => ({ term, weight: GUESSED_WEIGHT }));
  if (isWord(word.stem)) return [];
  const corrected = correctTypo(word.stem, lexicon, docFrequency);
  if (corrected === undefined) return [];
  word.stem = lexicon.stems[corrected] as string;
  return [{ term: corrected, weight: GUESSED_WEIGHT }];
}

/** `web hook` for a catalog that says `webhook`. */
function addCompounds(words: readonly QueryWord[], { lexicon }: Vocabulary, add: (term: WeightedTerm) => void): void {
  for (let at = 1; at < words.length; at++) {
    const [first, second] = [words[at - 1] as QueryWord, words[at] as QueryWord];
    if (first.stop || second.stop || first.lower.length < 3 || second.lower.length < 3) continue;
    const term = lexicon.lookup(stemOf(first.lower + second.lower));
    if (term !== undefined) add({ term, weight: COMPOUND_WEIGHT });
  }
}

function expansionsOf(
  meanings: readonly Meaning[],
  weight: number,
  asked: ReadonlySet<string>,
  lexicon: Lexicon,
): Expansion[] {
  const expansions: Expansion[] = [];
  for (const meaning of meanings) {
    if (meaning.stems.every((stem) => asked.has(stem))) continue;
    const terms: number[] = [];
    for (const stem of meaning.stems) {
      const term = lexicon.lookup(stem);
      if (term !== undefined) terms.push(term);
    }
    if (terms.length === meaning.stems.length) expansions.push({ terms, weight: meaning.weight * weight });
  }
  return expansions;
}

function conceptsOf(words: readonly QueryWord[], vocabulary: Vocabulary): Concept[] {
  const { thesaurus, idf, maxIdf, lexicon } = vocabulary;
  const asked = new Set(words.filter((word) => !word.stop).map((word) => word.stem));
  const inPhrase = new Set<number>();
  const concepts: Concept[] = [];
  const add = (from: number, to: number, weight: number) => {
    const part = words.slice(from, to);
    const meanings = thesaurus.meanings.get(part.map((word) => word.stem).join(' '));
    if (meanings === undefined) return false;
    const expansions = expansionsOf(meanings, weight, asked, lexicon);
    const own = part.flatMap((word) => (word.stop ? [] : word.terms));
    let mass = 0;
    for (const word of part) {
      if (word.stop) continue;
      mass +=
        word.terms.length > 0 ? Math.max(...word.terms.map(({ term }) => idf[term] as number)) : UNKNOWN_MASS * maxIdf;
    }
    if (part.length > 1 || mass === 0) mass = Math.max(Math.min(mass, maxIdf), PHRASE_MASS * maxIdf);
    if (expansions.length > 0)
      concepts.push({ label: part.map((word) => word.lower).join(' '), own, mass, expansions });
    return true;
  };
  for (let from = 0; from < words.length; from++) {
    const longest = thesaurus.phrases.get((words[from] as QueryWord).stem) ?? 0;
    for (let length = Math.min(longest, words.length - from); length > 1; length--) {
      if (!add(from, from + length, 1)) continue;
      for (let at = from; at < from + length; at++) inPhrase.add(at);
      break;
    }
  }
  addSeparated(words, vocabulary, asked, concepts);
  for (const [at, word] of words.entries()) {
    add(at, at + 1, word.stop ? QUESTION_WEIGHT : inPhrase.has(at) ? INSIDE_PHRASE : 1);
  }
  return concepts;
}

const PARTICLES = new Set('on off out up down in back away over apart aside together through'.split(' ').map(stemOf));
const MAX_GAP = 3;

/** `turn the old rule off`: a verb and its particle with a few words between. */
function addSeparated(
  words: readonly QueryWord[],
  { thesaurus, maxIdf, lexicon }: Vocabulary,
  asked: ReadonlySet<string>,
  concepts: Concept[],
): void {
  for (const [at, verb] of words.entries()) {
    if (!thesaurus.phrases.has(verb.stem)) continue;
    for (let gap = 2; gap <= MAX_GAP + 1 && at + gap < words.length; gap++) {
      const particle = words[at + gap] as QueryWord;
      if (!PARTICLES.has(particle.stem)) continue;
      const meanings = thesaurus.meanings.get(`${verb.stem} ${particle.stem}`);
      if (meanings === undefined) continue;
      const expansions = expansionsOf(meanings, 1, asked, lexicon);
      const label = `${verb.lower} … ${particle.lower}`;
      if (expansions.length > 0)
        concepts.push({ label, own: verb.stop ? [] : verb.terms, mass: PHRASE_MASS * maxIdf, expansions });
      break;
    }
  }
}

function hintConcepts(hints: readonly LiteralHint[], { lexicon, maxIdf }: Vocabulary): Concept[] {
  const expansions: Expansion[] = [];
  for (const hint of hints) {
    const term = lexicon.lookup(stemOf(hint.word));
    if (term !== undefined) expansions.push({ terms: [term], weight: hint.weight });
  }
  return expansions.length === 0 ? [] : [{ label: 'form of a value', own: [], mass: PHRASE_MASS * maxIdf, expansions }];
}

/** Expansions count less where they stand for a name, and little in a vector that has its own idea of likeness. */
const NAME_BY_MEANING = 0.6;
const VECTOR_BY_MEANING = 0.12;

function namesOf(
  words: readonly QueryWord[],
  concepts: readonly Concept[],
  { lexicon }: Vocabulary,
): Pick<QueryPlan, 'sureness' | 'vectorWords'> {
  const sureness = new Map<string, number>();
  const raise = (stem: string, by: number) => sureness.set(stem, Math.max(sureness.get(stem) ?? 0, by));
  const vectorWords: { stem: string; weight: number }[] = [];
  for (const word of words) {
    if (word.stop) continue;
    raise(word.stem, word.weight);
    for (const { term, weight } of word.terms) raise(lexicon.stems[term] as string, weight);
    vectorWords.push({ stem: word.stem, weight: word.weight });
  }
  for (const concept of concepts) {
    for (const expansion of concept.expansions) {
      for (const term of expansion.terms) {
        const stem = lexicon.stems[term] as string;
        raise(stem, NAME_BY_MEANING * expansion.weight);
        vectorWords.push({ stem, weight: (VECTOR_BY_MEANING * expansion.weight) / expansion.terms.length });
      }
    }
  }
  return { sureness, vectorWords };
}
