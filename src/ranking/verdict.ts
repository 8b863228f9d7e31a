import type { CatalogTool } from '../catalog/types.ts';
import type { RankIndex } from './rankIndex.ts';
import type { Evidence } from './scoring/scoring.ts';

/**
 * Minimum share of the query (support plus half of the likeness) in the best hit for a good match, and for any match.
 * For queries that the real catalog can serve, 95 % reach the first; for nonsense queries, one in seven.
 */
const GOOD = 0.3;
const ANY = 0.05;
const MAX_NAMES = 5;

/** Returns the share of the query's weight that a tool covers with its words or their expansions: 0 to about 0.8. */
export function supportFor(index: RankIndex, evidence: Evidence, doc: number): number {
  let mass = 0;
  for (const word of evidence.plan.words) {
    if (word.stop) continue;
    let best = word.terms.length === 0 ? index.maxIdf : 0;
    for (const { term } of word.terms) best = Math.max(best, index.idf[term] as number);
    mass += word.weight * best;
  }
  // A query that consists of a value only is matched by the meaning of the value's form.
  if (mass === 0) for (const concept of evidence.plan.concepts) mass = Math.max(mass, concept.mass);
  return mass === 0 ? 0 : Math.min(1, (evidence.meanings[doc] as number) / mass);
}

export interface Verdict {
  confidence: 'good' | 'weak' | 'none';
  nearestNames: readonly string[];
}

/** Judges whether anything matched well, so that the answer can state it (G3.10). */
export function judgeMatch(
  index: RankIndex,
  evidence: Evidence,
  hits: readonly { doc: number; tool: CatalogTool }[],
): Verdict {
  let best = 0;
  for (const { doc } of hits.slice(0, 3)) {
    best = Math.max(best, supportFor(index, evidence, doc));
  }
  if (best >= GOOD) return { confidence: 'good', nearestNames: [] };
  const names = [...new Set(hits.map(({ tool }) => tool.upstreamName))];
  return { confidence: best < ANY ? 'none' : 'weak', nearestNames: names.slice(0, MAX_NAMES) };
}
