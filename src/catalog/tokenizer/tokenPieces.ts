/**
 * Splits a text into the pieces that cl100k_base merges within, as its pattern does:
 *
 *     's|'t|'re|'ve|'m|'ll|'d | [^\r\n\p{L}\p{N}]?\p{L}+ | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n]* |
 *     \s*[\r\n]+ | \s+(?!\S) | \s+
 *
 * By hand and not by regular expression: one pass without backtracking, so that neither a long run of spaces nor
 * ten million letters can make it slow or overflow the engine's stack.
 */
const LETTER = 1;
const NUMBER = 2;
const NEWLINE = 3;
const SPACE = 4;
const OTHER = 5;

/** Character classes of the BMP, found on first use; 0 = not yet known. */
const bmpClasses = new Uint8Array(0x10000);

const APOSTROPHE = 0x27;
const BLANK = 0x20;

/** Returns the end of the piece that starts at `start`, which must be below the length of the text. */
export function pieceEnd(text: string, start: number): number {
  const unit = text.charCodeAt(start);
  if (unit === APOSTROPHE) {
    const contraction = contractionEnd(text, start);
    if (contraction > 0) return contraction;
  }
  const kind = classAt(text, start);
  if (kind === LETTER) return runEnd(text, start, LETTER);
  if (kind === NUMBER) return numberEnd(text, start);
  const next = start + width(text, start);
  if (kind !== NEWLINE && classAt(text, next) === LETTER) return runEnd(text, next, LETTER);
  if (kind === OTHER) return newlinesEnd(text, runEnd(text, next, OTHER));
  if (unit === BLANK && classAt(text, next) === OTHER) return newlinesEnd(text, runEnd(text, next, OTHER));
  return spaceEnd(text, start);
}

/** Returns the end of a contraction such as `'s`; 0 for other text. */
function contractionEnd(text: string, start: number): number {
  // Setting bit 5 lower-cases an ASCII letter. The second test rejects other characters that it maps onto these
  // letters.
  const first = lowerLetter(text.charCodeAt(start + 1));
  if (first === 's' || first === 't' || first === 'm' || first === 'd') return start + 2;
  const second = lowerLetter(text.charCodeAt(start + 2));
  if ((first === 'r' || first === 'v') && second === 'e') return start + 3;
  return first === 'l' && second === 'l' ? start + 3 : 0;
}

function lowerLetter(unit: number): string {
  if (unit >= 0x41 && unit <= 0x5a) return String.fromCharCode(unit + 32);
  return unit >= 0x61 && unit <= 0x7a ? String.fromCharCode(unit) : '';
}

function runEnd(text: string, start: number, kind: number): number {
  let at = start;
  while (classAt(text, at) === kind) at += width(text, at);
  return at;
}

function numberEnd(text: string, start: number): number {
  let at = start;
  for (let digits = 0; digits < 3 && classAt(text, at) === NUMBER; digits++) at += width(text, at);
  return at;
}

/** Ends at `\r` and `\n` only: other line separators are plain white space here. */
function newlinesEnd(text: string, start: number): number {
  let at = start;
  while (classAt(text, at) === NEWLINE) at++;
  return at;
}

/** Takes white space up to its last newline; else all of it at the end of the text; else all but the last character. */
function spaceEnd(text: string, start: number): number {
  let lastNewline = -1;
  let at = start;
  for (; ; at++) {
    const kind = classAt(text, at);
    if (kind === NEWLINE) lastNewline = at;
    else if (kind !== SPACE) break;
  }
  if (lastNewline >= 0) return lastNewline + 1;
  return at === text.length || at - start === 1 ? at : at - 1;
}

/** Returns the class of the character at `at`; 0 beyond the end. */
function classAt(text: string, at: number): number {
  if (at >= text.length) return 0;
  const unit = text.charCodeAt(at);
  if (unit >= 0xd800 && unit <= 0xdbff && width(text, at) === 2) return classify(text.slice(at, at + 2));
  const known = bmpClasses[unit] as number;
  if (known > 0) return known;
  const found = classify(text[at] as string);
  bmpClasses[unit] = found;
  return found;
}

function classify(character: string): number {
  if (character === '\n' || character === '\r') return NEWLINE;
  if (/^\p{L}$/u.test(character)) return LETTER;
  if (/^\p{N}$/u.test(character)) return NUMBER;
  return /^\s$/u.test(character) ? SPACE : OTHER;
}

/** Returns the units of the character at `at`: 2 for a whole surrogate pair. */
function width(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return 1;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 2 : 1;
}
