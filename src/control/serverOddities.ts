/** Kind of misbehaviour of a server, and its number of occurrences. */
export interface ServerOddity {
  kind: string;
  count: number;
  /** Name of several of the kind, for a person. */
  words: string;
}

const SHOWN = 3;

/**
 * Lists the most frequent kinds of misbehaviour: `lines on stdout that are no messages (1,200)`. `name` and `andMore`
 * translate.
 */
export function oddityWords(
  oddities: readonly ServerOddity[],
  name = (words: string): string => words,
  andMore = (shown: string, more: number): string => `${shown}, and ${more} more`,
): string {
  const shown = oddities
    .slice(0, SHOWN)
    .map(({ words, count }) => `${name(words)} (${count.toLocaleString('en-US')})`)
    .join(', ');
  const more = oddities.length - SHOWN;
  return more > 0 ? andMore(shown, more) : shown;
}
