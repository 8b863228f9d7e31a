import { NO_RANK } from './packedRanks.ts';
import type { RankTable } from './tokenRanks.ts';

/** Length up to which a plain scan for the best pair is faster than a heap. */
const SCAN_LIMIT = 48;

/** Counts the tokens that byte pair merging leaves of a piece (one character per byte) that is no token itself. */
export function mergedCount(bytes: string, table: RankTable): number {
  return bytes.length <= SCAN_LIMIT ? countByScan(bytes, table) : countByHeap(bytes, table);
}

/** Merges the lowest-ranked, then leftmost pair until none is left. Quadratic, therefore only for short pieces. */
function countByScan(bytes: string, table: RankTable): number {
  const starts: number[] = [];
  const pairRanks: number[] = [];
  for (let i = 0; i <= bytes.length; i++) starts.push(i);
  for (let i = 0; i + 2 <= bytes.length; i++) pairRanks.push(table.rankOf(bytes, i, i + 2));
  while (pairRanks.length > 0) {
    let best = 0;
    for (let i = 1; i < pairRanks.length; i++) {
      if ((pairRanks[i] as number) < (pairRanks[best] as number)) best = i;
    }
    if (pairRanks[best] === NO_RANK) break;
    starts.splice(best + 1, 1);
    pairRanks.splice(best, 1);
    if (best < pairRanks.length) {
      pairRanks[best] = table.rankOf(bytes, starts[best] as number, starts[best + 2] as number);
    }
    if (best > 0) {
      pairRanks[best - 1] = table.rankOf(bytes, starts[best - 1] as number, starts[best + 1] as number);
    }
  }
  return starts.length - 1;
}

/**
 * Does the same with a linked list of parts and a heap of pairs, in n log n. An entry of the heap is rank × length +
 * start. An entry is stale, and skipped, when the pair that starts there no longer has that rank.
 */
function countByHeap(bytes: string, table: RankTable): number {
  const length = bytes.length;
  const end = new Int32Array(length);
  const previous = new Int32Array(length);
  const pairRank = new Int32Array(length).fill(NO_RANK);
  const heap = new NumberHeap();
  const updatePair = (start: number): void => {
    const middle = end[start] as number;
    const rank = middle < length ? table.rankOf(bytes, start, end[middle] as number) : NO_RANK;
    pairRank[start] = rank;
    if (rank !== NO_RANK) heap.push(rank * length + start);
  };
  for (let i = 0; i < length; i++) {
    end[i] = i + 1;
    previous[i] = i - 1;
  }
  for (let i = 0; i < length; i++) updatePair(i);
  let parts = length;
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    const start = entry % length;
    if (pairRank[start] !== (entry - start) / length) continue;
    const middle = end[start] as number;
    const after = end[middle] as number;
    end[start] = after;
    pairRank[middle] = NO_RANK;
    if (after < length) previous[after] = start;
    parts--;
    updatePair(start);
    const before = previous[start] as number;
    if (before >= 0) updatePair(before);
  }
  return parts;
}

/** Binary min-heap of numbers. */
class NumberHeap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent] as number;
      if (above <= item) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && (items[child + 1] as number) < (items[child] as number)) child++;
      const below = items[child] as number;
      if (below >= last) break;
      items[at] = below;
      at = child;
    }
    items[at] = last;
    return top;
  }
}
