/** Largest edit distance for a suggestion, however long the word. The limit also bounds the work. */
const MAX_MISTAKES = 8;

/**
 * Returns the known word nearest to a mistyped one; undefined when nothing is near. The first of equally near words
 * wins.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.min(MAX_MISTAKES, Math.max(1, Math.floor(word.length / 3)));
  let best: string | undefined;
  let bestDistance = limit + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase(), bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the only known word with this beginning, for an unfinished word; else the nearest one. */
export function meantBy(word: string, known: readonly string[]): string | undefined {
  const begins = word === '' ? [] : known.filter((candidate) => candidate.startsWith(word));
  return begins.length === 1 ? begins[0] : nearest(word, known);
}

/** Returns what was probably meant by an unknown word, for an offer to replace it; nothing if no known word is near. */
export function meant(written: string, known: readonly string[]): { meant?: { written: string; instead: string } } {
  const instead = nearest(written, known);
  return instead === undefined ? {} : { meant: { written, instead } };
}

/** Returns the end of a sentence that suggests a known word for an unknown one. */
export function didYouMean(
  word: string,
  known: readonly string[],
  otherwise = known.length === 0 ? 'there is none.' : `there are ${known.join(', ')}.`,
): string {
  const near = nearest(word, known);
  return near === undefined ? otherwise : `did you mean "${near}"?`;
}

/**
 * Damerau–Levenshtein distance with adjacent swaps; from `cutoff` on any number may result. Skips cells farther from
 * the diagonal than the cutoff, and stops after two rows beyond it (a swap reaches over one), because a catalog has ten
 * thousand names, some of them long.
 */
function editDistance(a: string, b: string, cutoff: number): number {
  if (Math.abs(a.length - b.length) >= cutoff) return cutoff;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: Math.min(b.length + 1, cutoff) }, (_, j) => j);
  let leastBefore = 0;
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - cutoff + 1);
    const current: number[] = [];
    current[first - 1] = first === 1 ? i : cutoff;
    let least = current[first - 1] as number;
    for (let j = first; j <= Math.min(b.length, i + cutoff - 1); j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(
        (previous[j] ?? cutoff) + 1,
        (current[j - 1] as number) + 1,
        (previous[j - 1] ?? cutoff) + cost,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforePrevious[j - 2] ?? cutoff) + 1);
      }
      current.push(value);
      least = Math.min(least, value);
    }
    if (least >= cutoff && leastBefore >= cutoff) return cutoff;
    leastBefore = least;
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? cutoff;
}
