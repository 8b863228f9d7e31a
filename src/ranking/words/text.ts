import { stemmer } from 'stemmer';

/**
 * Word of a text. Identifiers are split at changes of case and digits, and a joined name is kept beside its parts:
 * without `gitlab` beside `git` and `lab`, half of all queries would lose the platform they name.
 */
export interface Word {
  /** Joined form, stemmed. */
  stem: string;
  /** Joined form in lower case, not stemmed. */
  lower: string;
  /** Stems of the parts; empty for a word without an inner boundary. */
  parts: readonly string[];
}

const MAX_WORD = 40;
const MAX_JOINED = 20;
const MAX_JOINED_PARTS = 3;

const SEPARATOR = 0;
const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
const IDEOGRAPH = 4;

/** Character classes of the basic plane, cached as characters occur: fast, and the same in every locale. */
const classes = new Uint8Array(65_536).fill(255);

function classify(code: number): number {
  const known = classes[code] as number;
  if (known !== 255) return known;
  const char = String.fromCharCode(code);
  let kind = SEPARATOR;
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(char)) kind = IDEOGRAPH;
  else if (/\p{Lu}/u.test(char)) kind = UPPER;
  else if (/\p{L}/u.test(char)) kind = LOWER;
  else if (/\p{N}/u.test(char)) kind = DIGIT;
  classes[code] = kind;
  return kind;
}

/** Folds compatibility forms and removes accents, so that `Zürich` and `Zurich` are equal. */
export function foldText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "all of ASCII", which needs no folding.
  if (/^[\x00-\x7f]*$/.test(text)) return text;
  return text.normalize('NFKD').replace(/\p{M}+/gu, '');
}

/** Calls `visit` for each raw word of `text`, in order; ideographs are passed as overlapping pairs. */
export function eachRawWord(text: string, visit: (word: string) => void): void {
  const folded = foldText(text);
  let start = -1;
  let ideographStart = -1;
  for (let at = 0; at <= folded.length; at++) {
    const kind = at < folded.length ? classify(folded.charCodeAt(at)) : SEPARATOR;
    if (kind === IDEOGRAPH) {
      if (start >= 0) visit(folded.slice(start, at));
      start = -1;
      if (ideographStart < 0) ideographStart = at;
      else visit(folded.slice(at - 1, at + 1));
      continue;
    }
    if (ideographStart >= 0) {
      if (at - ideographStart === 1) visit(folded.slice(ideographStart, at));
      ideographStart = -1;
    }
    if (kind === SEPARATOR) {
      if (start >= 0) visit(folded.slice(start, at));
      start = -1;
    } else if (start < 0) start = at;
  }
}

/**
 * Splits an identifier at aB and ABc (before B), and at a1 and 1a after at least three letters (`s3` and `k8s` stay).
 */
export function splitIdentifier(word: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 1; at < word.length; at++) {
    const before = classify(word.charCodeAt(at - 1));
    const here = classify(word.charCodeAt(at));
    const next = at + 1 < word.length ? classify(word.charCodeAt(at + 1)) : SEPARATOR;
    const breaks =
      (before === LOWER && here === UPPER) ||
      (before === UPPER && here === UPPER && next === LOWER && word.slice(at + 1) !== 's') ||
      (before !== DIGIT && here === DIGIT && at - start >= 3) ||
      (before === DIGIT && here === UPPER && next === LOWER);
    if (breaks) {
      parts.push(word.slice(start, at));
      start = at;
    }
  }
  parts.push(word.slice(start));
  return parts;
}

const stems = new Map<string, string>();
/** Limit of the cache: hostile input must not grow it without end, and emptying it changes no result. */
const MAX_CACHED = 50_000;

export function stemOf(lower: string): string {
  let stem = stems.get(lower);
  if (stem === undefined) {
    stem = /^[a-z]+$/.test(lower) ? stemmer(lower) : lower;
    if (stems.size >= MAX_CACHED) stems.clear();
    stems.set(lower, stem);
  }
  return stem;
}

export function analyzeWord(raw: string): Word {
  const word = raw.length > MAX_WORD ? raw.slice(0, MAX_WORD) : raw;
  const lower = word.toLowerCase();
  const stem = stemOf(lower);
  if (word === lower && !/[a-z]{3}[0-9]/.test(word)) return { stem, lower, parts: [] };
  const pieces = splitIdentifier(word);
  if (pieces.length === 1) return { stem, lower, parts: [] };
  return { stem, lower, parts: pieces.map((piece) => stemOf(piece.toLowerCase())) };
}

/** Returns the stems of a word for a document: its parts, and the joined form if it can be a name. */
export function documentStems(word: Word): readonly string[] {
  if (word.parts.length === 0) return [word.stem];
  if (word.parts.length > MAX_JOINED_PARTS || word.lower.length > MAX_JOINED) return word.parts;
  return [...word.parts, word.stem];
}

const STOP_WORDS = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by ' +
    'can could d did do does doing don down during each few for from further had has have having he her here hers him his ' +
    'how i if in into is it its itself just ll m me more most my myself no nor not now of off on once only or other our ' +
    'ours out over own please re s same she should so some such t than that the their theirs them then there these they ' +
    'this those through to too under until up ve very was we were what when where which while who whom why will with ' +
    'would you your yours let lets want wants need needs like us via using use give'
  ).split(' '),
);

/** Stop words in stemmed form, as in phrases of the vocabulary. */
export const STOP_STEMS: ReadonlySet<string> = new Set([...STOP_WORDS].map(stemOf));

export function isStopWord(lower: string): boolean {
  return STOP_WORDS.has(lower);
}
