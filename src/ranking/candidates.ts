import type { RankIndex } from './rankIndex.ts';
import { type Evidence, isSupported, SCORE_SCALE, SIGNAL_WEIGHTS, secondLook } from './scoring/scoring.ts';

export interface Candidate {
  doc: number;
  score: number;
}

const SECOND_LOOK = 30;
/** Candidates beyond `topK`, because variants and siblings are ranked lower later. */
const SPARE = 10;

/** Returns the tools that can be among the first `topK`, best first. */
export function bestCandidates(
  index: RankIndex,
  evidence: Evidence,
  base: Float64Array,
  topK: number,
  onlyServer?: number,
): Candidate[] {
  const first = firstLook(index, evidence, base, Math.max(SECOND_LOOK, topK * 2 + SPARE), onlyServer);
  for (const candidate of first) {
    const look = secondLook(index, evidence, candidate.doc);
    const names =
      SIGNAL_WEIGHTS['name forms'] * look['name forms'] +
      SIGNAL_WEIGHTS['name order'] * look['name order'] +
      SIGNAL_WEIGHTS['name rest'] * look['name rest'];
    candidate.score = Math.max(1, Math.round((candidate.score + names) * SCORE_SCALE));
  }
  return first.sort((a, b) => b.score - a.score || a.doc - b.doc);
}

/** Selects by insertion: few tools of a catalog reach the list, so that sorting all would cost more. */
function firstLook(
  { serversOf }: RankIndex,
  evidence: Evidence,
  base: Float64Array,
  count: number,
  onlyServer: number | undefined,
): Candidate[] {
  const scores = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  const docs = new Uint32Array(count);
  let found = 0;
  let bar = Number.NEGATIVE_INFINITY;
  for (let doc = 0; doc < base.length; doc++) {
    const score = base[doc] as number;
    if (score <= bar || !isSupported(evidence, doc)) continue;
    if (onlyServer !== undefined && !serversOf[doc]?.includes(onlyServer)) continue;
    let at = found < count ? found++ : count - 1;
    for (; at > 0 && (scores[at - 1] as number) < score; at--) {
      scores[at] = scores[at - 1] as number;
      docs[at] = docs[at - 1] as number;
    }
    scores[at] = score;
    docs[at] = doc;
    bar = scores[count - 1] as number;
  }
  return Array.from(docs.subarray(0, found), (doc, at) => ({ doc, score: scores[at] as number }));
}

/** Orders by score, then by id (G2.9). */
export function byScore(
  a: { score: number; tool: { id: string } },
  b: { score: number; tool: { id: string } },
): number {
  return b.score - a.score || (a.tool.id < b.tool.id ? -1 : a.tool.id > b.tool.id ? 1 : 0);
}
