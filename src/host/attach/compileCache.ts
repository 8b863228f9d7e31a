import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensurePrivateFolder, rootOf } from '../../config/state/stateFolder.ts';
import { BUILD } from '../../lib/build.ts';

/** Where Node keeps what it has compiled; a Node that does not know it (before 22.1) does as ever. */
export const CACHE_VARIABLE = 'NODE_COMPILE_CACHE';
const FOLDER = 'compile-cache';
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * The folder in which a worker finds its code compiled by the one before it: a fifth of its start. It holds code that is
 * run, so nobody but its owner may write there; where there can be no such folder, there is no cache.
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

/** Takes away what other builds have left there a while ago. One that is still used makes its own anew. */
export function sweepCompileCaches(workspaceState: string, now: number): void {
  const parent = cacheRoot(workspaceState);
  try {
    for (const name of readdirSync(parent)) {
      const folder = join(parent, name);
      const isOld = now - statSync(folder).mtimeMs > KEPT_MS;
      if (name !== folderOf(BUILD) && isOld) rmSync(folder, { recursive: true, force: true });
    }
  } catch {
    // None yet, or somebody else is at it.
  }
}

function cacheRoot(workspaceState: string): string {
  return join(rootOf(workspaceState), FOLDER);
}

function folderOf(build: string): string {
  return build.replaceAll('+', '-');
}
