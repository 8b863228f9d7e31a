/**
 * Packed list of byte strings that is searched in place, so that the first search needs no parsing:
 *
 *     one byte: how many bits select a bucket
 *     for each bucket and for the end: where its records start, 3 bytes, little-endian
 *     the records, bucket after bucket: length of the string, its rank (its place in the list) in 3 bytes, its bytes
 */

/** Rank of an absent string, above all others. */
export const NO_RANK = 0x7fffffff;

const HEAD_BYTES = 1;
const OFFSET_BYTES = 3;
const RECORD_HEAD = 4;

/** Packs strings of one character per byte, up to 255 of them. Most buckets hold one or two strings. */
export function packRanks(list: readonly string[]): Uint8Array {
  const bits = Math.floor(Math.log2(Math.max(1, list.length)));
  const buckets: number[][] = Array.from({ length: 2 ** bits }, () => []);
  for (const [rank, text] of list.entries()) buckets[bucketOf(text, 0, text.length, bits)]?.push(rank);
  let at = HEAD_BYTES + (buckets.length + 1) * OFFSET_BYTES;
  const bytes = new Uint8Array(list.reduce((sum, text) => sum + RECORD_HEAD + text.length, at));
  const write3 = (place: number, value: number): void => {
    for (let i = 0; i < 3; i++) bytes[place + i] = (value >> (8 * i)) & 0xff;
  };
  bytes[0] = bits;
  for (const [bucket, ranks] of buckets.entries()) {
    write3(HEAD_BYTES + bucket * OFFSET_BYTES, at);
    for (const rank of ranks) {
      const text = list[rank] as string;
      bytes[at] = text.length;
      write3(at + 1, rank);
      at += RECORD_HEAD;
      for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    }
  }
  write3(HEAD_BYTES + buckets.length * OFFSET_BYTES, at);
  return bytes;
}

/**
 * Returns the rank of the text from `start` to before `end`, one character per byte; `NO_RANK` where the list does not
 * have it.
 */
export function packedRank(packed: Uint8Array, text: string, start: number, end: number): number {
  const length = end - start;
  const offset = HEAD_BYTES + bucketOf(text, start, end, packed[0] as number) * OFFSET_BYTES;
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

/** Hashes with FNV-1a, its halves folded into one. */
function bucketOf(text: string, start: number, end: number, bits: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return ((hash >>> 16) ^ hash) & ((1 << bits) - 1);
}
