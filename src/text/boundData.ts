import { MAX_ANSWER_CHARS } from './porcelain.ts';

interface Step {
  chars: number;
  items: number;
  members: number;
}

const ALL = Number.POSITIVE_INFINITY;
/**
 * From mild to harsh: how long a string, a list and an object may be. Ids stay whole; an object of a known form keeps
 * its members for longer than a list its items.
 */
const STEPS: readonly Step[] = [
  { chars: 4_000, items: ALL, members: ALL },
  { chars: 1_000, items: ALL, members: ALL },
  { chars: 300, items: ALL, members: ALL },
  { chars: 200, items: 100, members: 100 },
  { chars: 200, items: 30, members: 30 },
  { chars: 200, items: 10, members: 30 },
  { chars: 200, items: 3, members: 30 },
  { chars: 200, items: 3, members: 3 },
];
/** What nests deeper than this says nothing that a bounded answer could show. */
const MAX_DEPTH = 12;

/** `render=json` has the same bound as text: what is too long loses the end of its strings, then of its lists. */
export function boundData(data: object, limit = MAX_ANSWER_CHARS - 1): object {
  if (fits(data, limit)) return data;
  for (const step of STEPS) {
    const shorter = { ...(shorten(data, step, MAX_DEPTH) as object), truncated: true };
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

function shorten(value: unknown, step: Step, depth: number): unknown {
  const { chars, items, members: most } = step;
  if (typeof value === 'string')
    return value.length <= chars ? value : `${value.slice(0, chars).replace(/[\ud800-\udbff]$/, '')}…`;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) return '…';
  const inner = (item: unknown): unknown => shorten(item, step, depth - 1);
  if (Array.isArray(value)) return value.slice(0, items).map(inner);
  const members = Object.entries(value).slice(0, most);
  return Object.fromEntries(members.map(([key, item]) => [inner(key), inner(item)]));
}
