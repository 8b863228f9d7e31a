import { readdirSync, readFileSync } from 'node:fs';

export interface Leftover {
  pid: number;
  command: string;
}

const read = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has exited or belongs to another user: not of this run in either case.
    return '';
  }
};

/**
 * Finds processes of a run that still exist: their command line or environment contains the run's own folder. Only
 * Linux reveals both for every process.
 */
export function findLeftovers(folder: string): Leftover[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({
      pid: Number(name),
      command: read(`/proc/${name}/cmdline`),
      environment: read(`/proc/${name}/environ`),
    }))
    .filter(({ command, environment }) => command.includes(folder) || environment.includes(folder))
    .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ').trim() }));
}

/** Kills the leftovers of a run and returns them. */
export function endLeftovers(folder: string): Leftover[] {
  const left = findLeftovers(folder);
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has exited.
    }
  }
  return left;
}
