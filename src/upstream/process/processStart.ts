import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { safeEnvironment } from './childEnvironment.ts';

const run = promisify(execFile);

/** `ps` writes times in the language and the zone of whoever asks: two processes must be told the same. */
const SAME_WORDS = { LC_ALL: 'C', TZ: 'UTC' };

/** The field of /proc/PID/stat that holds the start time, counted from behind the command's name. */
const START_FIELD_AFTER_NAME = 19;

/** When a process started, in whatever form the system tells it; `undefined` when there is none (a zombie is none). */
export async function processStart(
  pid: number,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  try {
    if (platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The name stands in parentheses and may hold anything, spaces and parentheses included.
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
  const { stdout } = await run(command, args, { env: safeEnvironment(process.env, SAME_WORDS) });
  return stdout.trim();
}
