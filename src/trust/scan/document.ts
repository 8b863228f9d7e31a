import { withLatinLetters } from '../../text/lookAlikes.ts';
import { visibleText } from '../../text/visibleText.ts';

/** Text of a tool, and its place. */
export interface Piece {
  readonly text: string;
  /** JSON pointer. */
  readonly where: string;
  /** Whether the text is a key of an object. */
  readonly key: boolean;
  /** Key of the text, or of the list that it is in, and key of the object around that. */
  readonly member: string;
  readonly within: string;
}

/** Yields every text and key of a value. Iterative, so that no nesting is too deep. */
export function* piecesOf(root: unknown, where = ''): Generator<Piece> {
  const work = [{ value: root, where, member: '', within: '' }];
  for (let next = work.pop(); next; next = work.pop()) {
    const { value, where: at, member, within } = next;
    if (typeof value === 'string') yield { text: value, where: at, key: false, member, within };
    if (typeof value !== 'object' || value === null) continue;
    const listed = Array.isArray(value);
    for (const [key, item] of Object.entries(value)) {
      const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (!listed) yield { text: key, where: place, key: true, member: key, within: member };
      work.push({ value: item, where: place, ...(listed ? { member, within } : { member: key, within: member }) });
    }
  }
}

interface Shown {
  readonly where: string;
  /** Text for quotations, of the same length where folding has moved no character. */
  readonly shown: string;
}

/**
 * Texts of one tool in one string, a line break between them, so that a pattern runs once per tool. A match inside the
 * string leads back to its piece.
 */
export class ScanDocument {
  readonly text: string;
  readonly #pieces: readonly Shown[];
  readonly #ends: readonly number[];

  constructor(pieces: readonly (Shown & { readonly text: string })[]) {
    let end = -1;
    this.#ends = pieces.map(({ text }) => {
      end += text.length + 1;
      return end;
    });
    this.#pieces = pieces;
    this.text = pieces.map(({ text }) => text).join('\n');
  }

  /** Returns the place of a match and a quotation around it. */
  at(index: number, length: number): { where: string; quote: string } {
    const nth = this.#pieceAt(index);
    const { where, shown } = this.#pieces[nth] as Shown;
    const start = nth === 0 ? 0 : (this.#ends[nth - 1] as number) + 1;
    const text = this.text.slice(start, this.#ends[nth]);
    // The quotation keeps upper case where folding has moved no character.
    return { where, quote: quotation(shown.length === text.length ? shown : text, index - start, length) };
  }

  #pieceAt(index: number): number {
    let [low, high] = [0, this.#ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#ends[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Builds the document in which hidden characters, commands and credentials are searched: the bytes of the server. */
export function rawDocument(pieces: readonly Piece[]): ScanDocument {
  return new ScanDocument(pieces.map(({ text, where }) => ({ where, text, shown: text })));
}

/** Builds the document in which phrases are searched. */
export function phraseDocument(pieces: readonly Piece[]): ScanDocument {
  return new ScanDocument(
    pieces.map(({ text, where, key }) => {
      const shown = readable(key ? text.replaceAll('_', ' ') : text);
      return { where, text: folded(shown), shown };
    }),
  );
}

const BEYOND_ASCII = /[^\n\t\x20-\x7e]/;
const UNSEEN =
  /[\p{Cf}\p{Cc}\u115f\u1160\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}]/gu;
const LATIN_MARKS = /[\u0300-\u036f]/g;
/** White space other than a single blank. */
const SPACE = /[^\S ]\s*| {2}\s*/g;
const PARAGRAPH = /\n\s*\n/;
/** Ends of sentences. An abbreviation or the dot of a path ends none. */
const SENTENCE_END = /(?<!e\.g|i\.e)([.!?;]) (?=[^a-z])|([。！？；])/g;
/** Words of which every letter is apart: `i-g-n-o-r-e`. */
const SPACED_LETTERS = /(?<![\p{L}\p{N}])\p{L}([ ._*-])\p{L}(?:\1\p{L}){2,30}(?![\p{L}\p{N}])/gu;
const DIGIT_IN_WORD = /(?<=\p{L})[013457](?=\p{L})|(?<![\p{L}\p{N}])[013457](?=\p{L}{2})/gu;
/** Marks of Markdown beside a letter, which may split a word. */
const EMPHASIS = /[*~]{1,3}(?=\p{L})|(?<=\p{L})[*~]{1,3}|(?<![\p{L}\p{N}])_+(?=\p{L})|(?<=\p{L})_+(?![\p{L}\p{N}])/gu;
const ENTITY = /&(?:(lt|gt|amp|quot|nbsp)|#(\d{2,6})|#x([0-9a-f]{2,5}));/gi;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', nbsp: ' ' };
const DIGIT_LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' };

/**
 * Returns a text as a person reads it: without entities, NFKC, nothing invisible, one blank between words, a line for
 * each sentence. A blank line ends none if a small letter follows it.
 */
function readable(given: string): string {
  const text = given.includes('&') ? given.replace(ENTITY, character) : given;
  const seen = BEYOND_ASCII.test(text)
    ? text.normalize('NFKC').replace(UNSEEN, (unseen) => (/\s/.test(unseen) ? unseen : ''))
    : text;
  return seen
    .replace(SPACED_LETTERS, joined)
    .replace(SPACE, (run, at: number) =>
      PARAGRAPH.test(run) && !/[a-z]/.test(seen[at + run.length] ?? '') ? '\n' : ' ',
    )
    .replace(SENTENCE_END, (_, end?: string, wide?: string) => `${end ?? wide}\n`);
}

function character(entity: string, name?: string, decimal?: string, hex?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] as string;
  const point = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
  return point <= 0x10ffff ? String.fromCodePoint(point) : entity;
}

const joined = (word: string): string => word.replace(/[ ._*-]/g, '');

/** Folds what a model reads alike: case, accents, look-alike letters, digits for letters, letters apart, emphasis. */
function folded(text: string): string {
  const plain = BEYOND_ASCII.test(text)
    ? withLatinLetters(text.normalize('NFD').replace(LATIN_MARKS, '').normalize('NFC').replace(/[’ʼ]/g, "'"))
    : text;
  return plain
    .replace(SPACED_LETTERS, joined)
    .replace(EMPHASIS, '')
    .replace(DIGIT_IN_WORD, (digit) => DIGIT_LETTERS[digit] as string)
    .toLowerCase();
}

const MAX_QUOTE_CHARS = 120;
/** Characters of a quotation before its match. */
const LEAD_CHARS = 24;

/** Returns one visible line around a match, with a mark where the text goes on. */
export function quotation(text: string, start: number, length: number): string {
  const from = Math.max(0, start - LEAD_CHARS);
  const to = Math.min(text.length, Math.max(start + length, from) + LEAD_CHARS);
  const passage = visibleText(text.slice(from, to).toWellFormed()).replace(/\s+/g, ' ').trim();
  const begun = from > 0 ? `…${passage}` : passage;
  const chars = [...begun];
  if (chars.length <= MAX_QUOTE_CHARS) return to < text.length && chars.length < MAX_QUOTE_CHARS ? `${begun}…` : begun;
  return `${chars.slice(0, MAX_QUOTE_CHARS - 1).join('')}…`;
}
