import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBoundedText } from '../../lib/readBounded.ts';

const KEY_FILE = 'round-key';
/** Length of a key of AES-256. */
const KEY_BYTES = 32;
const MAX_KEY_FILE_BYTES = 1_024;
const USED_FOLDER = 'rounds-used';
/** Longer than a round, after which its state has expired. */
const KEEP_MS = 30 * 60_000;

/**
 * Returns the key for states of rounds, created once, so that a host that was started again takes the client's answer.
 * Throws if the file is not private or not a key: the states of another program could not be refused then.
 */
export function roundKey(folder: string): Buffer {
  const file = join(folder, KEY_FILE);
  try {
    writeFileSync(file, randomBytes(KEY_BYTES).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const key = Buffer.from(readBoundedText(file, { maxBytes: MAX_KEY_FILE_BYTES, secret: true }), 'base64url');
  if (key.length !== KEY_BYTES) throw new Error(`${file} does not hold a key; remove the file`);
  return key;
}

/** Rounds that a client has answered. Files, so that an answer counts once, whichever host gets it. */
export class UsedRounds {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = join(folder, USED_FOLDER);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.forgetOld();
  }

  /** Marks a round as answered. Returns false if it was before. */
  use(nonce: string): boolean {
    try {
      writeFileSync(join(this.#folder, nonce), '', { mode: 0o600, flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  }

  /** Removes rounds whose states have expired. */
  forgetOld(): void {
    const before = Date.now() - KEEP_MS;
    for (const name of readdirSync(this.#folder)) {
      const file = join(this.#folder, name);
      const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: before };
      if (mtimeMs < before) rmSync(file, { force: true });
    }
  }
}
