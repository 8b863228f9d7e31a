/** A static table of word vectors: `media/words-48.bin`; its notice tells the form and what it was learned from. */
export const DIMENSIONS = 48;

export interface WordTable {
  /** Row number of a stem. */
  rows: ReadonlyMap<string, number>;
  /** `DIMENSIONS` signed bytes a row. */
  cells: Int8Array;
  /** A row's vector is its cells times its scale; its length is the word's learned weight. */
  scales: Float32Array;
}

export class WordTableError extends Error {
  constructor(why: string) {
    super(`The word table cannot be read: ${why}. Install Waygate again, or rank without it.`);
    this.name = 'WordTableError';
  }
}

/** 1,000: what lies beyond in the order of the bits is greater, negative or no number. */
const MAX_SCALE_BITS = 0x63d0;

/** Powers of two by the exponent of a float16. */
const POWERS = Float64Array.from({ length: 32 }, (_, exponent) => 2 ** (exponent - 25));

function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const size = (exponent === 0 ? fraction * 2 : fraction + 1024) * (POWERS[exponent] as number);
  return bits & 0x8000 ? -size : size;
}

/** Words joined by newlines, then a little-endian float16 a word, then `DIMENSIONS` signed bytes a word. */
export function decodeWordTable(bytes: Uint8Array, wordCount = 18_950): WordTable {
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
  const cells = new Int8Array(bytes.buffer, bytes.byteOffset + textLength + wordCount * 2, wordCount * DIMENSIONS);
  return { rows, cells, scales };
}
