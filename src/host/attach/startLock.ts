import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unwritable } from '../../config/state/stateFolder.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { isFull } from '../../lib/writeWhole.ts';

const FILE = 'start.lock';
/** Longer than any worker takes to get ready; a lock of this age is abandoned. */
const STALE_AFTER_MS = 20_000;
const UNSIGNED_AFTER_MS = 1_000;

/**
 * Takes the lock that allows one host at a time to start the worker, so that twenty hosts do not start twenty workers.
 * The lock need not be perfect: a worker that the rendezvous file no longer names ends by itself.
 */
export function acquireStartLock(folder: string): (() => void) | undefined {
  return acquireLock(join(folder, FILE));
}

/**
 * Returns the function that releases the lock, or `undefined` while another process holds it. The lock of a killed
 * process is free.
 */
export function acquireLock(path: string): (() => void) | undefined {
  try {
    return create(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(dirname(path), error);
  }
  if (!isStale(path)) return undefined;
  rmSync(path, { force: true });
  try {
    return create(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(dirname(path), error);
    return undefined;
  }
}

function create(path: string): () => void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, String(process.pid));
  } catch (error) {
    // On a full disk the lock stays unsigned: it holds for a second, and a killed worker can return.
    if (!isFull(error)) {
      rmSync(path, { force: true });
      throw unwritable(dirname(path), error);
    }
  } finally {
    closeSync(fd);
  }
  return () => {
    const owner = ownerOf(path);
    if (owner === undefined || owner === process.pid) rmSync(path, { force: true });
  };
}

function isStale(path: string): boolean {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const owner = ownerOf(path);
    // A process killed between creating the file and writing its id holds the lock for a moment only.
    return age > STALE_AFTER_MS || (owner === undefined ? age > UNSIGNED_AFTER_MS : !isAlive(owner));
  } catch {
    // The lock was released meanwhile; the next attempt gets it.
    return false;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readOwnText(path), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
