/** More than this comes from a server that never ends (facts/reliability.md R12). */
const MAX_PAGES = 64;
const MAX_ITEMS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** For all pages together: each has its own time limit, and 64 of them would be half an hour. */
const MAX_MS = 120_000;

/** Why a list was cut, in words that complete "its list was cut: …". */
export type ListCut = string;

export interface PagedList {
  items: unknown[];
  /** Set where there is more than what came. */
  cut?: ListCut;
}

export interface Page {
  items: readonly unknown[];
  nextCursor: unknown;
}

/** Asks for one page; the first without a cursor. */
type AskPage = (cursor: string | undefined, timeoutMs: number) => Promise<Page>;

/**
 * Every page of a list, each item as it came. What goes on beyond the bounds is kept up to there and marked; a page
 * that fails fails the list, so that half of it never takes the place of a whole one.
 */
export async function listPages(key: string, ask: AskPage): Promise<PagedList> {
  const items: unknown[] = [];
  const cursors = new Set<string>();
  const deadline = performance.now() + MAX_MS;
  let cursor: string | undefined;
  let bytes = 0;
  for (let page = 1; ; page++) {
    const { items: listed, nextCursor: next } = await ask(cursor, Math.max(1, deadline - performance.now()));
    // A spread of a hostile list would overflow the stack.
    for (const item of listed) {
      if (items.length >= MAX_ITEMS) return { items, cut: `it has more than ${MAX_ITEMS} ${key}` };
      bytes += JSON.stringify(item)?.length ?? 0;
      if (bytes > MAX_BYTES) return { items, cut: `its ${key} take more than ${MAX_BYTES / 1024 / 1024} MiB` };
      items.push(item);
    }
    if (typeof next !== 'string') return { items };
    if (cursors.has(next)) return { items, cut: 'it gave the same page again' };
    if (page >= MAX_PAGES) return { items, cut: `it has more than ${MAX_PAGES} pages` };
    if (performance.now() > deadline) return { items, cut: `its pages take more than ${MAX_MS / 1_000} s` };
    cursors.add(next);
    cursor = next;
  }
}
