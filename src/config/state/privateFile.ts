import { type ReadBounds, readBoundedText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import { unwritable } from './stateFolder.ts';

/** Bound of a file that Waygate itself writes. */
export const PRIVATE_BOUNDS: ReadBounds = { maxBytes: 16 * 1024 * 1024 };

/** Writes a small JSON file that only its owner can read. The write is atomic. */
export function writePrivateJson(file: string, content: unknown): void {
  try {
    writeWhole(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Returns the content; `undefined` if the file is absent or not readable. */
export function readPrivateJson(file: string): unknown {
  try {
    return JSON.parse(readBoundedText(file, PRIVATE_BOUNDS));
  } catch {
    return undefined;
  }
}
