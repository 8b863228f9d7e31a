import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { workspaceFolder } from './gateway.ts';

/** Folder of the run, with all files of VS Code, Waygate and the servers. */
export const scratchFolder = (): string => dirname(workspaceFolder());

/** Returns every file below a folder that contains one of these texts. */
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
    // The file was deleted after the folder was listed.
    return Buffer.alloc(0);
  }
}
