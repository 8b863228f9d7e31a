import type { Concept, Expansion } from '../scoring/signals.ts';
import type { LiteralHint } from './literals.ts';
import type { QueryWord, Vocabulary } from './queryWords.ts';
import { stemOf } from './text.ts';
import type { Meaning } from './thesaurus.ts';

/** Shares of the greatest idf in the catalog: the minimum for a phrase, and the weight of an unknown word. */
const PHRASE_MASS = 0.6;
const UNKNOWN_MASS = 1;
/** `who`, `where` and `when` are only hints. */
const QUESTION_WEIGHT = 0.4;
/** Words inside a phrase count less on their own, because the phrase covers most of their meaning. */
const INSIDE_PHRASE = 0.5;
/** A long query needs few expansions: its words are specific enough, and expansions would match everything. */
const SHORT_QUERY = 8;

/**
 * Splits a wording into concepts, by phrases and words, with all their expansions in this catalog. `share` is the weight
 * of the wording.
 */
export function conceptsOf(words: readonly QueryWord[], share: number, vocabulary: Vocabulary): Concept[] {
  const finder = new ConceptFinder(words, vocabulary);
  const inPhrase = new Set<number>();
  for (const places of phrasesIn(words, vocabulary)) {
    finder.add(places, share);
    for (const place of places) inPhrase.add(place);
  }
  for (const [place, word] of words.entries()) {
    finder.add([place], share * (word.stop ? QUESTION_WEIGHT : inPhrase.has(place) ? INSIDE_PHRASE : 1));
  }
  return finder.concepts;
}

/** Meaning whose words are all in the catalog. */
export interface KnownMeaning extends Meaning {
  terms: readonly number[];
}

const NOTHING: readonly KnownMeaning[] = [];

/** Looked up once per catalog; the cache is bounded by the vocabulary. */
function knownMeanings(key: string, { thesaurus, lexicon, meaningsHere }: Vocabulary): readonly KnownMeaning[] {
  const meanings = thesaurus.meanings.get(key) ?? thesaurus.loosePhrases.get(key);
  if (meanings === undefined) return NOTHING;
  let known = meaningsHere.get(key);
  if (known === undefined) {
    known = [];
    for (const meaning of meanings) {
      const terms = meaning.stems.map((stem) => lexicon.lookup(stem));
      if (terms.every((term) => term !== undefined)) known.push({ ...meaning, terms });
    }
    meaningsHere.set(key, known);
  }
  return known;
}

class ConceptFinder {
  readonly concepts: Concept[] = [];
  readonly #words: readonly QueryWord[];
  readonly #vocabulary: Vocabulary;
  readonly #asked: ReadonlySet<string>;

  constructor(words: readonly QueryWord[], vocabulary: Vocabulary) {
    this.#words = words;
    this.#vocabulary = vocabulary;
    this.#asked = new Set(words.filter((word) => !word.stop).map((word) => word.stem));
  }

  add(places: readonly number[], weight: number): void {
    const part = places.map((place) => this.#words[place] as QueryWord);
    const key = part.map((word) => word.stem).join(' ');
    const meanings = knownMeanings(key, this.#vocabulary);
    if (meanings.length === 0) return;
    const damping = Math.min(1, SHORT_QUERY / Math.max(1, this.#asked.size));
    const expansions = this.#expansionsOf(meanings, weight * damping);
    if (expansions.length === 0) return;
    this.concepts.push({
      label: part.map((word) => word.lower).join(' '),
      own: part.flatMap((word) => (word.stop ? [] : word.terms)),
      mass: this.#massOf(part),
      expansions,
    });
  }

  #expansionsOf(meanings: readonly KnownMeaning[], weight: number): Expansion[] {
    const expansions: Expansion[] = [];
    for (const meaning of meanings) {
      if (meaning.stems.every((stem) => this.#asked.has(stem))) continue;
      expansions.push({ terms: meaning.terms, weight: meaning.weight * weight });
    }
    return expansions;
  }

  #massOf(part: readonly QueryWord[]): number {
    const { idf, maxIdf } = this.#vocabulary;
    let mass = 0;
    for (const word of part) {
      if (word.stop) continue;
      const known = word.terms.map(({ term }) => idf[term] as number);
      mass += known.length > 0 ? Math.max(...known) : UNKNOWN_MASS * maxIdf;
    }
    return part.length > 1 || mass === 0 ? Math.max(Math.min(mass, maxIdf), PHRASE_MASS * maxIdf) : mass;
  }
}

const PARTICLES = new Set(
  'on off out up down in into back away over apart aside together through'.split(' ').map(stemOf),
);
/** Maximum number of extra words inside a phrase. */
const MAX_GAP = 3;

/** Finds phrases of the vocabulary: word for word, without stop words in between, or as a verb with its particle. */
function phrasesIn(words: readonly QueryWord[], { thesaurus }: Vocabulary): number[][] {
  const found: number[][] = [];
  const taken = new Set<number>();
  const keyOf = (places: readonly number[]) => places.map((place) => words[place]?.stem).join(' ');
  const take = (places: number[]) => {
    found.push(places);
    for (const place of places) taken.add(place);
  };
  const all = [...words.keys()];
  const content = all.filter((place) => !words[place]?.stop);
  for (const [row, phrases] of [
    [all, thesaurus.meanings],
    [content, thesaurus.loosePhrases],
  ] as const) {
    for (const from of row.keys()) {
      const longest = thesaurus.phraseLengths.get(words[row[from] as number]?.stem ?? '') ?? 0;
      for (let length = Math.min(longest, row.length - from); length > 1; length--) {
        const places = row.slice(from, from + length);
        const span = (places.at(-1) as number) - (places[0] as number);
        if (span > length + MAX_GAP || !phrases.has(keyOf(places))) continue;
        if (row === all || !places.every((place) => taken.has(place))) take(places);
        break;
      }
    }
  }
  for (const from of all) {
    if (!thesaurus.phraseLengths.get(words[from]?.stem ?? '')) continue;
    for (let at = from + 2; at <= from + 1 + MAX_GAP && at < words.length; at++) {
      if (!PARTICLES.has(words[at]?.stem ?? '') || !thesaurus.meanings.has(keyOf([from, at]))) continue;
      take([from, at]);
      break;
    }
  }
  return found;
}

/** Combines the meanings of the values' forms in the query into one concept. */
export function hintConcept(hints: readonly LiteralHint[], { lexicon, maxIdf }: Vocabulary): Concept[] {
  const expansions: Expansion[] = [];
  for (const hint of hints) {
    const term = lexicon.lookup(stemOf(hint.word));
    if (term !== undefined) expansions.push({ terms: [term], weight: hint.weight });
  }
  if (expansions.length === 0) return [];
  return [{ label: 'form of a value', own: [], mass: PHRASE_MASS * maxIdf, expansions }];
}
