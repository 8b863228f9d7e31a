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

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Words joined by newlines, then a little-endian float16 a word, then `DIMENSIONS` signed bytes a word. */
export function decodeWordTable(bytes: Uint8Array, wordCount = 18_950): WordTable {
  const textLength = bytes.length - wordCount * (2 + DIMENSIONS);
  if (textLength <= 0) throw new WordTableError(`${bytes.length} bytes are too few for ${wordCount} words`);
  const words = new TextDecoder('utf-8', { fatal: false }).decode(bytes.subarray(0, textLength)).split('\n');
  if (words.length !== wordCount) throw new WordTableError(`it holds ${words.length} words instead of ${wordCount}`);
  const scales = new Float32Array(wordCount);
  for (let row = 0; row < wordCount; row++) {
    const at = textLength + row * 2;
    const scale = halfToNumber((bytes[at] as number) | ((bytes[at + 1] as number) << 8));
    if (!Number.isFinite(scale) || scale < 0 || scale > 1_000)
      throw new WordTableError(`the scale of word ${row} is ${scale}`);
    scales[row] = scale;
  }
  const rows = new Map<string, number>();
  for (const [row, word] of words.entries()) rows.set(word, row);
  const cells = new Int8Array(bytes.slice(textLength + wordCount * 2).buffer);
  return { rows, cells, scales };
}
