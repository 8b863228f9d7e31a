import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';

export interface WriteOptions {
  /** Mode of the new file. The default is Node's. */
  mode?: number;
  /** Flushes to disk before the rename, for files that others act on at once. */
  sync?: boolean;
}

/**
 * Replaces a file in one step: readers see the old content or the new one, however many processes write it. If the
 * rename fails, the temporary file is removed and the caller gets the error.
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

/** Returns whether a write failed because the disk, or the user's share of it, is full. */
export function isFull(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT';
}

/**
 * Returns the process that is writing, or was killed while writing, the file of this name; `undefined` for any other
 * file.
 */
export function writerOf(name: string): number | undefined {
  const pid = /\.(\d+)\.[0-9a-f]{8}\.new$/.exec(name)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
