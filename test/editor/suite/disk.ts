import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workspaceFolder } from './gateway.ts';

/** The run's own folder: all that VS Code, Waygate and the servers write lies in it. */
export const scratchFolder = (): string => dirname(workspaceFolder());

/** Every file below a folder that holds one of these texts. */
export function filesThatHold(texts: readonly string[], folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = contents(file);
      return texts.some((text) => bytes.includes(text));
    });
}

function contents(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    // It has gone since the folder was listed.
    return Buffer.alloc(0);
  }
}
