import { readFileSync } from 'node:fs';
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

/** Returns the content; `undefined` if the file is absent or not readable. */
export function readPrivateJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns why the content of a file cannot be used; `undefined` if it can, or if there is no file. */
export function privateJsonFlaw(file: string): string | undefined {
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof content === 'object' && content !== null ? undefined : 'it is no object';
  } catch (error) {
    const { code = 'it is not JSON' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? undefined : code;
  }
}
