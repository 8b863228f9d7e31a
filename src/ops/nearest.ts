/** The known word that a mistyped one most likely meant; none when nothing is near. Ties go to the first. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3));
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

/** The only one that begins as a word does, where it was left unfinished; else the nearest. */
export function meantBy(word: string, known: readonly string[]): string | undefined {
  const begins = word === '' ? [] : known.filter((candidate) => candidate.startsWith(word));
  return begins.length === 1 ? begins[0] : nearest(word, known);
}

/** What to do about a word that is none of those there are: one sentence's end. */
export function didYouMean(
  word: string,
  known: readonly string[],
  otherwise = `there are ${known.join(', ')}.`,
): string {
  const meant = nearest(word, known);
  return meant === undefined ? otherwise : `did you mean "${meant}"?`;
}

/** Damerau–Levenshtein with adjacent swaps; anything from `cutoff` on is as good as infinite. */
function editDistance(a: string, b: string, cutoff: number): number {
  if (Math.abs(a.length - b.length) >= cutoff) return cutoff;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let value = Math.min(
        (previous[j] as number) + 1,
        (current[j - 1] as number) + 1,
        (previous[j - 1] as number) + cost,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        value = Math.min(value, (beforePrevious[j - 2] as number) + 1);
      }
      current.push(value);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] as number;
}
