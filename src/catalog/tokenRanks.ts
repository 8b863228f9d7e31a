import { createRequire } from 'node:module';

/** A rank table as js-tiktoken ships it. */
interface RankFile {
  bpe_ranks: string;
}

export interface RankTable {
  /** Every token's bytes, as a string of one character per byte, with its rank. */
  ranks: ReadonlyMap<string, number>;
  /** Ranks of the tokens of two bytes, at first byte × 256 + second: merging a long piece starts with all its pairs. */
  pairs: Int32Array;
}

/** No rank: above all that are. */
export const NO_RANK = 0x7fffffff;

let table: RankTable | undefined;

/** The cl100k_base ranks, read on first use: eagerly they would cost every start 50 ms and 35 MB. */
export function cl100kRanks(): RankTable {
  table ??= parseRanks(loadRankFile());
  return table;
}

/**
 * The specifier stands in both calls as a literal so that the bundler can see and map it: in a CommonJS bundle
 * `require` is there, under Node and vitest, where files are ES modules, it is not.
 */
function loadRankFile(): RankFile {
  return typeof require === 'function'
    ? require('js-tiktoken/ranks/cl100k_base')
    : createRequire(import.meta.url)('js-tiktoken/ranks/cl100k_base');
}

export function pairIndex(bytes: string, at: number): number {
  return bytes.charCodeAt(at) * 256 + bytes.charCodeAt(at + 1);
}

/** Lines of `! first-rank base64 base64 …`, ranks counting up along the line. */
function parseRanks(file: RankFile): RankTable {
  const ranks = new Map<string, number>();
  const pairs = new Int32Array(0x10000).fill(NO_RANK);
  for (const line of file.bpe_ranks.split('\n')) {
    const [, first, ...tokens] = line.split(' ');
    let rank = Number(first);
    for (const token of tokens) {
      const bytes = atob(token);
      if (bytes.length === 2) pairs[pairIndex(bytes, 0)] = rank;
      ranks.set(bytes, rank++);
    }
  }
  return { ranks, pairs };
}
