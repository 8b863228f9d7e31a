import { MAX_ANSWER_CHARS } from './porcelain.ts';
import { visibleJson } from './visibleText.ts';

interface Step {
  chars: number;
  items: number;
  members: number;
}

const ALL = Number.POSITIVE_INFINITY;
/**
 * Limits of strings, lists and objects, from mild to harsh. Ids stay whole. An object of a known form keeps its members
 * longer than a list its items.
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
/** Nesting limit. Deeper data would say nothing in a bounded answer. */
const MAX_DEPTH = 12;

/** Shortens data to the limit of text answers: cuts the ends of strings first, then the ends of lists. */
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
    return visibleJson(data).length <= limit;
  } catch {
    // Data too deep for serialization; shortening limits the depth too.
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
