import { ftruncateSync, writeSync } from 'node:fs';
import { scrubSecrets } from '../../secrets/mask.ts';
import { visibleText } from '../../text/visibleText.ts';

/** stderr is the worker's log file, which the host opened for appending. */
const STDERR = 2;
/** Size limit of the log, so that a noisy server cannot fill the disk. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;

let written = 0;

/** Writes to the log: one line, or a stack trace. If the write fails, the line is dropped and the worker continues. */
export function writeLog(line: string, fd = STDERR): void {
  try {
    if (written > MAX_LOG_BYTES) {
      ftruncateSync(fd, 0);
      written = 0;
    }
    written += writeSync(fd, `${visibleText(scrubSecrets(line))}\n`);
  } catch {
    // There is no other place to report a failed log.
  }
}
