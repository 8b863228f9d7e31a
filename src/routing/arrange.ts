import type { CatalogTool } from '../catalog/types.ts';
import { byScore, type Candidate } from './candidates.ts';
import type { RankedTool, RankIndex } from './rankIndex.ts';

/** A further variant of a tool already shown (`create_invoice_v2`), and one server's tools beyond the cap. */
const VARIANT_FACTOR = 0.6;
const SIBLING_CAP = 5;
const SIBLING_FACTOR = 0.8;
/** Among so few servers a cap would only hide what there is. */
const MIN_SERVERS_FOR_CAP = 5;
const NAMED = 0.2;

/**
 * Ten cards should be ten choices: variants and the many siblings of a server nobody named stand back, and identical
 * tools of several servers become one card.
 */
export function arrange(
  index: RankIndex,
  candidates: readonly Candidate[],
  named: Float64Array,
  topK: number,
  oneServer: boolean,
): RankedTool[] {
  const variants = new Set<string>();
  const perServer = new Uint32Array(index.servers.length);
  const capped = !oneServer && index.servers.length >= MIN_SERVERS_FOR_CAP;
  const ordered = candidates.map(({ doc, score }) => {
    const server = index.serverOf[doc] as number;
    const family = familyOf(index, doc);
    let factor = 1;
    if (variants.has(family)) factor *= VARIANT_FACTOR;
    else variants.add(family);
    perServer[server] = (perServer[server] as number) + 1;
    if (capped && (named[server] as number) <= NAMED && (perServer[server] as number) > SIBLING_CAP)
      factor *= SIBLING_FACTOR;
    return { doc, score: factor === 1 ? score : Math.max(1, Math.round(score * factor)) };
  });
  ordered.sort(byScore);
  const hits: RankedTool[] = [];
  const shown = new Map<number, CatalogTool[]>();
  for (const { doc, score } of ordered) {
    const group = index.groupOf[doc] as number;
    if (shown.has(group) || hits.length >= topK) continue;
    const clones = oneServer ? [] : cloneTools(index, group, doc);
    shown.set(group, clones);
    hits.push({ tool: index.tools[doc] as CatalogTool, score, clones });
  }
  return hits;
}

function familyOf(index: RankIndex, doc: number): string {
  let family = index.families[doc];
  if (family === undefined) {
    const { server, upstreamName, description } = index.tools[doc] as CatalogTool;
    family = `${server}\n${familyName(upstreamName)}\n${familyText(description)}`;
    index.families[doc] = family;
  }
  return family;
}

function cloneTools(index: RankIndex, group: number, doc: number): CatalogTool[] {
  const members = index.cloneMembers.get(group);
  if (members === undefined) return [];
  return members.filter((member) => member !== doc).map((member) => index.tools[member] as CatalogTool);
}

/** A name without its version: `create_invoice_v2`, `createInvoice2` and `create_invoice_beta` are one family. */
export function familyName(name: string): string {
  return name
    .toLowerCase()
    .replace(/[_.-](?:beta|alpha|preview|legacy|deprecated|old|new|copy|latest)$/, '')
    .replace(/[_.-]?v?\d+$/, '')
    .replace(/\d+/g, '#');
}

/** A description without its numbers and without remarks in brackets. */
export function familyText(description: string): string {
  return description
    .slice(0, 400)
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\d+/g, '#')
    .replace(/\s+/g, ' ')
    .trim();
}
