import { ftruncateSync, writeSync } from 'node:fs';
import { scrubSecrets } from '../../secrets/mask.ts';

/** stderr is the worker's log file, opened for appending by whoever started it. */
const STDERR = 2;
/** What a person would ever read; a noisy server must not fill the disk. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;

let written = 0;

/** One line to the log. A full disk costs the line, never the worker. */
export function writeLog(line: string, fd = STDERR): void {
  try {
    if (written > MAX_LOG_BYTES) {
      ftruncateSync(fd, 0);
      written = 0;
    }
    written += writeSync(fd, `${scrubSecrets(line)}\n`);
  } catch {
    // Nobody could be told of it either.
  }
}
