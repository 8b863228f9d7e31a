import { stemmer } from 'stemmer';
import type { Lexicon } from './lexicon.ts';

const MIN_LENGTH = 5;
/** Limit of corrected words: the number of edits grows with the length. */
const MAX_LENGTH = 20;
const MIN_HALF = 3;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/**
 * Returns every word that is one deletion, swap of neighbours, substitution or insertion away, with the same first
 * letter.
 */
export function oneEditAway(word: string): Set<string> {
  const edits = new Set<string>();
  for (let at = 1; at <= word.length; at++) {
    const head = word.slice(0, at);
    const tail = word.slice(at + 1);
    edits.add(head + tail);
    if (at + 1 < word.length) edits.add(head + word[at + 1] + word[at] + word.slice(at + 2));
    for (const letter of LETTERS) {
      if (at < word.length) edits.add(head + letter + tail);
      edits.add(head + letter + word.slice(at));
    }
  }
  edits.delete(word);
  return edits;
}

/**
 * Corrects a word that no list contains. Among all words one edit away, prefers the stem in most tools, else the
 * alphabetically first stem in any list. Edits the word, not its stem: no edit of the stem of `deploymnt` gives
 * `deploi`.
 */
export function correctTypo(
  lower: string,
  lexicon: Lexicon,
  docFrequency: (term: number) => number,
  isWord: (stem: string) => boolean,
): string | undefined {
  if (lower.length < MIN_LENGTH || lower.length > MAX_LENGTH || !/^[a-z]+$/.test(lower)) return undefined;
  let best: string | undefined;
  let bestFrequency = 0;
  for (const edit of oneEditAway(lower)) {
    const stem = stemmer(edit);
    const term = lexicon.lookup(stem);
    const frequency = term === undefined ? (isWord(stem) ? 0.5 : 0) : docFrequency(term);
    if (frequency === 0 || frequency < bestFrequency) continue;
    if (frequency === bestFrequency && best !== undefined && best <= stem) continue;
    best = stem;
    bestFrequency = frequency;
  }
  return best;
}

/**
 * Splits `healthcheck` for a catalog with `health check`, into two known words whose rarer word is as common as
 * possible.
 */
export function splitCompound(
  lower: string,
  stemOf: (word: string) => string,
  lexicon: Lexicon,
  docFrequency: (term: number) => number,
): readonly number[] | undefined {
  if (!/^[a-z]+$/.test(lower)) return undefined;
  let best: readonly number[] | undefined;
  let bestFrequency = 1;
  for (let at = MIN_HALF; at <= lower.length - MIN_HALF; at++) {
    const first = lexicon.lookup(stemOf(lower.slice(0, at)));
    const second = lexicon.lookup(stemOf(lower.slice(at)));
    if (first === undefined || second === undefined) continue;
    const frequency = Math.min(docFrequency(first), docFrequency(second));
    if (frequency > bestFrequency) {
      best = [first, second];
      bestFrequency = frequency;
    }
  }
  return best;
}
