import { type Dirent, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { posix, win32 } from 'node:path';

/**
 * Environment that decides where clients keep their files. Nothing is read from the process, so that a test can supply
 * its own.
 */
export interface Surroundings {
  platform: NodeJS.Platform;
  home: string;
  env: NodeJS.ProcessEnv;
  workspace: string;
  /** Folder of the user's files of the editor that asks, if an editor does. */
  editorFolder?: string;
  /** Lists the folders in a folder; none if it does not exist. */
  subfolders(folder: string): readonly string[];
  /** Lists the files in a folder; none if it does not exist. */
  filesIn(folder: string): readonly string[];
}

/** Possible place of a client's file. */
export interface Place {
  file: string;
  scope: 'workspace' | 'user';
  /** Distinguishes the files of a client with several: `VS Code Insiders`. */
  title: string;
}

/** Possible files of a client. */
export interface PlaceFiles {
  workspace?: string | readonly string[];
  user: string | readonly string[];
}

/** Returns the client's files of the workspace, if it has some, and the user's files. */
export function placesOf(title: string, { workspace = [], user }: PlaceFiles): Place[] {
  return [
    ...[workspace].flat().map((file) => ({ file, scope: 'workspace' as const, title })),
    ...[user].flat().map((file) => ({ file, scope: 'user' as const, title })),
  ];
}

/** Returns a file in a folder of the home that an environment variable can move. */
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
  return {
    ...{ platform, home, env, workspace },
    subfolders: (folder) => namesIn(folder, (entry) => entry.isDirectory()),
    filesIn: (folder) => namesIn(folder, (entry) => entry.isFile()),
  };
}

function namesIn(folder: string, accept: (entry: Dirent) => boolean): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(accept)
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

/** Returns the folder of desktop programs' data: `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
export function applicationData(at: Surroundings): string {
  if (at.platform === 'win32') return at.env.APPDATA || inHome(at, 'AppData', 'Roaming');
  if (at.platform === 'darwin') return inHome(at, 'Library', 'Application Support');
  return at.env.XDG_CONFIG_HOME || inHome(at, '.config');
}
