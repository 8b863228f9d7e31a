import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The field of /proc/PID/stat that holds the start time, counted from behind the command's name. */
const START_FIELD_AFTER_NAME = 19;

/** When a process started, in whatever form the system tells it; `undefined` when there is none (a zombie is none). */
export async function processStart(pid: number): Promise<string | undefined> {
  try {
    if (process.platform === 'linux') {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
      // The name stands in parentheses and may hold anything, spaces and parentheses included.
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return fields[0] === 'Z' ? undefined : fields[START_FIELD_AFTER_NAME];
    }
    if (process.platform === 'win32') {
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      return (await run('powershell', ['-NoProfile', '-Command', script])).stdout.trim() || undefined;
    }
    return (await run('ps', ['-o', 'lstart=', '-p', String(pid)])).stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}
