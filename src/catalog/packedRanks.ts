/**
 * A tokenizer's ranks as bytes that are looked up as they lie, so that nothing has to be read before the first token
 * is counted:
 *
 *     for each of `BUCKETS` buckets and for the end: where its records start, 3 bytes, little-endian
 *     the records, bucket after bucket: length of the token, its rank in 3 bytes, its bytes
 */

/** No rank: above all that are. */
export const NO_RANK = 0x7fffffff;

/** Powers of two: as many that most buckets hold one token or two. */
const BUCKETS = 0x10000;
const OFFSET_BYTES = 3;
const RECORD_HEAD = 4;

/** Of tokens as strings of one character per byte, in the order of their ranks. */
export function packRanks(tokens: readonly string[]): Uint8Array {
  const buckets: number[][] = Array.from({ length: BUCKETS }, () => []);
  for (const [rank, token] of tokens.entries()) buckets[bucketOf(token, 0, token.length)]?.push(rank);
  const size = tokens.reduce((sum, token) => sum + RECORD_HEAD + token.length, 0);
  const bytes = new Uint8Array((BUCKETS + 1) * OFFSET_BYTES + size);
  let at = (BUCKETS + 1) * OFFSET_BYTES;
  const write3 = (place: number, value: number): void => {
    for (let i = 0; i < 3; i++) bytes[place + i] = (value >> (8 * i)) & 0xff;
  };
  for (const [bucket, ranks] of buckets.entries()) {
    write3(bucket * OFFSET_BYTES, at);
    for (const rank of ranks) {
      const token = tokens[rank] as string;
      bytes[at] = token.length;
      write3(at + 1, rank);
      at += RECORD_HEAD;
      for (let i = 0; i < token.length; i++) bytes[at++] = token.charCodeAt(i);
    }
  }
  write3(BUCKETS * OFFSET_BYTES, at);
  return bytes;
}

/** The rank of what stands from `start` to before `end`, one character per byte; `NO_RANK` where that is no token. */
export function packedRank(packed: Uint8Array, text: string, start: number, end: number): number {
  const length = end - start;
  const offset = bucketOf(text, start, end) * OFFSET_BYTES;
  const stop = read3(packed, offset + OFFSET_BYTES);
  for (let at = read3(packed, offset); at < stop; at += RECORD_HEAD + (packed[at] as number)) {
    if (packed[at] !== length) continue;
    let same = 0;
    while (same < length && packed[at + RECORD_HEAD + same] === text.charCodeAt(start + same)) same++;
    if (same === length) return read3(packed, at + 1);
  }
  return NO_RANK;
}

function read3(bytes: Uint8Array, at: number): number {
  return (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16);
}

/** FNV-1a, its halves folded into one. */
function bucketOf(text: string, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 16) ^ hash) & (BUCKETS - 1);
}
