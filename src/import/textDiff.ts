/** What changes between two texts, as `diff -u` shows it. */

const CONTEXT = 3;

interface Line {
  sign: ' ' | '-' | '+';
  text: string;
}

export function unifiedDiff(file: string, before: string | undefined, after: string): string {
  const old = linesOf(before ?? '');
  const lines = compare(old, linesOf(after));
  const changed = lines.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  if (changed.length === 0) return '';
  const out = [`--- ${before === undefined ? '/dev/null' : file}`, `+++ ${file}`];
  for (const [from, to] of hunks(changed, lines.length)) {
    const count = (signs: string, until: readonly Line[]): number =>
      until.filter(({ sign }) => signs.includes(sign)).length;
    const [head, hunk] = [lines.slice(0, from), lines.slice(from, to)];
    const range = (signs: string): string => {
      const length = count(signs, hunk);
      return `${count(signs, head) + (length === 0 ? 0 : 1)},${length}`;
    };
    out.push(`@@ -${range(' -')} +${range(' +')} @@`, ...hunk.map(({ sign, text }) => sign + text));
  }
  return `${out.join('\n')}\n`;
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function hunks(changed: readonly number[], total: number): [number, number][] {
  const found: [number, number][] = [];
  for (const index of changed) {
    const last = found.at(-1);
    const to = Math.min(total, index + CONTEXT + 1);
    if (last && index - CONTEXT <= last[1]) last[1] = to;
    else found.push([Math.max(0, index - CONTEXT), to]);
  }
  return found;
}

/** By the longest common subsequence of what is left between a common beginning and a common end. */
function compare(a: readonly string[], b: readonly string[]): Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ sign: ' ', text }));
  return [
    ...same(a.slice(0, start)),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...same(a.slice(a.length - end)),
  ];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      (common[i] as Uint32Array)[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++] as string });
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push({ sign: '-', text: a[i++] as string });
    else lines.push({ sign: '+', text: b[j++] as string });
  }
  return lines;
}
