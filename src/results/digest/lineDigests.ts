import { count, groupDigits } from '../../text/porcelain.ts';
import { type Digest, type DigestSource, type Selector, size } from './digestSource.ts';
import { outlineLines } from './jsonDigest.ts';
import { outlineJson } from './jsonOutline.ts';
import { cutLine, eachLine, takeLastLines, takeLines } from './lines.ts';

const TAIL_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 300;
const MAX_TEMPLATES = 200;

const TROUBLE =
  /\b(?:error|fatal|critical|panic|exception|traceback|failed|failure|err!|segfault|denied|refused|timed out|timeout|unhandled|abort(?:ed|ing)?)\b|\b[A-Z]\w*(?:Error|Exception)\b|\blevel=(?:error|fatal)\b|^\s*(?:✗|✖|not ok\b|E\s{3})/i;
/** Matches lines that mention errors without one: `0 errors`, `error: null`. */
const NO_TROUBLE =
  /\b(?:0|no|without) (?:errors?|failures?|failed)\b|\b(?:errors?|failed|failures?)["']?[:=] ?(?:0\b|null|none|false)/i;

/** Makes the digest of a log: head, tail, and lines that look like errors, with their numbers; repeated ones once. */
export async function logDigest(source: DigestSource): Promise<Digest> {
  const troubles = new Map<string, Trouble>();
  let found = 0;
  const lines = await eachLine(source.text, source.turn, (line, number) => {
    const looked = line.length > 1_000 ? line.slice(0, 1_000) : line;
    if (!TROUBLE.test(looked) || NO_TROUBLE.test(looked)) return;
    found += 1;
    const template = looked.replace(/0x[0-9a-f]+|[0-9a-f]{8,}|\d+/gi, '#').slice(0, 120);
    const known = troubles.get(template);
    if (known) {
      known.times += 1;
      known.last = number;
    } else if (troubles.size < MAX_TEMPLATES) {
      troubles.set(template, { line: cutLine(line, MAX_LINE_CHARS), first: number, last: number, times: 1 });
    }
  });

  const share = Math.floor(source.room / (found > 0 ? 3 : 2));
  const listed = takeLines([...troubles.values()].map(troubleLine), share);
  const { head, tail } = headAndTail(source, share);
  const heading = `lines that look like errors: ${groupDigits(found)}${kinds(troubles.size, listed.length)}`;
  const first = troubles.values().next().value;
  const around: Selector[] = first
    ? [
        { type: 'lines', start: Math.max(0, first.first - 10), end: first.first + 20 },
        { type: 'grep', pattern: '(?i)error|fail|exception', context: 2, limit: 10 },
      ]
    : [{ type: 'grep', pattern: '(?i)keyword', limit: 20 }];
  return {
    title: `Log, ${size(source.text)}: ${count(lines, 'line')}, numbered from 0`,
    body: [...(found > 0 ? [heading, ...listed] : []), ...framed(head, tail, lines)].join('\n'),
    views: [...around, { type: 'tail', lines: 60 }],
  };
}

interface Trouble {
  line: string;
  first: number;
  last: number;
  times: number;
}

function troubleLine({ line, first, last, times }: Trouble): string {
  return `  ${first}${times > 1 ? ` (×${groupDigits(times)}, last ${last})` : ''}: ${line}`;
}

function kinds(all: number, listed: number): string {
  const many = all === MAX_TEMPLATES ? `more than ${all}` : String(all);
  return all === listed ? '' : `, ${many} kinds, the first ${listed}`;
}

/** Makes the digest of lines of unknown kind: listings, code, differences. */
export async function linesDigest(source: DigestSource): Promise<Digest> {
  const lines = await eachLine(source.text, source.turn, () => {});
  const { head, tail } = headAndTail(source, Math.floor(source.room / 2));
  if (head.length === 0 || lines < 3) return longLineDigest(source, lines);
  return {
    title: `Text, ${size(source.text)}: ${count(lines, 'line')}, numbered from 0`,
    body: framed(head, tail, lines).join('\n'),
    views: [
      { type: 'lines', start: head.length, end: head.length + 100 },
      { type: 'grep', pattern: '(?i)keyword', context: 2, limit: 10 },
      { type: 'tail', lines: 60 },
    ],
  };
}

function longLineDigest(source: DigestSource, lines: number): Digest {
  const head = source.text.head(Math.floor(source.room * 0.7));
  const tail = source.text.tail(Math.floor(source.room * 0.2));
  const start = Buffer.byteLength(head);
  return {
    title: `Text, ${size(source.text)}: ${count(lines, 'line')}`,
    body: `${head}\n… ${count(source.text.length - head.length - tail.length, 'more character')} …\n${tail}`,
    views: [
      { type: 'range', start, end: start + 6_000 },
      { type: 'grep', pattern: '(?i)keyword', limit: 10 },
    ],
  };
}

/** Makes the digest of one JSON value per line: their number, and an outline of the first. */
export async function jsonLinesDigest(source: DigestSource): Promise<Digest> {
  const lines = await eachLine(source.text, source.turn, () => {});
  const complete = source.sample.slice(0, source.isWhole ? undefined : source.sample.lastIndexOf('\n'));
  const values = complete.split('\n').filter((line) => line.trim() !== '');
  const outline = await outlineJson(`[${values.join(',')}]`, source.turn);
  const detail = { depth: 3, keys: 30, first: 60 };
  const body = outline ? outlineLines(outline.root, detail) : values.map((line) => cutLine(line, MAX_LINE_CHARS));
  const note = source.isWhole ? [] : [`(from the first ${groupDigits(values.length)} lines)`];
  return {
    title: `JSON lines, ${size(source.text)}: ${count(lines, 'line')}, one value each`,
    body: [...takeLines(body, source.room - 60), ...note].join('\n'),
    views: [
      { type: 'lines', start: 0, end: 5 },
      { type: 'grep', pattern: '(?i)keyword', limit: 10 },
      { type: 'tail', lines: 5 },
    ],
  };
}

function headAndTail(source: DigestSource, room: number): { head: string[]; tail: string[] } {
  const clip = (lines: string[]): string[] => lines.map((line) => cutLine(line, MAX_LINE_CHARS));
  const first = source.sample.split(/\r?\n/);
  const last = source.text
    .tail(TAIL_CHARS)
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  return {
    head: takeLines(clip(first.slice(0, -1)), room),
    tail: takeLastLines(clip(last.slice(1)), Math.floor(room * 0.6)),
  };
}

function framed(head: readonly string[], tail: readonly string[], lines: number): string[] {
  const between = lines - head.length - tail.length;
  return [`first ${head.length}:`, ...head, `… ${count(between, 'line')} …`, `last ${tail.length}:`, ...tail];
}
