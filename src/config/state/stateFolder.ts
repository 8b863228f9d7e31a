import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../lib/makeFolder.ts';

/** A folder that cannot be used, told in one sentence. */
export class StateFolderError extends Error {
  override readonly name = 'StateFolderError';
}

/** Where Waygate keeps what must outlive a process: `WAYGATE_STATE_DIR`, else what the system has for such things. */
export function stateRoot(env: NodeJS.ProcessEnv = process.env): string {
  if (env.WAYGATE_STATE_DIR) return resolve(env.WAYGATE_STATE_DIR);
  if (process.platform === 'win32') return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'Waygate');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Waygate');
  return join(env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'waygate');
}

/** A workspace's own name for its folder: two ways to write one path are one workspace. */
export function canonicalWorkspace(workspace: string): string {
  try {
    return realpathSync.native(workspace);
  } catch {
    return resolve(workspace);
  }
}

/**
 * Where the person's own `waygate.json` lies: `WAYGATE_CONFIG_DIR`, else what the system has for such things. Never in
 * a workspace: what it names runs unasked.
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
 * The name of a gateway's folder within the state. What makes a gateway another one than its workspace's own, such as a
 * configuration given by hand, is a `variant` of it: each has a worker and a state of its own.
 */
export function stateKey(workspace: string, variant: readonly string[] = []): string {
  const canonical = canonicalWorkspace(workspace);
  const own = process.platform === 'win32' ? canonical.toLowerCase() : canonical;
  return createHash('sha256')
    .update([own, ...variant].join('\0'))
    .digest('hex')
    .slice(0, 16);
}

/** The workspace's folder within the state, made if need be, for its owner alone. */
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

/** The state that a workspace's folder belongs to. */
export function rootOf(workspaceState: string): string {
  return dirname(dirname(workspaceState));
}

/** Makes a folder that only its owner may enter, or says why it is not one. */
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
      // Narrowing /tmp for everybody would harm more than us.
      if ((stat.mode & STICKY) !== 0) throw new StateFolderError(`${folder} is a folder for everybody; ${REMEDY}`);
      if ((stat.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    }
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** What the system says of a folder that cannot be written, in one sentence. */
export function unwritable(folder: string, error: unknown): StateFolderError {
  if (error instanceof StateFolderError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? 'error';
  if (code === 'EEXIST' || code === 'ENOTDIR') return new StateFolderError(`${folder} is not a folder; ${REMEDY}`);
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new StateFolderError(
      `The disk of Waygate's state folder ${folder} is full; make room, or set WAYGATE_STATE_DIR to a folder on another.`,
    );
  }
  return new StateFolderError(`Waygate cannot write its state folder ${folder} (${code}); ${REMEDY}`);
}

const STICKY = 0o1000;
const REMEDY = 'make it a folder of your own that can be written, or set WAYGATE_STATE_DIR to one.';
