import { existsSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { FilesystemPathEntry, SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import { CLIENT_SOURCES } from '../import/sources/all.ts';
import { surroundingsOf } from '../import/surroundings.ts';
import { findProgram } from '../lib/findProgram.ts';
import { holds, isWithin } from '../lib/readBounded.ts';
import { seccompHelper, type WallsPlan } from './wallsStart.ts';

/** Folders of keys that no server behind walls reads (T6.3). */
const KEY_FOLDERS = ['.ssh', '.aws', '.gnupg'];
/**
 * Files of a workspace that run code outside the walls. Files beside the configuration of git lead it to another one
 * (`commondir`, `modules`, a `.git` that is a file), so all of `.git` is closed, unless the entry names it (T6.3).
 */
const DECIDING = ['.vscode', '.git'];
const DECIDING_IN_GIT = ['.vscode', '.git/hooks', '.git/config'];

/** Returns the runtime's configuration for a server: its rules, and what is denied to every server (T6.3). */
export function runtimeRules(plan: WallsPlan, folder: string): SandboxRuntimeConfig {
  const { walls, workspace, stateRoot, configRoot, ownFolder, env, configFile } = plan;
  const home = env.HOME ?? homedir();
  const clients = CLIENT_SOURCES.flatMap((source) => source.places(surroundingsOf(workspace, env)))
    .map(({ file }) => file)
    .filter(existsSync);
  const sockets = [tmpdir(), '/tmp'].map((parent) => join(parent, `waygate-${userInfo().uid}`));
  const denied = [stateRoot, configRoot, ...KEY_FOLDERS.map((name) => join(home, name)), ...sockets, ...clients];
  createEditorFolder(plan);
  const git = join(workspace, '.git');
  const opensGit = walls.writes.some((path) => isWithin(git, path));
  // Only what exists: the runtime would put an empty file in the place of anything else.
  const deciding = [...(opensGit ? DECIDING_IN_GIT : DECIDING).map((name) => join(workspace, name)), configFile].filter(
    existsSync,
  );
  return {
    network: {
      allowedDomains: [...walls.domains],
      deniedDomains: [...walls.closedDomains],
    },
    filesystem: {
      denyRead: [...[...denied, dirname(ownFolder)].map(literal), ...walls.hidden],
      // The shell and the runtime's helper start inside the walls, whatever the entry hides.
      allowRead: [literal(folder), literal(ownFolder)],
      allowWrite: [...walls.writes, literal(ownFolder)],
      denyWrite: [...[...denied, ...deciding].map(literal), ...walls.readOnly],
    },
    // The runtime looks for further files below its own working folder only, where there are none.
    ripgrep: { command: findProgram('true', { cwd: '/', path: env.PATH ?? process.env.PATH }) ?? 'true' },
    seccomp: { applyPath: seccompHelper(folder) },
    // Without it the runtime asks npm for the folder of global packages, at each start.
    javaAgentJarPath: join(folder, 'walls', 'srt-proxy-agent.jar'),
  };
}

/**
 * Creates the editor's folder where a server could. The runtime's own placeholder goes with the first of several servers
 * that ends, and would be an empty `waygate.json` for the second one.
 */
function createEditorFolder({ walls, workspace }: WallsPlan): void {
  if (!walls.writes.some((folder) => holds(folder, workspace))) return;
  try {
    mkdirSync(join(workspace, '.vscode'));
  } catch {
    // The folder exists, or this user may not create it, and then the server may not either.
  }
}

/** Names a path that is no pattern. */
function literal(path: string): FilesystemPathEntry {
  return { path, literal: true };
}
