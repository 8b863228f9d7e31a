import { FormBegins } from './knownSecrets.ts';
import { type FoundSecret, isRandom, SECRET_SHAPES, type TokenShape } from './shapes.ts';

/**
 * A token begins at the beginning of a word, where an escape of JSON (`\n`), of a URL (`%20`) or of a terminal
 * (`ESC[32m`) counts as a gap.
 */
const TERMINAL = '\u001b';
const AFTER_ESCAPE = new RegExp(`(?<=\\\\[nrtbf]|\\\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|${TERMINAL}\\[[0-9;]{0,8}m)`, 'y');
/** Characters without which a text has no escape. */
const ESCAPES = ['\\', '%', TERMINAL];

const ASCII = 128;
/** Characters within a word, by their code. */
const WITHIN_WORD = Uint8Array.from({ length: ASCII }, (_, code) => Number(/[\w-]/.test(String.fromCharCode(code))));

interface TokenRule {
  prefix: string;
  body: RegExp;
  random: boolean;
}

/** Rules by the first two characters of their prefix. */
const TOKEN_RULES = new Map<string, TokenRule[]>();
const TOKEN_BEGINS = new FormBegins();
for (const shape of SECRET_SHAPES) {
  if (!('prefixes' in shape)) continue;
  for (const prefix of shape.prefixes) {
    const begin = prefix.slice(0, 2);
    TOKEN_RULES.set(begin, [...(TOKEN_RULES.get(begin) ?? []), ruleOf(shape, prefix)]);
    if (prefix.length > 2) TOKEN_BEGINS.add(prefix);
    else for (let code = 0; code < ASCII; code += 1) TOKEN_BEGINS.add(prefix + String.fromCharCode(code));
  }
}

function ruleOf({ body, random }: TokenShape, prefix: string): TokenRule {
  return { prefix, body: new RegExp(`(?:${body.source})(?![A-Za-z0-9])`, 'y'), random: random === true };
}

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longer than any private key. A key without its end is still a key. */
export const MAX_PRIVATE_KEY_CHARS = 32 * 1024;

const PHRASES = SECRET_SHAPES.filter((shape) => 'pattern' in shape);
/** Searches for the words of all shapes at once, instead of one after the other. */
const ANY_WORD = new RegExp(PHRASES.flatMap(({ words }) => words ?? []).join('|'), 'i');

/** Finds secrets by their own form, in no order. They may overlap. */
export function* findShapes(text: string): Generator<FoundSecret> {
  yield* findPrivateKeys(text);
  yield* findTokens(text);
  const hasWord = ANY_WORD.test(text);
  for (const { words, hint, pattern, accepts } of PHRASES) {
    if (words && !hasWord) continue;
    if (hint && !hint.test(text)) continue;
    for (const match of text.matchAll(pattern)) {
      const secret = match.groups?.secret ?? match[0];
      if (accepts && !accepts(secret)) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      yield { from: match.index, to: match.index + match[0].length, start, end: start + secret.length };
    }
  }
}

function findTokens(text: string): FoundSecret[] {
  const found: FoundSecret[] = [];
  const hasEscapes = ESCAPES.some((sign) => text.includes(sign));
  let next = 0;
  for (const at of TOKEN_BEGINS.placesIn(text)) {
    if (at < next || !beginsWord(text, at, hasEscapes)) continue;
    const end = tokenEnd(text, at, TOKEN_RULES.get(text.slice(at, at + 2)) ?? []);
    if (end === 0) continue;
    next = end;
    found.push({ from: at, to: end, start: at, end });
  }
  return found;
}

function beginsWord(text: string, at: number, hasEscapes: boolean): boolean {
  if (WITHIN_WORD[text.charCodeAt(at - 1)] !== 1) return true;
  AFTER_ESCAPE.lastIndex = at;
  return hasEscapes && AFTER_ESCAPE.test(text);
}

/** Returns the end of the longest token that begins at a position, or 0. */
function tokenEnd(text: string, at: number, rules: readonly TokenRule[]): number {
  let end = 0;
  for (const { prefix, body, random } of rules) {
    if (!text.startsWith(prefix, at)) continue;
    body.lastIndex = at + prefix.length;
    const rest = body.exec(text)?.[0];
    if (rest !== undefined && (!random || isRandom(rest))) end = Math.max(end, at + prefix.length + rest.length);
  }
  return end;
}

function* findPrivateKeys(text: string): Generator<FoundSecret> {
  let from = 0;
  let noEnd = false;
  for (;;) {
    PEM_BEGIN.lastIndex = from;
    const begin = PEM_BEGIN.exec(text);
    if (!begin) return;
    PEM_END.lastIndex = begin.index;
    noEnd ||= PEM_END.exec(text) === null;
    const limit = Math.min(text.length, begin.index + MAX_PRIVATE_KEY_CHARS);
    from = noEnd || PEM_END.lastIndex > limit ? limit : PEM_END.lastIndex;
    yield { from: begin.index, to: from, start: begin.index, end: from };
  }
}
