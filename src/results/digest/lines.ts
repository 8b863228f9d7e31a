import { type LongText, wholeCut } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';

/** Inspected part of a very long line. */
const MAX_LINE_CHARS = 64 * 1024;

/** Visits every line of a text of any length, without its line break. */
export async function eachLine(
  text: LongText,
  turn: () => Promise<void>,
  visit: (line: string, number: number) => void,
): Promise<number> {
  let number = 0;
  let rest = '';
  for (const chunk of text.chunks()) {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      const line = rest + chunk.slice(start, end);
      visit(line.endsWith('\r') ? line.slice(0, -1) : line, number);
      rest = '';
      number += 1;
      start = end + 1;
    }
    if (rest.length < MAX_LINE_CHARS) rest += chunk.slice(start, start + MAX_LINE_CHARS);
    await turn();
  }
  if (rest) {
    visit(rest, number);
    number += 1;
  }
  return number;
}

export function cutLine(line: string, chars: number): string {
  if (line.length <= chars) return line;
  const end = wholeCut(line, chars - 1);
  return `${line.slice(0, end)}… (${count(line.length - end, 'more character')})`;
}

/** Returns as many of the lines as fit. */
export function takeLines(lines: readonly string[], room: number): string[] {
  let used = 0;
  const end = lines.findIndex((line) => {
    used += line.length + 1;
    return used > room;
  });
  return lines.slice(0, end === -1 ? lines.length : end);
}

/** Returns as many of the last lines as fit, in order. */
export function takeLastLines(lines: readonly string[], room: number): string[] {
  return takeLines([...lines].reverse(), room).reverse();
}
