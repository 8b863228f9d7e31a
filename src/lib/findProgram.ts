import { accessSync, constants, statSync } from 'node:fs';
import { join, posix, resolve, win32 } from 'node:path';

export interface ProgramPlace {
  /** Folder in which the program will run. */
  cwd: string;
  path: string | undefined;
  pathExt?: string | undefined;
}

/** Whether a command is a name to look for in the `PATH`. */
export function isBare(command: string): boolean {
  return !(process.platform === 'win32' ? /[\\/]/ : /\//).test(command);
}

/**
 * Returns the absolute path of the program that a command names, like `execvp`; `undefined` if the `PATH` has none. Only
 * absolute parts of the `PATH` count: a relative or empty one means a folder that a repository may fill.
 */
export function findProgram(command: string, { cwd, path, pathExt }: ProgramPlace): string | undefined {
  if (!isBare(command)) return resolve(cwd, command);
  const files = absoluteParts(path).flatMap((folder) =>
    extensionsOf(command, pathExt).map((end) => join(folder, command + end)),
  );
  return files.find(isExecutable) ?? files.find(isFile);
}

/** Returns the folders of a `PATH` that do not depend on the working folder. */
export function absoluteParts(path: string | undefined, platform = process.platform): string[] {
  const { delimiter, isAbsolute } = platform === 'win32' ? win32 : posix;
  return (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
}

export function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

function extensionsOf(command: string, pathExt = '.COM;.EXE;.BAT;.CMD'): string[] {
  if (process.platform !== 'win32') return [''];
  const all = pathExt.split(';').filter((end) => end !== '');
  return all.some((end) => command.toLowerCase().endsWith(end.toLowerCase())) ? [''] : all;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return isFile(file);
  } catch {
    return false;
  }
}
