import { readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

/** What decides where clients keep their files. Nothing here is read from the process, so a test brings its own. */
export interface Surroundings {
  platform: NodeJS.Platform;
  home: string;
  env: NodeJS.ProcessEnv;
  workspace: string;
  /** The folders within a folder; none where there is no such folder. */
  subfolders(folder: string): readonly string[];
}

/** Where a client's file may lie. */
export interface Place {
  file: string;
  scope: 'workspace' | 'user';
  /** Says which of a client's files it is, where there are several: `VS Code Insiders`. */
  title: string;
}

/** A client's file of the workspace, where it has one, and the person's own. */
export function placesOf(title: string, { workspace, user }: { workspace?: string; user: string }): Place[] {
  return [
    ...(workspace === undefined ? [] : [{ file: workspace, scope: 'workspace' as const, title }]),
    { file: user, scope: 'user', title },
  ];
}

/** A file in a folder of the home that a variable of the environment can put elsewhere. */
export function movable(at: Surroundings, variable: string, folder: readonly string[], file: string): string {
  const moved = at.env[variable];
  return moved ? joinPath(at, moved, file) : inHome(at, ...folder, file);
}

export function surroundingsOf(
  workspace: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Surroundings {
  const home = (platform === 'win32' ? env.USERPROFILE : env.HOME) || homedir();
  return { platform, home, env, workspace, subfolders };
}

function subfolders(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
      .sort();
  } catch {
    return [];
  }
}

export function joinPath({ platform }: Surroundings, ...parts: string[]): string {
  return (platform === 'win32' ? win32 : posix).join(...parts);
}

export function inHome(at: Surroundings, ...parts: string[]): string {
  return joinPath(at, at.home, ...parts);
}

export function inWorkspace(at: Surroundings, ...parts: string[]): string {
  return joinPath(at, at.workspace, ...parts);
}

/** Where desktop programs keep their data: `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
export function applicationData(at: Surroundings): string {
  if (at.platform === 'win32') return at.env.APPDATA || inHome(at, 'AppData', 'Roaming');
  if (at.platform === 'darwin') return inHome(at, 'Library', 'Application Support');
  return at.env.XDG_CONFIG_HOME || inHome(at, '.config');
}
