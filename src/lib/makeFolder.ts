import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and its missing parents. Node's `recursive` option retries for ever where the system reports a missing
 * folder below an existing parent, as Linux does below /proc.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const parent = dirname(folder);
    // A missing drive has no parent folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== folder && !existsSync(parent)) {
      makeFolder(parent, mode);
      makeFolder(folder, mode);
    } else if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
