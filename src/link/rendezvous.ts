import { closeSync, ftruncateSync, openSync, rmSync, statSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnText } from '../lib/readBounded.ts';
import { isFull, writeWhole } from '../lib/writeWhole.ts';

/**
 * Rendezvous file, by which a host, the editor and the command line find a workspace's worker. It contains the socket
 * and its token, so only its owner may read it (0600, in a folder of mode 0700).
 */
export interface Rendezvous {
  /** Version of the private link, which must be equal at both ends. */
  link: number;
  pid: number;
  socket: string;
  token: string;
  version: string;
  build: string;
  startedAt: number;
  /** Start time of the process as the system reports it: a process id alone may belong to another process by now. */
  processStart?: string;
}

export const LINK_VERSION = 1;
const FILE = 'worker.json';

export function readRendezvous(folder: string): Rendezvous | undefined {
  try {
    const value: unknown = JSON.parse(readOwnText(join(folder, FILE)));
    return isRendezvous(value) ? value : undefined;
  } catch {
    // The file is absent, incomplete or foreign: there is no worker to find.
    return undefined;
  }
}

/**
 * Replaces the file in one step: a reader sees the old file or the new one. On a full disk, writes into the file that a
 * killed worker has left, which needs no space.
 */
export function publishRendezvous(folder: string, rendezvous: Rendezvous): void {
  const file = join(folder, FILE);
  const text = `${JSON.stringify(rendezvous)}\n`;
  try {
    writeWhole(file, text, { mode: 0o600, sync: true });
  } catch (error) {
    if (!isFull(error)) throw error;
    const fd = openSync(file, 'r+');
    try {
      const written = writeSync(fd, text, 0);
      ftruncateSync(fd, written);
      // A part of the text names no worker.
      if (written < Buffer.byteLength(text)) throw error;
    } finally {
      closeSync(fd);
    }
  }
}

/** Removes the file if it still contains this token. A successor's file stays. */
export function withdrawRendezvous(folder: string, token: string): void {
  if (readRendezvous(folder)?.token === token) rmSync(join(folder, FILE), { force: true });
}

/**
 * Sets the time of the file. A worker does so only while its event loop runs, which distinguishes a busy worker from one
 * that hangs.
 */
export function beat(folder: string): void {
  try {
    const now = new Date();
    utimesSync(join(folder, FILE), now, now);
  } catch {
    // The next check finds out that the file is gone.
  }
}

/**
 * Returns a function that reports whether the worker which is published now has beaten since the last call. A change of
 * the time counts, and not its value, because clocks jump.
 */
export function heartbeat(folder: string): () => boolean {
  const read = () => statSync(join(folder, FILE), { throwIfNoEntry: false });
  // A successor's file is another one.
  const file = read();
  let last = file?.mtimeMs;
  return () => {
    const now = read();
    const hasBeaten = now !== undefined && now.ino === file?.ino && now.mtimeMs !== last;
    last = now?.mtimeMs;
    return hasBeaten;
  };
}

function isRendezvous(value: unknown): value is Rendezvous {
  if (typeof value !== 'object' || value === null) return false;
  const candidate = value as Record<string, unknown>;
  return (
    typeof candidate.link === 'number' &&
    Number.isInteger(candidate.pid) &&
    (candidate.pid as number) > 0 &&
    ['socket', 'token', 'version', 'build'].every((key) => typeof candidate[key] === 'string') &&
    typeof candidate.startedAt === 'number'
  );
}
