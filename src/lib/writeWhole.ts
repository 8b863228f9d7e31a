import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export interface WriteOptions {
  /** What a new file has by itself, without it. */
  mode?: number;
  /** On the disk before it has its name: for what others act on at once. */
  sync?: boolean;
}

/**
 * Replaces a file in one step: whoever reads it sees the old content or the new one, however many processes write it.
 * What could not be put in its place is taken away again, and the error is the caller's.
 */
export function writeWhole(file: string, content: string | Uint8Array, options: WriteOptions = {}): void {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
  try {
    const fd = openSync(temporary, 'wx', options.mode);
    try {
      writeFileSync(fd, content);
      if (options.sync) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The process that is writing, or was killed as it wrote, what has this name; `undefined` for any other file. */
export function writerOf(name: string): number | undefined {
  const pid = /\.(\d+)\.[0-9a-f]{8}\.new$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
