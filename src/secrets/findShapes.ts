import { type FoundSecret, isRandom, SECRET_SHAPES, type TokenShape } from './shapes.ts';

/**
 * A token begins at the beginning of a word, where an escape of JSON (`\n`), of a URL (`%20`) or of a terminal
 * (`ESC[32m`) counts as a gap. This makes one attempt for each run of word characters.
 */
const BEGIN = '(?:(?<![A-Za-z0-9_-])|(?<=\\\\[nrtbf]|\\\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2}|\\u001b\\[[0-9;]{0,8}m))';

interface TokenRule {
  prefix: string;
  body: RegExp;
  random: boolean;
}

const TOKEN_RULES = new Map<string, TokenRule[]>();
for (const shape of SECRET_SHAPES) {
  if (!('prefixes' in shape)) continue;
  for (const prefix of shape.prefixes) {
    const rules = TOKEN_RULES.get(prefix.slice(0, 2)) ?? [];
    TOKEN_RULES.set(prefix.slice(0, 2), [...rules, ruleOf(shape, prefix)]);
  }
}

function ruleOf({ body, random }: TokenShape, prefix: string): TokenRule {
  return { prefix, body: new RegExp(`(?:${body.source})(?![A-Za-z0-9])`, 'y'), random: random === true };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const PREFIXES = [...TOKEN_RULES.values()]
  .flat()
  .map(({ prefix }) => escaped(prefix))
  .sort((a, b) => b.length - a.length);
const TOKEN_BEGIN = new RegExp(`${BEGIN}(?:${PREFIXES.join('|')})`, 'g');

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** Longer than any private key. A key without its end is still a key. */
export const MAX_PRIVATE_KEY_CHARS = 32 * 1024;

/** Finds secrets by their own form, in no order. They may overlap. */
export function* findShapes(text: string): Generator<FoundSecret> {
  yield* findPrivateKeys(text);
  yield* findTokens(text);
  for (const shape of SECRET_SHAPES) {
    if (!('pattern' in shape) || (shape.hint !== undefined && !text.includes(shape.hint))) continue;
    for (const match of text.matchAll(shape.pattern)) {
      const secret = match.groups?.secret ?? match[0];
      if (shape.accepts && !shape.accepts(secret)) continue;
      const start = match.index + match[0].lastIndexOf(secret);
      yield { from: match.index, to: match.index + match[0].length, start, end: start + secret.length };
    }
  }
}

function* findTokens(text: string): Generator<FoundSecret> {
  let next = 0;
  for (const { index } of text.matchAll(TOKEN_BEGIN)) {
    if (index < next) continue;
    const end = tokenEnd(text, index);
    if (end === undefined) continue;
    next = end;
    yield { from: index, to: end, start: index, end };
  }
}

/** Returns the end of the longest token that begins at a position. */
function tokenEnd(text: string, at: number): number | undefined {
  const ends = (TOKEN_RULES.get(text.slice(at, at + 2)) ?? []).flatMap(({ prefix, body, random }) => {
    if (!text.startsWith(prefix, at)) return [];
    body.lastIndex = at + prefix.length;
    const rest = body.exec(text)?.[0];
    return rest === undefined || (random && !isRandom(rest)) ? [] : [at + prefix.length + rest.length];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
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
