import type { Lexicon } from './lexicon.ts';

const MIN_LENGTH = 5;
const MIN_HALF = 3;

/** Whether one insertion, deletion, substitution or swap of neighbours makes the one word the other. */
export function isOneEditAway(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  const [long, short] = a.length >= b.length ? [a, b] : [b, a];
  let head = 0;
  while (head < short.length && long[head] === short[head]) head++;
  if (head === short.length) return true;
  const tail = long.slice(head + 1);
  if (long.length > short.length) return tail === short.slice(head);
  if (tail === short.slice(head + 1)) return true;
  return (
    long[head] === short[head + 1] && long[head + 1] === short[head] && long.slice(head + 2) === short.slice(head + 2)
  );
}

/**
 * The catalog's word for one it does not know: the most widely held word one edit away, the first letter kept.
 * Only for words that no list knows: a rare word is not a typo.
 */
export function correctTypo(
  stem: string,
  lexicon: Lexicon,
  docFrequency: (term: number) => number,
): number | undefined {
  if (stem.length < MIN_LENGTH || !/^[a-z]+$/.test(stem)) return undefined;
  let best: number | undefined;
  let bestFrequency = 0;
  for (let term = 0; term < lexicon.size; term++) {
    const candidate = lexicon.stems[term] as string;
    if (candidate.charCodeAt(0) !== stem.charCodeAt(0) || Math.abs(candidate.length - stem.length) > 1) continue;
    if (candidate.length < MIN_LENGTH - 1 || !isOneEditAway(stem, candidate)) continue;
    const frequency = docFrequency(term);
    if (frequency > bestFrequency) {
      best = term;
      bestFrequency = frequency;
    }
  }
  return best;
}

/** `healthcheck` for a catalog that says `health check`: two words it knows, the rarer half as common as possible. */
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
