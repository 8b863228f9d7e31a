import { folded } from './lookAlikes.ts';
import { boundText, oneLine } from './porcelain.ts';
import { visibleText } from './visibleText.ts';

/** Line behind foreign data. The data has no such line. */
const END = 'end of data';

/** Limit of the source. Namespaces of servers are shorter. */
const MAX_SOURCE_CHARS = 64;

/**
 * Puts foreign data between two lines of Waygate, so that a model can separate their words: the status with the
 * source of the data, and the end. Nothing in the data can look like the end, or like what Waygate writes behind it.
 */
export function fenced(status: string, source: string, data: string): string {
  return `${status} · data from ${oneLine(source, MAX_SOURCE_CHARS)}\n${quotedData(data)}\n${END}`;
}

/** Bounds an answer. Where the cut is in foreign data, the data still ends. */
export function boundAnswer(text: string, limit: number): string {
  const bounded = boundText(text, limit);
  if (!text.includes(`\n${END}`) || bounded.includes(`\n${END}`)) return bounded;
  return `${boundText(text, limit - END.length - 1)}\n${END}`;
}

/** Shows what is hidden in foreign data, and marks lines that could be Waygate's with `> `. */
export function quotedData(data: string): string {
  const shown = visibleText(data);
  const lines = shown.split('\n');
  const marked = lines.map((line) => (OWN_LINE.test(beginningOf(line)) ? `> ${line}` : line));
  return marked.join('\n');
}

/**
 * Beginnings of Waygate's own lines in an answer, whatever their case, blanks and marks: the two of the fence, errors,
 * notes, and calls that read on. A quotation mark at the beginning excludes that, so JSON stays as it is.
 */
const OWN_LINE = new RegExp(
  `^[^\\p{L}"']*(?:${[
    'end\\P{L}*of\\P{L}*data',
    '(?:ok|partial|error\\P{L}+[a-z_]+)\\P{L}+data\\P{L}+from',
    'error\\P{L}+(?:args|path|schema|upstream|auth|permission|policy|rate|hydrate|view|resource|prompt)_',
    'note\\P{L}*:',
    'all\\P{L}+of\\P{L}+it\\P{L}+is\\P{L}+kept',
    'next\\P{L}*:\\P{L}*tool_view',
    'tool_view\\P{L}*\\{',
    'retryable\\P{L}*:',
    'waygate',
  ].join('|')})`,
  'iu',
);

/** Length within which a line of Waygate shows what it is. */
const BEGINNING_CHARS = 200;

function beginningOf(line: string): string {
  const start = line.trimStart().slice(0, BEGINNING_CHARS);
  return /^[ -~\t]*$/.test(start) ? start : folded(start);
}
