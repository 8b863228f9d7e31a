import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../lib/writeWhole.ts';

/**
 * The rendezvous file: how a host, the editor and the command line find a workspace's worker. It names the socket and
 * holds the token that opens it, so only its owner may read it (0600, in a folder that is 0700).
 */
export interface Rendezvous {
  /** The version of the private link: both ends must speak the same. */
  link: number;
  pid: number;
  socket: string;
  token: string;
  version: string;
  build: string;
  startedAt: number;
  /** When its process started, as the system tells it: a number alone may be another process's by now. */
  processStart?: string;
}

export const LINK_VERSION = 1;
const FILE = 'worker.json';

export function readRendezvous(folder: string): Rendezvous | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'));
    return isRendezvous(value) ? value : undefined;
  } catch {
    // Absent, half gone or not ours: in every case there is nothing to find here.
    return undefined;
  }
}

/** Replaces the file in one step: a reader sees the old one or the new one. */
export function publishRendezvous(folder: string, rendezvous: Rendezvous): void {
  writeWhole(join(folder, FILE), `${JSON.stringify(rendezvous)}\n`, { mode: 0o600, sync: true });
}

/** Takes the file away if it still names this token: a successor's file stays. */
export function withdrawRendezvous(folder: string, token: string): void {
  if (readRendezvous(folder)?.token === token) rmSync(join(folder, FILE), { force: true });
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
