import { count } from '../../text/porcelain.ts';
import { type Digest, type DigestSource, type Selector, size } from './digestSource.ts';
import { cutLine, eachLine, takeLines } from './lines.ts';

const MAX_HEADINGS = 400;
const SENTENCE_END = /[.!?][)"'”’]*(?=\s)|[。！？]/g;

/** Makes the digest of prose: the first sentences, and headings with their lines. */
export async function proseDigest(source: DigestSource): Promise<Digest> {
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
