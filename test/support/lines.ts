import { existsSync, readFileSync } from 'node:fs';

/** Returns the lines that other processes have written to a file so far; none if it does not exist. */
export function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** Returns the objects of such a file, without invalid and incomplete lines. */
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
