import { closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { unwritable } from '../../config/state/stateFolder.ts';
import { isAlive } from '../../lib/isAlive.ts';

const FILE = 'start.lock';
/** Longer than any worker takes to get ready; an older lock was left behind. */
const STALE_AFTER_MS = 20_000;
const UNSIGNED_AFTER_MS = 1_000;

/**
 * Decides who may start the worker now. The lock spares twenty hosts from starting twenty workers; it need not be
 * perfect, because a worker that finds itself no longer named in the rendezvous file steps down by itself.
 */
export function acquireStartLock(folder: string): (() => void) | undefined {
  return acquireLock(join(folder, FILE));
}

/** Returns what releases the lock, or undefined while another process holds it. A killed holder's lock is free. */
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
    rmSync(path, { force: true });
    throw unwritable(dirname(path), error);
  } finally {
    closeSync(fd);
  }
  return () => {
    if (ownerOf(path) === process.pid) rmSync(path, { force: true });
  };
}

function isStale(path: string): boolean {
  try {
    const age = Date.now() - statSync(path).mtimeMs;
    const owner = ownerOf(path);
    // One that was killed between making the file and writing its number holds it for a moment only.
    return age > STALE_AFTER_MS || (owner === undefined ? age > UNSIGNED_AFTER_MS : !isAlive(owner));
  } catch {
    // It went while we looked: whoever asks again finds it free.
    return false;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}
