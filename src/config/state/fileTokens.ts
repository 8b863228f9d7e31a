import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateJson, writePrivateJson } from './privateFile.ts';
import { ensurePrivateFolder, unwritable } from './stateFolder.ts';

const FOLDER = 'tokens';
/** A renewal takes at most a few requests of 15 s, so an older lock is a leftover. */
const STALE_AFTER_MS = 60_000;
const POLL_MS = 25;

/**
 * Stores the tokens of sign-ins, each in a file with mode 0600, for hosts without an editor's secret storage. Tokens
 * belong to the user, so the gateways of all workspaces share them.
 */
export class FileTokens {
  readonly #root: string;
  readonly #folder: string;

  constructor(root: string) {
    this.#root = root;
    this.#folder = join(root, FOLDER);
  }

  async get(key: string): Promise<string | undefined> {
    const content = readPrivateJson(this.#fileOf(key));
    return typeof content === 'string' ? content : undefined;
  }

  async set(key: string, value: string): Promise<void> {
    this.#ensureFolder();
    writePrivateJson(this.#fileOf(key), value);
  }

  async delete(key: string): Promise<void> {
    rmSync(this.#fileOf(key), { force: true });
  }

  async exclusively<T>(key: string, run: () => Promise<T>): Promise<T> {
    this.#ensureFolder();
    const lock = `${this.#fileOf(key)}.lock`;
    while (!acquire(lock)) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    try {
      return await run();
    } finally {
      rmSync(lock, { force: true });
    }
  }

  #ensureFolder(): void {
    ensurePrivateFolder(this.#root);
    ensurePrivateFolder(this.#folder);
  }

  #fileOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}

function acquire(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(lock, error);
  }
  // A lock that vanished counts as fresh: another process may have created a new one by now.
  const since = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  if (Date.now() - since > STALE_AFTER_MS) rmSync(lock, { force: true });
  return false;
}
