import { fitsTokens, prefixHorizon } from '../tokenizer/tokens.ts';

/**
 * Cuts a text to a number of cl100k_base tokens (G2.8): unchanged where it fits; else the longest prefix that ends a
 * sentence; else the longest prefix of one token less, and `…`. Depends on nothing but its arguments.
 */
export function truncateToTokens(text: string, budget: number): string {
  if (budget <= 0) return '';
  const horizon = prefixHorizon(text, budget);
  if (horizon === undefined) return text;
  return longestSentences(text, budget, horizon) ?? `${longestPrefix(text, budget - 1).trimEnd()}…`;
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
 * Finds the longest fitting prefix by bisection over characters. The method is part of the result: a whole word can
 * take fewer tokens than its half, so another search could find another prefix (G2.8).
 */
function longestPrefix(text: string, budget: number): string {
  const offsets = characterOffsets(text);
  let fits = 0;
  let last = offsets ? offsets.length - 1 : text.length;
  while (fits < last) {
    const middle = (fits + last + 1) >> 1;
    const end = offsets ? (offsets[middle] as number) : middle;
    if (fitsTokens(text.slice(0, end), budget)) fits = middle;
    else last = middle - 1;
  }
  return text.slice(0, offsets ? offsets[fits] : fits);
}

/** Returns the offset of each character, and the end; undefined when every unit is a character. */
function characterOffsets(text: string): number[] | undefined {
  if (!/[\ud800-\udbff]/.test(text)) return undefined;
  const offsets = [0];
  for (const character of text) offsets.push((offsets.at(-1) as number) + character.length);
  return offsets;
}
