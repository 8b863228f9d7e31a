import type { CatalogTool } from '../catalog/types.ts';
import { notesOn } from './candidateNotes.ts';
import { byScore, type Candidate } from './candidates.ts';
import type { RankedTool, RankIndex } from './rankIndex.ts';
import type { Evidence } from './scoring/scoring.ts';

/** Factors for a further variant of a shown tool (`create_invoice_v2`), and for a server's tools beyond the cap. */
const VARIANT_FACTOR = 0.6;
const SIBLING_CAP = 5;
const SIBLING_FACTOR = 0.8;
/** With fewer servers a cap would only hide tools. */
const MIN_SERVERS_FOR_CAP = 5;
const NAMED = 0.2;
/** Results far below the first are noise; a short list is more useful. */
const KEPT_SHARE = 0.3;

export interface Arranged extends RankedTool {
  doc: number;
  /** 1, or the factor of a variant or of a sibling beyond the cap. */
  factor: number;
}

/**
 * Orders candidates so that ten cards are ten real choices. Variants and many siblings of an unnamed server are ranked
 * lower, and identical tools of several servers become one card.
 */
export function arrange(
  index: RankIndex,
  candidates: readonly Candidate[],
  evidence: Evidence,
  topK: number,
  onlyServer: number | undefined,
): Arranged[] {
  const variants = new Set<number>();
  const perServer = new Map<number, number>();
  const capped = onlyServer === undefined && index.servers.length >= MIN_SERVERS_FOR_CAP;
  const ordered = candidates.map(({ doc, score }) => {
    const { tool, server, clones } = bestMember(index, doc, evidence, onlyServer);
    const { family } = notesOn(index, doc);
    let factor = variants.has(family) ? VARIANT_FACTOR : 1;
    variants.add(family);
    const siblings = perServer.get(server) ?? 0;
    perServer.set(server, siblings + 1);
    if (capped && (evidence.named[server] as number) <= NAMED && siblings >= SIBLING_CAP) factor *= SIBLING_FACTOR;
    return { doc, tool, clones, factor, score: factor === 1 ? score : Math.max(1, Math.round(score * factor)) };
  });
  ordered.sort(byScore);
  const least = KEPT_SHARE * (ordered[0]?.score ?? 0);
  return ordered.filter(({ score }) => score >= least).slice(0, topK);
}

/** Chooses among identical tools: the tool whose server is named, else the tool used before, else the first by id. */
function bestMember(index: RankIndex, doc: number, { named, learnedIds }: Evidence, onlyServer: number | undefined) {
  const members = index.documents[doc]?.members ?? [];
  let best = members[0] as number;
  let bestValue = -1;
  for (const member of members) {
    const server = index.serverOf[member] as number;
    if (onlyServer !== undefined && server !== onlyServer) continue;
    const value = (named[server] as number) + (learnedIds.has((index.tools[member] as CatalogTool).id) ? USED : 0);
    if (value <= bestValue) continue;
    best = member;
    bestValue = value;
  }
  const clones = members.filter((member) => member !== best).map((member) => index.tools[member] as CatalogTool);
  return {
    tool: index.tools[best] as CatalogTool,
    server: index.serverOf[best] as number,
    clones: onlyServer === undefined ? clones : [],
  };
}
const USED = 0.1;

const MAX_FURTHER = 40;

/** Returns the other tools of the first hit's server, best first. */
export function furtherTools(index: RankIndex, hits: readonly Arranged[], base: Float64Array): CatalogTool[] {
  const server = hits[0]?.tool.server;
  const shown = new Set(hits.map(({ doc }) => doc));
  const others: { tool: CatalogTool; score: number }[] = [];
  for (const tool of index.tools) {
    if (tool.server !== server) continue;
    const doc = index.docOf.get(tool.id) as number;
    if (!shown.has(doc)) others.push({ tool, score: base[doc] as number });
  }
  return others
    .sort(byScore)
    .slice(0, MAX_FURTHER)
    .map(({ tool }) => tool);
}
