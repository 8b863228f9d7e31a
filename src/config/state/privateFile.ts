import { readOwnText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import { unwritable } from './stateFolder.ts';

/** Writes a small JSON file that only its owner can read. The write is atomic. */
export function writePrivateJson(file: string, content: unknown): void {
  try {
    writeWhole(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Returns the content; `undefined` if the file is absent, not readable or not the user's own. */
export function readPrivateJson(file: string): unknown {
  try {
    return JSON.parse(readOwnText(file));
  } catch {
    return undefined;
  }
}
