import type { CatalogTool } from '../catalog/types.ts';
import { cloneGroups } from './clones.ts';
import { buildFieldIndex, type FieldIndex, type FieldTerms, fieldTermsOf, type ServerText } from './fieldIndex.ts';
import { Lexicon } from './lexicon.ts';
import { readQuery } from './queryWords.ts';
import type { UseHistory } from './useHistory.ts';

export interface RankServer {
  name: string;
  namespace: string;
  instructions?: string;
}

export interface RankResources {
  /** The bytes of `media/words-48.bin`; without them ranking works on words alone. */
  wordTable?: Uint8Array;
}

export interface RankIndex {
  /** In the order of their ids. */
  tools: readonly CatalogTool[];
  servers: readonly ServerText[];
  serverOf: Uint32Array;
  groupOf: Uint32Array;
  lexicon: Lexicon;
  fields: FieldIndex;
}

export interface RankedTool {
  tool: CatalogTool;
  score: number;
  /** Other servers' identical tools, collapsed into this one. */
  clones: readonly CatalogTool[];
}

export interface RankResult {
  hits: readonly RankedTool[];
  /** `none`: nothing matched. `weak`: what matched is a small part of what was asked. */
  confidence: 'good' | 'weak' | 'none';
  searched: number;
  nearestNames: readonly string[];
}

export interface RankOptions {
  topK: number;
  server?: string;
  history?: UseHistory;
}

function byCodePoint(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function buildRankIndex(
  tools: readonly CatalogTool[],
  servers: readonly RankServer[],
  _resources: RankResources = {},
): RankIndex {
  const sorted = [...tools].sort((a, b) => byCodePoint(a.id, b.id));
  const lexicon = new Lexicon();
  const known = new Map(servers.map((server) => [server.name, server]));
  const serverNumbers = new Map<string, number>();
  const serverTexts: ServerText[] = [];
  const serverOf = new Uint32Array(sorted.length);
  const documents: FieldTerms[] = [];
  for (const [doc, tool] of sorted.entries()) {
    let number = serverNumbers.get(tool.server);
    if (number === undefined) {
      number = serverTexts.length;
      serverNumbers.set(tool.server, number);
      const server = known.get(tool.server);
      serverTexts.push({
        name: tool.server,
        nameTerms: [...new Set([...lexicon.termsOf(tool.server), ...lexicon.termsOf(server?.namespace ?? '')])],
        textTerms: lexicon.termsOf((server?.instructions ?? '').slice(0, 2_000)),
      });
    }
    serverOf[doc] = number;
    documents.push(fieldTermsOf(tool, serverTexts[number] as ServerText, lexicon));
  }
  lexicon.seal();
  return {
    tools: sorted,
    servers: serverTexts,
    serverOf,
    groupOf: cloneGroups(sorted),
    lexicon,
    fields: buildFieldIndex(documents, lexicon.size),
  };
}

export function rank(index: RankIndex, query: string, options: RankOptions): RankResult {
  const { terms } = readQuery(query, index.lexicon);
  const scores = new Float64Array(index.tools.length);
  const { offsets, docs, impacts } = index.fields.postings;
  for (const { term, weight } of terms) {
    const gain = weight * (index.fields.idf[term] as number);
    for (let at = offsets[term] as number; at < (offsets[term + 1] as number); at++) {
      const doc = docs[at] as number;
      scores[doc] = (scores[doc] as number) + gain * (impacts[at] as number);
    }
  }
  const order: number[] = [];
  for (let doc = 0; doc < scores.length; doc++) {
    scores[doc] = Math.round(scores[doc] as number);
    if (scores[doc] === 0) continue;
    if (options.server !== undefined && index.tools[doc]?.server !== options.server) continue;
    order.push(doc);
  }
  order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const hits: RankedTool[] = [];
  const shown = new Map<number, CatalogTool[]>();
  for (const doc of order) {
    const tool = index.tools[doc] as CatalogTool;
    const group = index.groupOf[doc] as number;
    const clones = shown.get(group);
    if (clones) clones.push(tool);
    else if (hits.length < options.topK) {
      const list: CatalogTool[] = [];
      shown.set(group, list);
      hits.push({ tool, score: scores[doc] as number, clones: list });
    }
  }
  return {
    hits,
    confidence: hits.length === 0 ? 'none' : 'good',
    searched: index.tools.length,
    nearestNames: [],
  };
}
