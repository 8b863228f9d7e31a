import { isRecord } from '../../lib/isRecord.ts';
import { leftOut } from '../../lib/leftOut.ts';

/** Limits of a list, for a server that never ends one (G8.6). */
const MAX_PAGES = 64;
const MAX_ITEMS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** Limit of one member of an item; no schema that is checked comes near it (`SCHEMA_LIMITS`). */
const MAX_MEMBER_CHARS = 256 * 1024;
/** Limit for all pages together, because 64 pages with their own limits would take half an hour. */
const MAX_MS = 120_000;
/** A timer may fire a little early. */
const TIMER_SLACK_MS = 5;

/** Reason why a list was cut, to complete "its list was cut: …". */
export type ListCut = string;

export interface PagedList {
  items: unknown[];
  /** Set if the list exceeds the bounds. */
  cut?: ListCut;
  /** Failure or timeout of a later page. */
  failure?: unknown;
}

/** All pages together take longer than the limit. */
export class ListTooSlow extends Error {
  override readonly name = 'ListTooSlow';

  constructor(limitMs: number) {
    super(`Its pages take more than ${limitMs / 1_000} s.`);
  }
}

export interface Page {
  items: readonly unknown[];
  nextCursor: unknown;
}

/**
 * Returns an item with the number of its characters as JSON, and without objects that are too large: each step of the
 * catalog would visit all their values. Writes each member once, because writing a large one takes long.
 */
function measured(item: unknown): { kept: unknown; chars: number } {
  if (!isRecord(item)) return { kept: item, chars: JSON.stringify(item)?.length ?? 0 };
  let kept = item;
  let chars = 2;
  for (const [name, value] of Object.entries(item)) {
    const json = JSON.stringify(value);
    // Quotes, colon and comma.
    chars += name.length + json.length + 4;
    if (isRecord(value) && json.length > MAX_MEMBER_CHARS) kept = { ...kept, [name]: leftOut(json) };
  }
  return { kept, chars };
}

/** Requests one page; the first without a cursor. */
type AskPage = (cursor: string | undefined, timeoutMs: number) => Promise<Page>;

/**
 * Requests every page of a list and returns unchanged items. A list beyond the bounds is cut and marked, because a
 * second request would give the same. If a later page fails or comes too late, returns the partial list, for callers
 * that know no complete one.
 */
export async function listPages(key: string, ask: AskPage, limitMs = MAX_MS): Promise<PagedList> {
  const items: unknown[] = [];
  const cursors = new Set<string>();
  const deadline = performance.now() + limitMs;
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 1; ; page++) {
    let answer: Page;
    try {
      answer = await ask(cursor, Math.max(1, deadline - performance.now()));
    } catch (failure) {
      if (page === 1) throw failure;
      const isLate = performance.now() >= deadline - TIMER_SLACK_MS;
      return { items, failure: isLate ? new ListTooSlow(limitMs) : failure };
    }
    const { items: listed, nextCursor: next } = answer;
    // A spread of a hostile list would overflow the stack.
    for (const item of listed) {
      if (items.length >= MAX_ITEMS) return { items, cut: `it has more than ${MAX_ITEMS} ${key}` };
      const { kept, chars } = measured(item);
      bytes += chars;
      if (bytes > MAX_BYTES) return { items, cut: `its ${key} take more than ${MAX_BYTES / 1024 / 1024} MiB` };
      items.push(kept);
    }
    if (typeof next !== 'string') return { items };
    if (cursors.has(next)) return { items, cut: 'it returned the same page again' };
    if (page >= MAX_PAGES) return { items, cut: `it has more than ${MAX_PAGES} pages` };
    cursors.add(next);
    cursor = next;
  }
}
