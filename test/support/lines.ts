import { existsSync, readFileSync } from 'node:fs';

/** What other processes have written into a file by now, line by line; nothing where there is none yet. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** The objects of such a file; what is none, or not whole yet, is left out. */
export function recordsOf(file: string): Record<string, unknown>[] {
  return linesOf(file).flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'object' && value !== null ? [value as Record<string, unknown>] : [];
    } catch {
      return [];
    }
  });
}
