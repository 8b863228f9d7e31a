import type { RankIndex } from './rankIndex.ts';
import {
  BASE_BINS,
  BASE_LIMIT,
  type BaseScores,
  type Evidence,
  isSupported,
  SCORE_SCALE,
  SIGNAL_WEIGHTS,
  secondLook,
} from './scoring/scoring.ts';
import { likeness } from './words/toolVectors.ts';

export interface Candidate {
  doc: number;
  score: number;
}

const FIRST_LOOK = 96;
const SECOND_LOOK = 30;
/** Candidates beyond `topK`, because variants and siblings are ranked lower later. */
const SPARE = 10;

/**
 * Returns the tools that can be among the first `topK`, best first. Likeness costs a product of 48 numbers per tool, so
 * it is computed for the best tools by all other signals, and then only where it can still change the result.
 */
export function bestCandidates(
  index: RankIndex,
  evidence: Evidence,
  { values: base, bins }: BaseScores,
  topK: number,
  onlyServer?: number,
): Candidate[] {
  const found: Candidate[] = [];
  const floor = floorOfBest(bins, Math.max(FIRST_LOOK, topK * 3));
  collect(index, evidence, base, { from: floor, below: Number.POSITIVE_INFINITY, reach: 0, onlyServer }, found);
  const window = Math.max(SECOND_LOOK, topK * 2 + SPARE);
  const reach = nthBest(found, window);
  collect(index, evidence, base, { from: Number.NEGATIVE_INFINITY, below: floor, reach, onlyServer }, found);
  const first = found
    .filter(({ score }) => score >= reach)
    .sort((a, b) => b.score - a.score || a.doc - b.doc)
    .slice(0, window);
  for (const candidate of first) {
    const look = secondLook(index, evidence, candidate.doc);
    const names = SIGNAL_WEIGHTS['name forms'] * look['name forms'] + SIGNAL_WEIGHTS['name rest'] * look['name rest'];
    candidate.score = Math.max(1, Math.round((candidate.score + names) * SCORE_SCALE));
  }
  return first.sort((a, b) => b.score - a.score || a.doc - b.doc);
}

interface Range {
  from: number;
  below: number;
  /** Minimum score of a relevant candidate. */
  reach: number;
  onlyServer: number | undefined;
}

function collect(index: RankIndex, evidence: Evidence, base: Float64Array, range: Range, found: Candidate[]): void {
  const { vector } = evidence;
  const { vectors, serversOf } = index;
  const { from, below, reach, onlyServer } = range;
  const weight = SIGNAL_WEIGHTS.likeness;
  const bar = reach - (vector ? weight : 0);
  for (let doc = 0; doc < base.length; doc++) {
    const value = base[doc] as number;
    if (value < from || value >= below || value < bar) continue;
    if (onlyServer !== undefined && !serversOf[doc]?.includes(onlyServer)) continue;
    const alike = vector && vectors ? likeness(vectors, vector, doc, (reach - value) / weight) : 0;
    const score = value + weight * alike;
    if (score >= reach && isSupported(evidence, doc, alike)) found.push({ doc, score });
  }
}

/** Orders by score, then by id (G2.9). */
export function byScore(
  a: { score: number; tool: { id: string } },
  b: { score: number; tool: { id: string } },
): number {
  return b.score - a.score || (a.tool.id < b.tool.id ? -1 : a.tool.id > b.tool.id ? 1 : 0);
}

/** Returns a value that at least `count` documents reach; negative infinity if there are not enough documents. */
function floorOfBest(bins: Uint32Array, count: number): number {
  let above = 0;
  for (let bin = BASE_BINS; bin > 0; bin--) {
    above += bins[bin] as number;
    if (above >= count) return (bin * BASE_LIMIT) / BASE_BINS;
  }
  return Number.NEGATIVE_INFINITY;
}

function nthBest(found: readonly Candidate[], n: number): number {
  if (found.length < n) return 0;
  return (found.map(({ score }) => score).sort((a, b) => b - a)[n - 1] as number) ?? 0;
}
