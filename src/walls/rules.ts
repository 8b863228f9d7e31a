import { accessSync, constants, existsSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import type { FilesystemPathEntry, SandboxRuntimeConfig } from '@anthropic-ai/sandbox-runtime';
import { configFile as workspaceConfig } from '../config/state/configPlaces.ts';
import { CLIENT_SOURCES } from '../import/sources/all.ts';
import { surroundingsOf } from '../import/surroundings.ts';
import { findProgram } from '../lib/findProgram.ts';
import { isWithin } from '../lib/readBounded.ts';
import type { WallsPlan } from './wallsStart.ts';

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
  const git = join(workspace, '.git');
  const opensGit = walls.writes.some((path) => isWithin(git, path));
  // Only what exists: the runtime would put an empty file in the place of anything else.
  const deciding = (opensGit ? DECIDING_IN_GIT : DECIDING).map((name) => join(workspace, name)).filter(existsSync);
  const configFiles = [workspaceConfig(workspace), configFile].filter((file) => existsSync(file) || mayAppear(file));
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
      denyWrite: [...[...denied, ...configFiles, ...deciding].map(literal), ...walls.readOnly],
    },
    // The runtime looks for further files below its own working folder only, where there are none.
    ripgrep: { command: findProgram('true', { cwd: '/', path: env.PATH ?? process.env.PATH }) ?? 'true' },
    seccomp: { applyPath: join(folder, 'walls', process.arch, 'apply-seccomp') },
  };
}

/** Whether this user may create a file. The runtime fails where it must hold a place that nobody may take. */
function mayAppear(file: string): boolean {
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Names a path that is no pattern. */
function literal(path: string): FilesystemPathEntry {
  return { path, literal: true };
}
