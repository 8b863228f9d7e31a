/** Kind of misbehaviour of a server, and its number of occurrences. */
export interface ServerOddity {
  kind: string;
  count: number;
  /** Name of several of the kind, for a person. */
  words: string;
}

const SHOWN = 3;

/** Lists the most frequent kinds of misbehaviour: `lines on stdout that are no messages (1,200)`. */
export function oddityWords(oddities: readonly ServerOddity[]): string {
  const shown = oddities.slice(0, SHOWN).map(({ words, count }) => `${words} (${count.toLocaleString('en-US')})`);
  const more = oddities.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}
