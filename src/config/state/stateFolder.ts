import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../lib/makeFolder.ts';

/** Error for a folder that cannot be used, in one sentence. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError';
}

/** Returns the folder for state that outlives a process: `WAYGATE_STATE_DIR`, otherwise the system's usual place. */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.WAYGATE_STATE_DIR) return resolve(env.WAYGATE_STATE_DIR);
  if (process.platform === 'win32') return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'Waygate');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Waygate');
  return join(env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'waygate');
}

/** Returns the real path of a workspace, so that two spellings of one path are one workspace. */
export function canonicalWorkspace(workspace: string): string {
  try {
    return realpathSync.native(workspace);
  } catch {
    return resolve(workspace);
  }
}

/**
 * Returns the folder of the user's own `waygate.json`: `WAYGATE_CONFIG_DIR`, otherwise the system's usual place. The
 * folder must never be in a workspace, because servers in this file start without a question.
 */
export function configRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.WAYGATE_CONFIG_DIR) return resolve(env.WAYGATE_CONFIG_DIR);
  if (process.platform === 'win32') return join(env.APPDATA ?? join(homedir(), 'AppData', 'Roaming'), 'Waygate');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Waygate');
  return join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'waygate');
}

export function userConfigFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(configRoot(env), 'waygate.json');
}

/**
 * Returns the folder of what may be removed at any time: folders of walled servers, and downloads of `npm start`, which
 * scripts/lib/cache.mjs places here by default.
 */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (process.platform === 'win32') {
    return join(env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'waygate', 'cache');
  }
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'waygate');
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'waygate');
}

/**
 * Returns the name of a gateway's folder in the state. `variant` identifies a gateway other than the workspace's own,
 * for instance with a given configuration; each variant has its own worker and state.
 */
export function stateKey(workspace: string, variant: readonly string[] = []): string {
  const canonical = canonicalWorkspace(workspace);
  const own = process.platform === 'win32' ? canonical.toLowerCase() : canonical;
  return createHash('sha256')
    .update([own, ...variant].join('\0'))
    .digest('hex')
    .slice(0, 16);
}

/** Creates the workspace's folder in the state, private to its owner, and returns its path. */
export function ensureWorkspaceState(
  workspace: string,
  root: string = stateRoot(),
  variant: readonly string[] = [],
): string {
  const folder = workspaceStateFolder(workspace, root, variant);
  ensurePrivateFolder(root);
  ensurePrivateFolder(join(root, 'workspaces'));
  ensurePrivateFolder(folder);
  return folder;
}

export function workspaceStateFolder(
  workspace: string,
  root: string = stateRoot(),
  variant: readonly string[] = [],
): string {
  return join(root, 'workspaces', stateKey(workspace, variant));
}

/** Returns the state folder that contains a workspace's folder. */
export function rootOf(workspaceState: string): string {
  return dirname(dirname(workspaceState));
}

/** Creates a folder that only its owner may enter, and throws if there is something else in its place. */
export function ensurePrivateFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
    const stat = lstatSync(folder);
    if (stat.isSymbolicLink()) throw new StateFolderError(`${folder} is a symbolic link; ${REMEDY}`);
    if (!stat.isDirectory()) throw new StateFolderError(`${folder} is not a folder; ${REMEDY}`);
    if (process.platform !== 'win32') {
      if (process.getuid !== undefined && stat.uid !== process.getuid()) {
        throw new StateFolderError(`${folder} belongs to another user; ${REMEDY}`);
      }
      // Changing the mode of a folder like /tmp would lock out every other user.
      if ((stat.mode & STICKY) !== 0) throw new StateFolderError(`${folder} is writable by everybody; ${REMEDY}`);
      if ((stat.mode & 0o077) !== 0) narrow(folder, stat);
    }
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** Closes a folder to other users, unless one of them has already put something into it. */
function narrow(folder: string, { uid, mode }: Stats): void {
  chmodSync(folder, 0o700);
  const isForeign = (name: string): boolean => lstatSync(join(folder, name)).uid !== uid;
  const foreign = (mode & 0o022) === 0 ? undefined : readdirSync(folder).find(isForeign);
  if (foreign === undefined) return;
  chmodSync(folder, mode & 0o777);
  throw new StateFolderError(`${join(folder, foreign)} belongs to another user, who could write ${folder}; ${REMEDY}`);
}

/** Converts the system's error about the state folder into one sentence. */
export function unwritable(folder: string, error: unknown): StateFolderError {
  if (error instanceof StateFolderError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? 'error';
  if (code === 'EEXIST' || code === 'ENOTDIR') return new StateFolderError(`${folder} is not a folder; ${REMEDY}`);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StateFolderError(
      `The disk of Waygate's state folder ${folder} is full; free some space, or set WAYGATE_STATE_DIR to a folder on another disk.`,
    );
  }
  return new StateFolderError(`Waygate cannot write its state folder ${folder} (${code}); ${REMEDY}`);
}

const STICKY = 0o1000;
const REMEDY = 'make it a writable folder of your own, or set WAYGATE_STATE_DIR to one.';
