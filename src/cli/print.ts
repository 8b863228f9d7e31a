import { oneLine } from '../text/porcelain.ts';
import { visibleJson, visibleText } from '../text/visibleText.ts';

const MAX_PROBLEM_CHARS = 4_000;

/** Prints lines, or the same as data with `--json`. */
export function print(json: boolean, data: unknown, text: string): void {
  printText(json ? jsonText(data) : text);
}

/** Prints to stdout. Names, descriptions and reasons come from servers and files, so nothing hidden gets to a terminal. */
export function printText(text: string): void {
  process.stdout.write(visibleText(text));
}

/** Prints to stderr: problems, questions, and what a program that reads stdout does not need. */
export function printAside(text: string): void {
  process.stderr.write(visibleText(text));
}

/** Renders data as JSON that parses to the same data, with hidden characters as escapes. */
export function jsonText(data: unknown, space = 2): string {
  return `${visibleJson(data, space)}\n`;
}

/** Prints a problem to stderr, as a single line. */
export function printProblem(message: string): void {
  printAside(problemLine(message));
}

export function problemLine(message: string): string {
  return `waygate: ${oneLine(message, MAX_PROBLEM_CHARS)}\n`;
}
