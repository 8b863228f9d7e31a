import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { withLock } from './lock.mjs';
import { SetupError } from './setupError.mjs';

/**
 * Returns the only folder outside the work tree that holds downloads.
 * @param {NodeJS.ProcessEnv} [env]
 * @param {NodeJS.Platform} [platform]
 * @param {string} [home]
 */
export function cacheFolder(env = process.env, platform = process.platform, home = homedir()) {
  if (env.WAYGATE_CACHE) return resolve(env.WAYGATE_CACHE);
  if (platform === 'win32') return join(env.LOCALAPPDATA || join(home, 'AppData', 'Local'), 'waygate', 'cache');
  if (platform === 'darwin') return join(home, 'Library', 'Caches', 'waygate');
  return join(env.XDG_CACHE_HOME || join(home, '.cache'), 'waygate');
}

/** @param {string} root a work tree; two clones on one machine never share what depends on their sources */
export function treeFolder(root) {
  const id = createHash('sha256').update(resolve(root)).digest('hex').slice(0, 8);
  return join(cacheFolder(), 'trees', `${basename(root)}-${id}`);
}

/** Makes the cache folder, or throws a sentence that says why it cannot. */
export function ensureCacheFolder() {
  const folder = cacheFolder();
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `The cache folder ${folder} cannot be made (${reason}): set WAYGATE_CACHE to a folder you may write to.`,
    );
  }
  return folder;
}

/**
 * Fills a folder of the cache once. A folder gets its name only when it is complete.
 * @param {string} folder
 * @param {(temporary: string) => Promise<void>} fill
 */
export async function fillOnce(folder, fill) {
  if (existsSync(folder)) return;
  const waiting = () => console.log(`Another process is filling ${folder}: waiting for it.`);
  await withLock(
    `${folder}.lock`,
    async () => {
      if (existsSync(folder)) return;
      const prefix = `${basename(folder)}.partial-`;
      for (const name of readdirSync(dirname(folder))) {
        if (name.startsWith(prefix)) rmSync(join(dirname(folder), name), { recursive: true, force: true });
      }
      const temporary = join(dirname(folder), `${prefix}${process.pid}`);
      mkdirSync(temporary);
      try {
        await fill(temporary);
        renameSync(temporary, folder);
      } finally {
        rmSync(temporary, { recursive: true, force: true });
      }
    },
    waiting,
  );
}
