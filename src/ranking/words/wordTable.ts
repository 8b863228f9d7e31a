import { NO_RANK, packedRank, packRanks } from '../../catalog/tokenizer/packedRanks.ts';

/**
 * Static table of word vectors, `media/words-48.bin`. The notice beside the file describes its format and its sources.
 */
export const DIMENSIONS = 48;

export interface WordTable {
  /** Row number of a stem. */
  rows: Pick<ReadonlyMap<string, number>, 'get' | 'has'>;
  /** `DIMENSIONS` signed bytes per row. */
  cells: Int8Array;
  /** Scale of each row: the vector is cells times scale, and its length is the word's learned weight. */
  scales: Float32Array;
}

export interface DecodedWordTable extends WordTable {
  rows: ReadonlyMap<string, number>;
}

const WORDS = 18_950;

export class WordTableError extends Error {
  constructor(why: string) {
    super(`The word table cannot be read: ${why}. Install Waygate again, or rank without it.`);
    this.name = 'WordTableError';
  }
}

/** Bits of 1,000: greater bits mean a greater, negative or invalid number. */
const MAX_SCALE_BITS = 0x63d0;

/** Powers of two by the exponent of a float16. */
const POWERS = Float64Array.from({ length: 32 }, (_, exponent) => 2 ** (exponent - 25));

function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const size = (exponent === 0 ? fraction * 2 : fraction + 1024) * (POWERS[exponent] as number);
  return bits & 0x8000 ? -size : size;
}

/** Decodes words joined by newlines, then a little-endian float16 per word, then `DIMENSIONS` signed bytes per word. */
export function decodeWordTable(bytes: Uint8Array, wordCount = WORDS): DecodedWordTable {
  const textLength = bytes.length - wordCount * (2 + DIMENSIONS);
  if (textLength <= 0) throw new WordTableError(`${bytes.length} bytes are too few for ${wordCount} words`);
  const words = new TextDecoder('utf-8', { fatal: false }).decode(bytes.subarray(0, textLength)).split('\n');
  if (words.length !== wordCount) throw new WordTableError(`it holds ${words.length} words instead of ${wordCount}`);
  const scales = new Float32Array(wordCount);
  for (let row = 0, at = textLength; row < wordCount; row++, at += 2) {
    const bits = (bytes[at] as number) | ((bytes[at + 1] as number) << 8);
    if (bits > MAX_SCALE_BITS) throw new WordTableError(`the scale of word ${row} is ${halfToNumber(bits)}`);
    scales[row] = halfToNumber(bits);
  }
  const rows = new Map<string, number>();
  for (let row = 0; row < wordCount; row++) rows.set(words[row] as string, row);
  return { rows, cells: cellsOf(bytes, wordCount), scales };
}

/** Returns the cells, which end the table, as a view: `slice` of a Buffer would lose the offset. */
function cellsOf(bytes: Uint8Array, wordCount: number): Int8Array {
  const size = wordCount * DIMENSIONS;
  return new Int8Array(bytes.buffer, bytes.byteOffset + bytes.length - size, size);
}

/** Precomputes the parts that every start would have to decode: words in lookup order, then scales as float32. */
export function indexWordTable(bytes: Uint8Array): Uint8Array {
  const { rows, scales } = decodeWordTable(bytes);
  const packed = packRanks([...rows.keys()].map(byteString));
  const index = new Uint8Array(packed.length + scales.length * SCALE_BYTES);
  index.set(packed);
  const view = new DataView(index.buffer, packed.length);
  for (const [row, scale] of scales.entries()) view.setFloat32(row * SCALE_BYTES, scale, true);
  return index;
}

const SCALE_BYTES = 4;

/** Same result as `decodeWordTable`, with the index of the same table. */
export function openWordTable(bytes: Uint8Array, index: Uint8Array, wordCount = WORDS): WordTable {
  const scalesAt = index.length - wordCount * SCALE_BYTES;
  if (scalesAt <= 0 || bytes.length <= wordCount * DIMENSIONS) throw new WordTableError('its index is not its own');
  // Copied for alignment; every supported system is little-endian.
  const scales = new Float32Array(wordCount);
  new Uint8Array(scales.buffer).set(index.subarray(scalesAt));
  const get = (stem: string): number | undefined => {
    const bytes = byteString(stem);
    const row = packedRank(index, bytes, 0, bytes.length);
    return row === NO_RANK ? undefined : row;
  };
  return { rows: { get, has: (stem) => get(stem) !== undefined }, cells: cellsOf(bytes, wordCount), scales };
}

/** Encodes UTF-8 with one character per byte; ASCII stays unchanged. */
function byteString(word: string): string {
  for (let at = 0; at < word.length; at++) {
    if (word.charCodeAt(at) > 0x7f) return Buffer.from(word, 'utf8').toString('latin1');
  }
  return word;
}
