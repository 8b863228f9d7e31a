/** Text for a model: lines, deterministic, bounded, the summary first (O9.2). */

/** Limit of every answer. Copilot moves text beyond 8,192 characters into a file (M5.4). */
export const MAX_ANSWER_CHARS = 8_000;

/** Cuts at a line where one is near, and says how much was left out. */
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

/** `1 tool`, `2 tools`, `3,288 tools`: grouped by hand, because locales differ. */
export function count(n: number, singular: string, plural = `${singular}s`): string {
  return `${groupDigits(n)} ${n === 1 ? singular : plural}`;
}

export function groupDigits(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `90 s`, `3 min`, `2 h`: as exact as a person wants it. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** `0.4 ms`, `12 ms`, `1.5 s`: three figures tell enough of a latency. */
export function latency(ms: number): string {
  if (ms >= 1_000) return `${Number((ms / 1_000).toPrecision(3))} s`;
  return `${Number(ms.toPrecision(3))} ms`;
}

/** Rows under a header, columns by width: numbers to the right, texts to the left, no space at a line's end. */
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

/** The first of them, and how many more there are. */
export function firstLines(lines: readonly string[], limit: number): string[] {
  if (lines.length <= limit) return [...lines];
  return [...lines.slice(0, limit), `… ${count(lines.length - limit, 'line')} omitted`];
}

/** One line, free of control characters, at most `limit` characters. */
export function oneLine(text: string, limit = 256): string {
  const flat = text.replace(CONTROL_CHARACTERS, ' ').replace(/\s+/g, ' ').trim();
  if (flat.length <= limit) return flat;
  return `${shortened(flat, limit).slice(0, -1).trimEnd()}…`;
}

/** With an end, where it has none. */
export function asSentence(words: string): string {
  return /[.!?…]$/.test(words) ? words : `${words}.`;
}

/** At most `limit` characters, with a mark where the rest is missing; never half of a surrogate pair. */
export function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/g;
