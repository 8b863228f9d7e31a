import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { once, weakOnce } from '../../lib/once.ts';
import { NO_RANK, packedRank, packRanks } from './packedRanks.ts';

/** Rank table in the form of js-tiktoken. */
interface RankFile {
  bpe_ranks: string;
}

/** File of the packed ranks beside the bundle; absent where code runs from source. */
declare const __WAYGATE_RANKS__: string | undefined;

/** Longest token of cl100k_base in bytes. Longer pieces need no look-up. */
const LONGEST_TOKEN = 128;

/** Ranks of byte strings, one character per byte. */
export class RankTable {
  readonly #packed: Uint8Array;
  /** Ranks of pairs as they are found, plus one. Merging a long piece starts with all its pairs. */
  readonly #pairs = new Int32Array(0x10000);

  constructor(packed: Uint8Array) {
    this.#packed = packed;
  }

  /** Returns the rank of the bytes from `start` to before `end`; `NO_RANK` where they are no token. */
  rankOf(bytes: string, start: number, end: number): number {
    if (end - start !== 2) return end - start > LONGEST_TOKEN ? NO_RANK : packedRank(this.#packed, bytes, start, end);
    const pair = bytes.charCodeAt(start) * 256 + bytes.charCodeAt(start + 1);
    const known = this.#pairs[pair] as number;
    if (known !== 0) return known === -1 ? NO_RANK : known - 1;
    const rank = packedRank(this.#packed, bytes, start, end);
    this.#pairs[pair] = rank === NO_RANK ? -1 : rank + 1;
    return rank;
  }
}

/** Returns the cl100k_base ranks, read on first use. A process that is idle keeps no megabyte that a file has. */
export const cl100kRanks =
  typeof __WAYGATE_RANKS__ === 'string'
    ? weakOnce(() => new RankTable(readFileSync(new URL(__WAYGATE_RANKS__ as string, import.meta.url))))
    : once(() => new RankTable(packCl100k()));

/** Packs lines of `! first-rank base64 base64 …`, ranks counting up along the line. */
export function packCl100k(): Uint8Array {
  const file: RankFile = createRequire(import.meta.url)('js-tiktoken/ranks/cl100k_base');
  const tokens: string[] = [];
  for (const line of file.bpe_ranks.split('\n')) {
    const [, first, ...encoded] = line.split(' ');
    for (const [at, token] of encoded.entries()) tokens[Number(first) + at] = atob(token);
  }
  return packRanks(tokens);
}
