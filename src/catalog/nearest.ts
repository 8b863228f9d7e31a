/** The candidate that a mistyped text most likely meant: fewest edits, at most half of its length. */
export function nearestText(wanted: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let fewest = Math.floor(wanted.length / 2) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - wanted.length) >= fewest) continue;
    const edits = editDistance(wanted, candidate);
    if (edits < fewest) {
      fewest = edits;
      best = candidate;
    }
  }
  return best ?? candidates.find((candidate) => candidate.startsWith(wanted) || wanted.startsWith(candidate));
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
