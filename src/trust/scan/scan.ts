import { visibleText } from '../../text/visibleText.ts';
import { type Piece, phraseDocument, piecesOf, quotation, rawDocument } from './document.ts';
import { type Finding, Findings } from './finding.ts';
import { OTHER_LANGUAGES } from './languages.ts';
import { mixesLookAlikes } from './lookAlikes.ts';
import { identifiersOf, isComputation, isSink, OtherTools } from './names.ts';
import { findCredentials, findEncodedCommands, PAYLOADS } from './payloads.ts';
import { ENGLISH, type Phrase } from './phrases.ts';
import { PLACES } from './places.ts';
import { TAGS } from './tags.ts';

const PHRASES: readonly Phrase[] = [...ENGLISH, ...TAGS, ...OTHER_LANGUAGES, ...PLACES, ...PAYLOADS];

/** Tool, prompt or template as its server lists it: every text in it is scanned. */
export interface Listed {
  readonly name: string;
  /** Server that lists it, whose own tools it may name. */
  readonly server?: string;
}

const NO_OTHERS = new OtherTools([]);

export function scanTool(listed: object, server = '', others = NO_OTHERS): Finding[] {
  const pieces = [...piecesOf(listed)];
  const found = new Findings();
  scanPieces(pieces, found);
  const name = 'name' in listed && typeof listed.name === 'string' ? listed.name : '';
  scanName(name, server, others, found);
  for (const { text, where, key } of pieces) {
    if (isSinkPlace(where, key) && isSink(text)) found.add('P3', 'soft', { where, quote: quotation(text, 0, text.length) });
  }
  scanMentions(pieces, server, others, found);
  if (isComputation(name)) scanComputation(pieces, found);
  return found.sorted();
}

export type TextKind = 'instructions' | 'prompt' | 'elicitation' | 'sampling' | 'result';

export function scanText(kind: TextKind, text: string, server = '', others = NO_OTHERS): Finding[] {
  const pieces = [{ text, where: `/${kind}`, key: false }];
  const found = new Findings();
  scanPieces(pieces, found);
  scanMentions(pieces, server, others, found);
  return found.sorted();
}

/** Parameters of a schema, and arguments of a prompt. */
function isSinkPlace(where: string, key: boolean): boolean {
  return key ? /\/properties\/[^/]+$/.test(where) : /^\/arguments\/\d+\/name$/.test(where);
}

function scanPieces(pieces: readonly Piece[], found: Findings): void {
  const raw = rawDocument(pieces);
  if (visibleText(raw.text) !== raw.text) for (const piece of pieces) scanHidden(piece, found);
  for (const { index, length } of findEncodedCommands(raw.text)) found.add('C1', 'hard', raw.at(index, length));
  for (const { index, length } of findCredentials(raw.text)) found.add('K1', 'soft', raw.at(index, length));
  const phrases = phraseDocument(pieces);
  for (const { rule, tier, pattern, unless } of PHRASES) {
    for (const { 0: match, index } of phrases.text.matchAll(pattern)) {
      if (unless?.test(phrases.text.slice(Math.max(0, index - UNLESS_REACH), index))) continue;
      const isExample = tier === 'hard' && isQuoted(phrases.text, index, index + match.length);
      found.add(rule, isExample ? 'soft' : tier, phrases.at(index, match.length));
    }
  }
}

/** Characters before a match that can make it harmless. */
const UNLESS_REACH = 32;

function scanHidden({ text, where }: Piece, found: Findings): void {
  const shown = visibleText(text);
  if (shown === text) return;
  let at = 0;
  while (text[at] === shown[at]) at += 1;
  found.add('H1', 'hard', { where, quote: quotation(text, at, 1) });
}

/** Characters on each side of a match in which a quotation mark is looked for. */
const QUOTE_REACH = 160;
const QUOTATION_MARKS = ['""', '``', '“”', '„“', '«»', '‘’', '「」', '『』', "''"] as const;

/** Returns whether a match is inside quotation marks: an example in the description of a filter or a translator. */
function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - QUOTE_REACH), start).split('\n').at(-1) as string;
  const after = text.slice(end, end + QUOTE_REACH).split('\n')[0] as string;
  return QUOTATION_MARKS.some((marks) => {
    const [opening, closing] = marks as unknown as [string, string];
    if (!after.includes(closing)) return false;
    if (opening !== closing) return before.lastIndexOf(opening) > before.lastIndexOf(closing);
    const opened = opening === "'" ? before.split(/(?<![a-z])'|'(?![a-z])/).length : before.split(opening).length;
    return opened % 2 === 0;
  });
}

function scanName(name: string, server: string, others: OtherTools, found: Findings): void {
  const quote = quotation(name, 0, name.length);
  if (mixesLookAlikes(name)) found.add('S2', 'hard', { where: '/name', quote });
  const other = others.lookAlikeOf(name, server);
  if (other !== undefined) {
    found.add('S2', 'hard', { where: '/name', quote: quotation(`${name} looks like ${other}`, 0, MAX_NAMES_CHARS) });
  }
}

const MAX_NAMES_CHARS = 96;

/**
 * Finds names of tools that only another server has. A listed value or parameter of the tool itself is its own word,
 * however another server names its tools.
 */
function scanMentions(pieces: readonly Piece[], server: string, others: OtherTools, found: Findings): void {
  if (others.isEmpty) return;
  let own: Set<string> | undefined;
  for (const { text, where, key } of pieces) {
    if (key || where === '/name') continue;
    for (const { name, index } of identifiersOf(text)) {
      if (!others.has(name, server)) continue;
      if (text === name) continue;
      own ??= new Set(pieces.map((piece) => piece.text));
      const passage = text.slice(Math.max(0, index - DIRECTIVE_REACH), index + name.length + DIRECTIVE_REACH);
      const directs = DIRECTIVE.test(passage);
      if (own.has(name) && !directs) continue;
      const tier = directs && !own.has(name) ? 'hard' : 'soft';
      found.add('S1', tier, { where, quote: quotation(text, index, name.length) });
    }
  }
}

/** Characters on each side of a name in which words that direct its use are looked for. */
const DIRECTIVE_REACH = 60;
const DIRECTIVE =
  /\b(?:when(?:ever)?|every|each time|always|must|instead of|if|broken|deprecated|insecure|never|change|wenn|quand|lorsque|cuando|quando|si)\b|当|使用|とき|場合/i;

/** Addresses that JSON Schema itself asks for. */
const SCHEMA_ADDRESS = /\/\$(?:schema|id|ref)$/;

const PLACE_OR_ADDRESS =
  /https?:\/\/|[\w.+-]{1,64}@[\w-]{1,63}\.\w|(?<![\w.])(?:~|\/(?:home|etc|root|users|var|tmp|proc))\/\w|(?<!\w)[A-Z]:\\\w/i;

function scanComputation(pieces: readonly Piece[], found: Findings): void {
  for (const { text, where } of pieces) {
    if (SCHEMA_ADDRESS.test(where)) continue;
    const match = PLACE_OR_ADDRESS.exec(text);
    if (match) found.add('M1', 'soft', { where, quote: quotation(text, match.index, match[0].length) });
  }
}
