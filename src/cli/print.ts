import { asLine, type ConfigurationProblem } from '../config/gatewayConfig.ts';
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

/** Prints the step that follows a command for a person. A program that reads the output does not need it. */
export function printNext(json: boolean, step: string): void {
  if (!json) printAside(`Next: ${step}\n`);
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

/** Returns the errors of a configuration with their places. */
export function errorsOf({ problems }: { problems: readonly ConfigurationProblem[] }): string[] {
  return problems.filter(({ severity }) => severity === 'error').map(asLine);
}
