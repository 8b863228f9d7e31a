import { oneLine } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';

/** Cuts a text to a number of UTF-8 bytes, with a mark where the rest is missing. */
export function cutBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const kept = Buffer.from(text)
    .subarray(0, Math.max(0, limit - 3))
    .toString('utf8')
    .replace(/\ufffd+$/, '');
  return `${kept}…`;
}

/**
 * Joins a head that is never cut with as many lines as fit into the budget. The line about the omitted ones counts as
 * well.
 */
export function withinBudget(
  head: string,
  lines: readonly string[],
  limit: number,
  omitted: (lines: number) => string,
): string {
  const kept: string[] = [];
  let left = limit - Buffer.byteLength(head);
  for (const [at, line] of lines.entries()) {
    const isLast = at === lines.length - 1;
    const reserve = isLast ? 0 : Buffer.byteLength(omitted(lines.length - at)) + 1;
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > left - reserve) {
      const rest = omitted(lines.length - at);
      if (Buffer.byteLength(rest) + 1 <= left) kept.push(rest);
      break;
    }
    kept.push(line);
    left -= bytes;
  }
  return [head, ...kept].join('\n');
}

/** Returns a value in quotes as JSON has it, or `null`. */
export function inQuotes(value: unknown, limit?: number): string {
  if (value === undefined || value === null) return 'null';
  const text = String(value);
  return visibleJson(limit === undefined ? text : oneLine(text, limit));
}

/** Returns a value for a place within braces, where some characters separate. */
export function inBraces(value: unknown, limit = 80): string {
  if (value === undefined || value === null) return 'null';
  return oneLine(String(value), limit).replace(/[;,[\]{}|\s]/g, '_');
}
