import { weakOnce } from '../../lib/once.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type Piece, phraseDocument, quotation, rawDocument } from './document.ts';
import { ENGLISH } from './englishPhrases.ts';
import type { Findings, ScanRule } from './finding.ts';
import { EAST_ASIAN, EUROPEAN } from './languages.ts';
import { isComputation, isSink } from './names.ts';
import { findCredentials, findEncodedCommands, PAYLOADS } from './payloads.ts';
import type { Phrase } from './phrases.ts';
import { PLACES } from './places.ts';
import { TAGS } from './tags.ts';

/** Phrases with the union of their patterns, which few texts match, so that one search replaces a table of them. */
interface Table {
  readonly phrases: readonly Phrase[];
  readonly any: RegExp;
}

const tableOf = (phrases: readonly Phrase[]): Table => ({ phrases, any: unionOf(phrases) });

/** Returns the union of patterns. Most begin at a word, which one check then rules out at most places of a text. */
function unionOf(phrases: readonly Phrase[]): RegExp {
  const all = phrases.flatMap(({ pattern }) => alternativesIn(pattern.source));
  const atWords = all.filter((one) => AT_WORD.test(one));
  const others = all.filter((one) => !AT_WORD.test(one));
  return new RegExp([...(atWords.length > 0 ? [`\\b(?=\\w)(?:${atWords.join('|')})`] : []), ...others].join('|'));
}

const AT_WORD = /^\\b(?:\\b|\(\?:)*[a-z]/;

/** Splits a pattern at the bars outside of its groups and classes. */
function alternativesIn(source: string): string[] {
  const found = [''];
  let depth = 0;
  for (const [part] of source.matchAll(/[()|]|(?:\\.|\[(?:\\.|[^\]\\])*\]|[^()|[\\])+/gs)) {
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (part === '|' && depth === 0) found.push('');
    else found[found.length - 1] += part;
  }
  return found;
}

const PHRASES = [ENGLISH, EUROPEAN, EAST_ASIAN, TAGS, PLACES, PAYLOADS];
/** Returns all tables. Their compiled patterns take 5 MB, and most scans follow the start of a server. */
const tables = weakOnce(() => PHRASES.map(tableOf));

/** Returns the hard phrases of the given rules. Their unions are shorter, so that the first search takes less time. */
export function hardTables(rules: readonly ScanRule[]): readonly Table[] {
  return PHRASES.map((all) => all.filter(({ rule, tier }) => tier === 'hard' && rules.includes(rule)))
    .filter((phrases) => phrases.length > 0)
    .map(tableOf);
}

/** Applies the rules that need nothing but the texts. */
export function scanPieces(pieces: readonly Piece[], found: Findings): void {
  const raw = rawDocument(pieces);
  if (visibleText(raw.text) !== raw.text) for (const piece of pieces) scanHidden(piece, found);
  for (const { index, length } of findEncodedCommands(raw.text)) found.add('C1', 'hard', raw.at(index, length));
  for (const { index, length } of findCredentials(raw.text)) found.add('K1', 'soft', raw.at(index, length));
  const document = phraseDocument(pieces);
  const { text } = document;
  for (const { rule, tier, pattern, unless } of tables().flatMap(({ phrases, any }) =>
    any.test(text) ? phrases : [],
  )) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      if (unless?.test(text.slice(Math.max(0, index - UNLESS_REACH), index))) continue;
      const isExample = tier === 'hard' && isQuoted(text, index, index + match.length);
      found.add(rule, isExample ? 'soft' : tier, document.at(index, match.length));
    }
  }
}

/** Yields the rules of the phrases in a text. */
export function* phrasesIn(text: string, tables: readonly Table[]): Generator<ScanRule> {
  const read = phraseDocument([{ text, where: '', key: false, member: '', within: '' }]).text;
  for (const { phrases } of tables.filter(({ any }) => any.test(read))) {
    for (const { rule, pattern, unless } of phrases) {
      for (const { 0: match, index } of read.matchAll(pattern)) {
        if (unless?.test(read.slice(Math.max(0, index - UNLESS_REACH), index))) continue;
        if (!isQuoted(read, index, index + match.length)) yield rule;
      }
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
  const before = text
    .slice(Math.max(0, start - QUOTE_REACH), start)
    .split('\n')
    .at(-1) as string;
  const after = text.slice(end, end + QUOTE_REACH).split('\n')[0] as string;
  return QUOTATION_MARKS.some((marks) => {
    const [opening, closing] = marks as unknown as [string, string];
    if (!after.includes(closing)) return false;
    if (opening !== closing) return before.lastIndexOf(opening) > before.lastIndexOf(closing);
    const opened = opening === "'" ? before.split(/(?<![a-z])'|'(?![a-z])/).length : before.split(opening).length;
    return opened % 2 === 0;
  });
}

/** Finds parameters of schemas and arguments of prompts that take the conversation (P3). */
export function scanParameters(pieces: readonly Piece[], found: Findings): void {
  for (const { text, where, key, member, within } of pieces) {
    const isParameter = key ? within === 'properties' : member === 'name' && within === 'arguments';
    if (isParameter && isSink(text)) found.add('P3', 'soft', { where, quote: quotation(text, 0, text.length) });
  }
}

/** Addresses that JSON Schema itself asks for. */
const SCHEMA_ADDRESSES: ReadonlySet<string> = new Set(['$schema', '$id', '$ref']);

const PLACE_OR_ADDRESS =
  /https?:\/\/|[\w.+-]{1,64}@[\w-]{1,63}\.\w|(?<![\w.])(?:~|\/(?:home|etc|root|users|var|tmp|proc))\/\w|(?<!\w)[A-Z]:\\\w/i;

/** Finds places and addresses in a tool whose name means a computation (M1). */
export function scanComputation(name: string, pieces: readonly Piece[], found: Findings): void {
  if (!isComputation(name)) return;
  for (const { text, where, member } of pieces) {
    if (SCHEMA_ADDRESSES.has(member)) continue;
    const match = PLACE_OR_ADDRESS.exec(text);
    if (match) found.add('M1', 'soft', { where, quote: quotation(text, match.index, match[0].length) });
  }
}
