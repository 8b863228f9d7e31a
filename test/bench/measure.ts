import type { DataQuery } from './dataSet.ts';

/** The ids a card stands for: the tool's own, and those of its clones. */
export type Card = readonly string[];

export interface Share {
  at1: number;
  at5: number;
  at10: number;
  mrr: number;
  count: number;
}

/**
 * Computes the share of queries with an accepted tool at 1, 5 and 10, counting groups of alternatives. With `recall`,
 * for the public sets: the share of the groups with at least one tool among the first; the first place counts whether
 * it is accepted.
 */
export function judge(results: readonly (readonly Card[])[], queries: readonly DataQuery[], recall: boolean): Share {
  const sum: Share = { at1: 0, at5: 0, at10: 0, mrr: 0, count: queries.length };
  for (const [number, query] of queries.entries()) {
    const found = results[number] ?? [];
    const groups = query.alt ?? query.gold.map((id) => [id]);
    const accepted = new Set(groups.flat());
    const at = (k: number) => {
      const top = new Set(found.slice(0, k).flat());
      if (!recall) return [...accepted].some((id) => top.has(id)) ? 1 : 0;
      return groups.filter((group) => group.some((id) => top.has(id))).length / Math.max(1, groups.length);
    };
    const serves = (card: Card | undefined) => card?.some((id) => accepted.has(id)) === true;
    sum.at1 += serves(found[0]) ? 1 : 0;
    sum.at5 += at(5);
    sum.at10 += at(10);
    const first = found.slice(0, 10).findIndex(serves);
    sum.mrr += first < 0 ? 0 : 1 / (first + 1);
  }
  const share = (value: number) => Math.round((value / Math.max(1, queries.length)) * 10_000) / 10_000;
  return { at1: share(sum.at1), at5: share(sum.at5), at10: share(sum.at10), mrr: share(sum.mrr), count: sum.count };
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
