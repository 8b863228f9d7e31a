import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { safeEnvironment } from './childEnvironment.ts';

/** Fixed language and time zone, so that `ps` prints the same time for every caller. */
const SAME_WORDS = { LC_ALL: 'C', TZ: 'UTC' };

/** Index of the start time in /proc/PID/stat, counted after the command's name. */
const START_FIELD_AFTER_NAME = 19;

/** Returns the start time of a process in the system's own format; `undefined` for a missing process or a zombie. */
export async function processStart(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  try {
    if (platform === 'linux') {
      // The system makes this file in memory, so that nothing waits for a disk.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name is in parentheses and may itself contain spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[START_FIELD_AFTER_NAME];
    }
    if (platform === 'win32') {
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      return (await asked('powershell', ['-NoProfile', '-Command', script])) || undefined;
    }
    return (await asked('ps', ['-o', 'lstart=', '-p', String(pid)])) || undefined;
  } catch {
    return undefined;
  }
}

async function asked(command: string, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { env: safeEnvironment(process.env, SAME_WORDS) });
  return stdout.trim();
}
