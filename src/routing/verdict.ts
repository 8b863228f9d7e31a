import type { RankedTool, RankIndex } from './rankIndex.ts';
import type { Evidence } from './scoring.ts';
import { likeness } from './toolVectors.ts';

/** Below these, what was found is a small part of what was asked. */
const GOOD_SUPPORT = 0.25;
const GOOD_LIKENESS = 0.6;
const MAX_NAMES = 5;

/** The part of the query's weight that a tool holds, in its words or in words that stand for them: 0 to about 0.8. */
export function supportFor(index: RankIndex, evidence: Evidence, doc: number): number {
  let mass = 0;
  for (const word of evidence.plan.words) {
    if (word.stop) continue;
    let best = word.terms.length === 0 ? index.maxIdf : 0;
    for (const { term } of word.terms) best = Math.max(best, index.idf[term] as number);
    mass += word.weight * best;
  }
  return mass === 0 ? 0 : Math.min(1, (evidence.meanings[doc] as number) / mass);
}

/** Nothing matched, or matched badly, is said plainly (B.2). */
export function judgeMatch(
  index: RankIndex,
  evidence: Evidence,
  hits: readonly RankedTool[],
): { confidence: 'good' | 'weak' | 'none'; nearestNames: readonly string[] } {
  const names = (list: readonly RankedTool[]) =>
    [...new Set(list.map(({ tool }) => tool.upstreamName))].slice(0, MAX_NAMES);
  if (hits.length === 0) return { confidence: 'none', nearestNames: [] };
  for (const { tool } of hits.slice(0, 3)) {
    const doc = index.docOf.get(tool.id) as number;
    const alike = evidence.vector && index.vectors ? likeness(index.vectors, evidence.vector, doc) : 0;
    if (supportFor(index, evidence, doc) >= GOOD_SUPPORT || alike >= GOOD_LIKENESS)
      return { confidence: 'good', nearestNames: [] };
  }
  return { confidence: 'weak', nearestNames: names(hits) };
}
