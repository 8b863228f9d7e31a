import { join } from 'node:path';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import { readPrivateJson, writePrivateJson } from '../../config/state/privateFile.ts';
import type { HealthWithoutWorker } from '../../control/healthContract.ts';
import type { Fault } from '../../errors/fault.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { acquireLock } from './startLock.ts';

const FILE = 'lastWorker.json';
/** Updates take a few milliseconds and are rare. */
const POLL_MS = 5;
/** A process that is paused in the middle of an update costs others at most this. */
const LOCK_LIMIT_MS = 5_000;
/** Within this time a living host tries again and reports the outage anew. */
const REPORTED_AGAIN_MS = 60_000;
/** EX_UNAVAILABLE: a session ended without a worker, or no worker can be had to ask. */
export const EXIT_NO_WORKER = 69;

/**
 * Knowledge of the workspace's last worker, kept in the state folder for the next worker and for the command line while
 * none serves. One private file.
 */
export interface LastWorker {
  /** Number of workers so far, of restarts, and of losses in a row. */
  generation: number;
  restarts: number;
  failures: number;
  lastFault?: Fault | undefined;
  /** An editor was watching, as far as the worker knew. */
  watched?: boolean | undefined;
  /** Configuration texts that were in force, by file. */
  configuration?: KeptTexts | undefined;
  /** Report of a host that has found no worker since. */
  outage?: { at: number; health: HealthWithoutWorker } | undefined;
}

export function readLastWorker(folder: string): LastWorker {
  const read = (readPrivateJson(join(folder, FILE)) ?? {}) as Partial<LastWorker>;
  const counts = [read.generation, read.restarts, read.failures];
  const isCounted = counts.every((count) => Number.isSafeInteger(count) && (count as number) >= 0);
  return { ...read, ...(isCounted ? {} : { generation: 0, restarts: 0, failures: 0 }) } as LastWorker;
}

/** Changes some fields. A lock orders hosts and workers that write at the same time. Never throws. */
export function updateLastWorker(
  folder: string,
  change: (before: LastWorker) => Partial<LastWorker>,
  onFailed: (error: Error) => void = () => undefined,
): LastWorker {
  let after = readLastWorker(folder);
  try {
    exclusively(join(folder, `${FILE}.lock`), () => {
      const before = readLastWorker(folder);
      after = { ...before, ...change(before) };
      writePrivateJson(join(folder, FILE), after);
    });
  } catch (error) {
    // If the write fails, the worker continues without the record.
    onFailed(error as Error);
    after = { ...after, ...change(after) };
  }
  return after;
}

export function noteOutage(folder: string, health: HealthWithoutWorker): void {
  updateLastWorker(folder, () => ({ outage: { at: Date.now(), health } }));
}

/** Forgets the outage: a worker is available again. */
export function forgetOutage(folder: string): void {
  if (readLastWorker(folder).outage) updateLastWorker(folder, () => ({ outage: undefined }));
}

/** Returns the outage as of now. If its host has ended, no process tries again, but the reason may still hold. */
export function readOutage(folder: string, now = Date.now()): HealthWithoutWorker | undefined {
  const { at, health } = (readLastWorker(folder).outage ?? {}) as { at?: unknown; health?: unknown };
  if (typeof at !== 'number' || !isHealth(health)) return undefined;
  const { host_pid: host, next_attempt_in_ms: next = 0, ...known } = health;
  const waitedMs = Math.max(0, now - at);
  if (host !== undefined && isAlive(host) && waitedMs < next + REPORTED_AGAIN_MS) {
    return { ...health, ...(next === 0 ? {} : { next_attempt_in_ms: Math.max(0, next - waitedMs) }) };
  }
  return { ...known, state: 'cold', supervision: 'idle' };
}

function isHealth(value: unknown): value is HealthWithoutWorker {
  if (typeof value !== 'object' || value === null) return false;
  const { problems, ...health } = value as Partial<HealthWithoutWorker>;
  const counts = [health.generation, health.consecutive_failures, health.restart_count];
  return counts.every(Number.isSafeInteger) && Array.isArray(problems);
}

/** Runs under a lock. Throws if another process holds it for too long: the caller blocks its event loop meanwhile. */
function exclusively(lock: string, run: () => void): void {
  const deadline = performance.now() + LOCK_LIMIT_MS;
  let release = acquireLock(lock);
  for (; !release; release = acquireLock(lock)) {
    if (performance.now() > deadline) throw new Error(`${lock} is held by another process.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, POLL_MS);
  }
  try {
    run();
  } finally {
    release();
  }
}
