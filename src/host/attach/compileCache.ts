import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateFolder, rootOf } from '../../config/state/stateFolder.ts';
import { BUILD } from '../../lib/build.ts';

/** Environment variable for Node's compile cache. Node before 22.1 ignores it. */
export const CACHE_VARIABLE = 'NODE_COMPILE_CACHE';
const FOLDER = 'compile-cache';
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * Returns the folder of compiled code that one worker leaves for the next, which saves a fifth of a start. Its code is
 * executed, so only its owner may write there. Returns `undefined`, and no cache is used, if such a folder cannot
 * exist.
 */
export function compileCacheFolder(workspaceState: string): string | undefined {
  const parent = cacheRoot(workspaceState);
  const folder = join(parent, folderOf(BUILD));
  try {
    ensurePrivateFolder(parent);
    ensurePrivateFolder(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/** Deletes old caches of other builds. A build that is still in use creates its cache again. */
export function sweepCompileCaches(workspaceState: string, now: number): void {
  const parent = cacheRoot(workspaceState);
  try {
    for (const name of readdirSync(parent)) {
      const folder = join(parent, name);
      const isOld = now - statSync(folder).mtimeMs > KEPT_MS;
      if (name !== folderOf(BUILD) && isOld) rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // There is no cache yet, or another process is sweeping.
  }
}

function cacheRoot(workspaceState: string): string {
  return join(rootOf(workspaceState), FOLDER);
}

function folderOf(build: string): string {
  return build.replaceAll('+', '-');
}
