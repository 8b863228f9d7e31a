import type { CatalogTool } from '../catalog/types.ts';
import type { RankIndex } from './rankIndex.ts';
import type { Evidence } from './scoring/scoring.ts';

/**
 * Minimum share of the query in the best hit for a good match, and for any match. Of queries that the real catalog can
 * serve, 97 % reach the first in a user's words, and all in the words of an API.
 */
const GOOD = 0.25;
const ANY = 0.05;
/** Nineteen of twenty queries in the words of an API reach this share, and half of those in a user's words. */
const CERTAIN = 0.5;
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
  /** `none`: nothing matched. `weak`: only a small part of the query matched. */
  confidence: 'good' | 'weak' | 'none';
  /** Whether most of the query matched, so that the first cards very likely hold the tool. */
  certain: boolean;
  /** Whether the query reads like a person's sentence. */
  sentence: boolean;
  /** Names of products in the query that no tool, server or argument contains. */
  unmentioned: readonly string[];
  nearestNames: readonly string[];
}

/** Judges whether anything matched well, so that the answer can state it (G3.10). */
export function judgeMatch(
  index: RankIndex,
  evidence: Evidence,
  hits: readonly { doc: number; tool: CatalogTool }[],
): Verdict {
  let best = 0;
  for (const { doc } of hits.slice(0, 3)) best = Math.max(best, supportFor(index, evidence, doc));
  const { sentence, unmentioned } = evidence.plan;
  const asked = { certain: best >= CERTAIN, sentence, unmentioned: unmentioned.slice(0, MAX_NAMES) };
  if (best >= GOOD) return { ...asked, confidence: 'good', nearestNames: [] };
  const names = [...new Set(hits.map(({ tool }) => tool.upstreamName))];
  return { ...asked, confidence: best < ANY ? 'none' : 'weak', nearestNames: names.slice(0, MAX_NAMES) };
}
