import { fitsTokens, prefixHorizon } from './tokens.ts';

/**
 * Cuts a text to a number of cl100k_base tokens (000 §2.4): verbatim when it fits; else the longest prefix that ends
 * a sentence; else the longest prefix of one token less, and `…`. Depends on nothing but its arguments.
 */
export function truncateToTokens(text: string, budget: number): string {
  if (budget <= 0) return '';
  const horizon = prefixHorizon(text, budget);
  if (horizon === undefined) return text;
  return longestSentences(text, budget, horizon) ?? `${longestPrefix(text, budget - 1, horizon).trimEnd()}…`;
}

/** `.`, `!` or `?` before white space or the end: the dots of `1.2.3` and `file.txt` end no sentence. */
const SENTENCE_END = /[.!?](?=\s|$)/g;

function longestSentences(text: string, budget: number, horizon: number): string | undefined {
  // One character beyond the horizon, so that what follows a terminator there is seen.
  const reach = text.slice(0, horizon + 1);
  const ends = Array.from(reach.matchAll(SENTENCE_END), (match) => match.index + 1);
  const end = ends.findLast(
    (candidate) =>
      (candidate <= horizon || reach.length === text.length) && fitsTokens(text.slice(0, candidate), budget),
  );
  return end === undefined ? undefined : text.slice(0, end);
}

/**
 * Finishing a word can take fewer tokens than half of it did, so the search for the longest prefix is not over at the
 * first that does not fit: this much further on none has been seen to fit again.
 */
const LOOK_AHEAD = 24;

function longestPrefix(text: string, budget: number, horizon: number): string {
  const prefix = (end: number): string => text.slice(0, wholeCodePoints(text, end));
  let fits = 0;
  let tooLong = Math.min(horizon, text.length);
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (fitsTokens(prefix(middle), budget)) fits = middle;
    else tooLong = middle;
  }
  for (let end = Math.min(fits + LOOK_AHEAD, horizon); end > fits; end--) {
    if (fitsTokens(prefix(end), budget)) return prefix(end);
  }
  return prefix(fits);
}

/** Steps back from the middle of a surrogate pair. */
function wholeCodePoints(text: string, end: number): number {
  const before = text.charCodeAt(end - 1);
  return before >= 0xd800 && before <= 0xdbff && end < text.length ? end - 1 : end;
}
