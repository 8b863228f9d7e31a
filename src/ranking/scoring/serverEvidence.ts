import { stemOf } from '../words/text.ts';
import type { Postings } from './postings.ts';

/** Words in a server's name that identify no platform. */
const COMMON_SERVER_WORDS = new Set(
  'mcp server api tool tools app service cloud local official client remote http dev v1 v2 js io com ai'
    .split(' ')
    .map(stemOf),
);

const EXACT = 1;
const PREFIX = 0.7;
const BY_MEANING = 0.8;
const MIN_PREFIX = 4;
const MAX_NAMED = 1.2;
const SATURATION = 0.6;

export interface ServerIndex {
  count: number;
  /** Servers by a word of their name. */
  byWord: ReadonlyMap<string, readonly number[]>;
  words: readonly string[];
  /** Weighted postings: for each term the servers whose tools contain it. */
  offsets: Uint32Array;
  servers: Uint32Array;
  shares: Float32Array;
  idf: Float32Array;
}

export function buildServerIndex(
  nameStems: readonly (readonly string[])[],
  serversOf: (doc: number) => readonly number[],
  sizes: Uint32Array,
  postings: Postings,
  termCount: number,
): ServerIndex {
  const byWord = new Map<string, number[]>();
  for (const [server, stems] of nameStems.entries()) {
    for (const stem of new Set(stems)) {
      if (COMMON_SERVER_WORDS.has(stem)) continue;
      const list = byWord.get(stem);
      if (list) list.push(server);
      else byWord.set(stem, [server]);
    }
  }
  const count = nameStems.length;
  const offsets = new Uint32Array(termCount + 1);
  const servers: number[] = [];
  const shares: number[] = [];
  const idf = new Float32Array(termCount);
  const held = new Uint32Array(count);
  for (let term = 0; term < termCount; term++) {
    const touched: number[] = [];
    for (let at = postings.offsets[term] as number; at < (postings.offsets[term + 1] as number); at++) {
      for (const server of serversOf(postings.docs[at] as number)) {
        if (held[server] === 0) touched.push(server);
        held[server] = (held[server] as number) + 1;
      }
    }
    for (const server of touched) {
      const r = (held[server] as number) / Math.sqrt(sizes[server] as number);
      servers.push(server);
      shares.push(r / (r + SATURATION));
      held[server] = 0;
    }
    offsets[term + 1] = servers.length;
    idf[term] = Math.round(Math.log(1 + (count - touched.length + 0.5) / (touched.length + 0.5)) * 1024) / 1024;
  }
  return {
    count,
    byWord,
    words: [...byWord.keys()],
    offsets,
    servers: Uint32Array.from(servers),
    shares: Float32Array.from(shares),
    idf,
  };
}

/** Returns how surely the query names each server: by its name, a prefix of the name, or an expansion. */
export function namedServers(
  index: ServerIndex,
  words: readonly { lower: string; stem: string; stop: boolean }[],
  meanings: ReadonlyMap<string, number>,
): Float64Array {
  const named = new Float64Array(index.count);
  const best = new Map<string, number>();
  const raise = (word: string, by: number) => best.set(word, Math.max(best.get(word) ?? 0, by));
  for (const word of words) {
    if (word.stop) continue;
    if (index.byWord.has(word.stem)) raise(word.stem, EXACT);
    else if (word.lower.length >= MIN_PREFIX) {
      for (const name of index.words)
        if (name.length > word.lower.length && name.startsWith(word.lower)) raise(name, PREFIX);
    }
  }
  for (const [stem, sureness] of meanings) if (index.byWord.has(stem)) raise(stem, BY_MEANING * sureness);
  for (const [word, sureness] of best) {
    const servers = index.byWord.get(word) ?? [];
    for (const server of servers) {
      named[server] = Math.min(MAX_NAMED, (named[server] as number) + sureness / Math.sqrt(servers.length));
    }
  }
  return named;
}

/** Returns how closely each server's tools, taken together, match the query; the best server counts 1. */
export function serverAffinity(index: ServerIndex, terms: readonly { term: number; weight: number }[]): Float64Array {
  const affinity = new Float64Array(index.count);
  let max = 0;
  for (const { term, weight } of terms) {
    for (let at = index.offsets[term] as number; at < (index.offsets[term + 1] as number); at++) {
      const server = index.servers[at] as number;
      const value = (affinity[server] as number) + weight * (index.idf[term] as number) * (index.shares[at] as number);
      affinity[server] = value;
      if (value > max) max = value;
    }
  }
  if (max > 0)
    for (let server = 0; server < affinity.length; server++) affinity[server] = (affinity[server] as number) / max;
  return affinity;
}
