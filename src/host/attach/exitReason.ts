import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { scrubSecrets } from '../../secrets/mask.ts';
import { oneLine } from '../../text/porcelain.ts';
import { StderrTail } from '../../upstream/process/stderrTail.ts';

/** Upper bound of Node's own crash output. */
const MAX_BYTES = 64 * 1024;
const MAX_CHARS = 200;
/** Lines of the worker's log begin with the time; continuation lines are indented. Crash output does neither. */
const NOT_OF_ITS_END = /^(?:\d{4}-\d\d-\d\dT|\s)/;

/** Returns why a worker ended, from its log after byte `from`, or `undefined` if it wrote no reason. */
export function exitReason(logFile: string, from: number): string | undefined {
  const said = new StderrTail(scrubSecrets);
  const lines = tailOf(logFile, from).split('\n');
  said.push(Buffer.from(lines.filter((line) => !NOT_OF_ITS_END.test(line)).join('\n')));
  const words = said.lastMeaningful();
  return words === undefined ? undefined : oneLine(words, MAX_CHARS);
}

/** Returns the current length of the log, as the `from` of a later read. */
export function logLength(logFile: string): number {
  return withFile(logFile, 0, (fd) => fstatSync(fd).size);
}

function tailOf(logFile: string, from: number): string {
  return withFile(logFile, '', (fd) => {
    const { size } = fstatSync(fd);
    // A log that grew too long starts again at zero.
    const begin = Math.max(from > size ? 0 : from, size - MAX_BYTES);
    const bytes = Buffer.alloc(size - begin);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, begin));
  });
}

function withFile<T>(file: string, otherwise: T, use: (fd: number) => T): T {
  try {
    const fd = openSync(file, 'r');
    try {
      return use(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return otherwise;
  }
}
