import { visibleData, visibleJson, visibleText } from './visibleText.ts';

/** Text for a model: lines, deterministic, bounded, the summary first (O9.2). */

/** Limit of every answer. Copilot moves text beyond 8,192 characters into a file (M5.4). */
export const MAX_ANSWER_CHARS = 8_000;

/** Cuts at a nearby line end and states how much is missing. */
export function boundText(text: string, limit = MAX_ANSWER_CHARS): string {
  if (text.length <= limit) return text;
  const room = limit - 40;
  const newline = text.lastIndexOf('\n', room);
  let end = newline > room / 2 ? newline : room;
  // Never half of a surrogate pair.
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end -= 1;
  return `${text.slice(0, end)}\n… ${text.length - end} more characters`;
}

/** Formats a count: `1 tool`, `2 tools`, `3,288 tools`. Grouped by hand, because locales differ. */
export function count(n: number, singular: string, plural = `${singular}s`): string {
  return `${groupDigits(n)} ${n === 1 ? singular : plural}`;
}

export function groupDigits(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Formats a duration with the precision that a person needs: `90 s`, `3 min`, `2 h`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Formats a latency with three digits: `0.4 ms`, `12 ms`, `1.5 s`. */
export function latency(ms: number): string {
  if (ms >= 1_000) return `${Number((ms / 1_000).toPrecision(3))} s`;
  return `${Number(ms.toPrecision(3))} ms`;
}

/** Formats rows under a header in columns: numbers to the right, texts to the left, no space at the end of a line. */
export function table(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = [
    header,
    ...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? groupDigits(cell) : cell))),
  ];
  const widths = header.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  const isNumber = header.map((_, column) => rows.every((row) => typeof row[column] === 'number'));
  return cells.map((row) =>
    row
      .map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column] as number) : cell.padEnd(widths[column] as number),
      )
      .join('  ')
      .trimEnd(),
  );
}

/** Returns the first lines, and a line with the number of the others. */
export function firstLines(lines: readonly string[], limit: number): string[] {
  if (lines.length <= limit) return [...lines];
  return [...lines.slice(0, limit), `… ${count(lines.length - limit, 'line')} omitted`];
}

/** A single line with nothing to shorten, escape or trim. Most names are one, and the other way takes ten times as long. */
const PLAIN_LINE = /^[!-~]+(?: [!-~]+)*$/;

/** Returns foreign text as a single line that hides nothing, of at most `limit` characters. */
export function oneLine(text: string, limit = 256): string {
  if (text.length <= limit && PLAIN_LINE.test(text)) return text;
  const flat = visibleText(text.replace(CONTROL_CHARACTERS, ' ').replace(/\s+/g, ' ').trim());
  if (flat.length <= limit) return flat;
  return `${shortened(flat, limit).slice(0, -1).trimEnd()}…`;
}

/** Limit of a text in a report that is printed line by line. */
const MAX_REPORTED_CHARS = 4_000;

/** Makes every text of a report a single line, so that no name in it forges a line of what is rendered from it. */
export function inLines<T>(report: T): T {
  return visibleData(report, (text) => oneLine(text, MAX_REPORTED_CHARS));
}

/** Quotes a foreign name within a sentence. Its end is visible, and it adds no line. */
export function quoted(name: string, limit = 60): string {
  return visibleJson(shortened(name, limit));
}

/** Adds a full stop where the text has no end mark. */
export function asSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}

/** Cuts a text to `limit` characters, with a mark where the rest is missing, and never within a surrogate pair. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes them
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/g;
