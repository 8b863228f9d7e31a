import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those around it that are missing. Node's own way (`recursive`) tries for ever where the system says
 * that a folder is missing whose parent is there, as Linux does of what somebody wants to make in /proc.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    const parent = dirname(folder);
    // A drive that is not there is in no other folder.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' && parent !== folder && !existsSync(parent)) {
      makeFolder(parent, mode);
      makeFolder(folder, mode);
    } else if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
