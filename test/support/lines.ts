import { existsSync, readFileSync } from 'node:fs';

/** What other processes have written into a file by now, line by line; nothing where there is none yet. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
