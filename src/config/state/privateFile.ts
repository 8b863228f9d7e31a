import { readFileSync } from 'node:fs';
import { writeWhole } from '../../lib/writeWhole.ts';
import { unwritable } from './stateFolder.ts';

/** A small JSON file for its owner alone. A reader sees the old content or the new one. */
export function writePrivateJson(file: string, content: unknown): void {
  try {
    writeWhole(file, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unwritable(file, error);
  }
}

/** Its content; `undefined` where there is none, or none that can be read. */
export function readPrivateJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
