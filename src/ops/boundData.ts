import { MAX_ANSWER_CHARS } from './porcelain.ts';

/** From mild to harsh: how long a string and how long a list (or an object's members) may be. Ids stay whole. */
const STEPS = [
  [4_000, Number.POSITIVE_INFINITY],
  [1_000, Number.POSITIVE_INFINITY],
  [300, Number.POSITIVE_INFINITY],
  [200, 100],
  [200, 30],
  [200, 10],
  [200, 3],
] as const;
/** What nests deeper than this says nothing that a bounded answer could show. */
const MAX_DEPTH = 12;

/** `render=json` has the same bound as text: what is too long loses the end of its strings, then of its lists. */
export function boundData(data: object, limit = MAX_ANSWER_CHARS - 1): object {
  if (fits(data, limit)) return data;
  for (const [chars, items] of STEPS) {
    const shorter = { ...(shorten(data, chars, items, MAX_DEPTH) as object), truncated: true };
    if (fits(shorter, limit)) return shorter;
  }
  return { truncated: true };
}

function fits(data: object, limit: number): boolean {
  try {
    return JSON.stringify(data).length <= limit;
  } catch {
    // Too deep to be written: shortening bounds the depth too.
    return false;
  }
}

function shorten(value: unknown, chars: number, items: number, depth: number): unknown {
  if (typeof value === 'string')
    return value.length <= chars ? value : `${value.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  const inner = (item: unknown): unknown => shorten(item, chars, items, depth - 1);
  if (Array.isArray(value)) return value.slice(0, items).map(inner);
  const members = Object.entries(value).slice(0, items);
  return Object.fromEntries(members.map(([key, item]) => [inner(key), inner(item)]));
}
