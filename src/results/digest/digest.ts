import type { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';
import { type Digest, type DigestSource, type Selector, size } from './digestSource.ts';
import { jsonDigest } from './jsonDigest.ts';
import { outlineJson } from './jsonOutline.ts';
import { textKind } from './kinds.ts';
import { jsonLinesDigest, linesDigest, logDigest } from './lineDigests.ts';
import { cutLine, eachLine, takeLines } from './lines.ts';
import { tableDigest } from './tableDigest.ts';
import { outlineValue } from './valueOutline.ts';

const SAMPLE_CHARS = 64 * 1024;
/** Size limit for joining several parts to inspect their JSON. */
const JOIN_CHARS = 1 << 20;
const MAX_HEADINGS = 400;
const SENTENCE_END = /[.!?][)"'”’]*(?=\s)|[。！？]/g;

/** Makes a digest that suits the kind of a long text: faithful, deterministic, without a model (M2.10). */
export async function digest(text: LongText, room: number): Promise<Digest> {
  const sample = text.head(SAMPLE_CHARS);
  const source: DigestSource = { text, sample, isWhole: sample.length === text.length, room, turn };
  const json = await asJson(source);
  if (json) return json;
  const kind = textKind(sample, source.isWhole);
  switch (kind.kind) {
    case 'json lines':
      return jsonLinesDigest(source);
    case 'table':
      return tableDigest(source, kind);
    case 'log':
      return logDigest(source);
    case 'prose':
      return proseDigest(source);
    default:
      return linesDigest(source);
  }
}

async function asJson(source: DigestSource): Promise<Digest | undefined> {
  const isJson = /^\s*[{[]/.test(source.sample) && (source.text.isFlat || source.text.length <= JOIN_CHARS);
  if (!isJson) return undefined;
  const outline = await outlineJson(source.text.toString(), turn);
  return outline && jsonDigest(outline, size(source.text), source.text.length, source.room);
}

/** Input of a digest: a text, or a value with its size as JSON. */
export type Readable = LongText | { value: object; bytes: number };

export async function digestOf(readable: Readable, room: number): Promise<Digest> {
  if (!('value' in readable)) return digest(readable, room);
  return jsonDigest(outlineValue(readable.value), count(readable.bytes, 'byte'), readable.bytes, room);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Makes the digest of prose: the first sentences, and headings with their lines. */
async function proseDigest(source: DigestSource): Promise<Digest> {
  const headings: string[] = [];
  const lines = await eachLine(source.text, source.turn, (line, number) => {
    if (headings.length < MAX_HEADINGS && /^#{1,4} \S/.test(line)) headings.push(`  ${number}: ${cutLine(line, 100)}`);
  });
  const contents = headings.length > 1 ? takeLines(headings, Math.floor(source.room / 3)) : [];
  const beginning = firstSentences(source.sample, source.room - contents.join('\n').length - 80);
  const start = Buffer.byteLength(beginning);
  const more = headings.length - contents.length;
  const views: Selector[] = [
    { type: 'range', start, end: start + 6_000 },
    { type: 'grep', pattern: '(?i)keyword', context: 1, limit: 10 },
  ];
  const section = /^ {2}(\d+):/.exec(contents[1] ?? '')?.[1];
  if (section !== undefined) views.push({ type: 'lines', start: Number(section), end: Number(section) + 60 });
  return {
    title: `Text, ${size(source.text)}: ${count(lines, 'line')}`,
    body: [
      beginning,
      `… ${count(source.text.length - beginning.length, 'more character')}`,
      ...(contents.length > 0 ? ['headings, with their lines, from 0:', ...contents] : []),
      ...(contents.length > 0 && more > 0 ? [`  … ${count(more, 'more heading')}`] : []),
    ].join('\n'),
    views,
  };
}

/** Returns as many whole sentences as fit; without one, whole words. */
function firstSentences(text: string, room: number): string {
  const start = text.slice(0, room);
  let end = 0;
  for (const match of start.matchAll(SENTENCE_END)) end = match.index + match[0].length;
  if (end > room / 4) return start.slice(0, end);
  const blank = start.lastIndexOf(' ');
  return start.slice(0, blank > 0 ? blank : start.length);
}
