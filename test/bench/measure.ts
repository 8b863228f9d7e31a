import { readdirSync, readFileSync } from 'node:fs';
import type { DataQuery } from './dataSet.ts';

/** Ids of a card: that of its tool, and those of the tool's clones. */
export type Card = readonly string[];

export interface Share {
  at1: number;
  at5: number;
  at10: number;
  mrr: number;
  count: number;
}

/**
 * Computes the share of queries with an accepted tool among the first 1, 5 and 10. With `recall`, for the public sets,
 * computes the share of the groups of alternatives with a tool among the first 5 and 10; the value at 1 is still the
 * share of queries whose first tool is accepted.
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

/** Returns the CPU time of all threads of a process (Linux), which `schedstat` counts in nanoseconds. */
export function cpuMsOf(pid: number | string): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const times = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}
