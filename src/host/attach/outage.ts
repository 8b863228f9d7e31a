import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateJson, writePrivateJson } from '../../config/state/privateFile.ts';
import { isAlive } from '../../lib/isAlive.ts';
import type { HealthWithoutWorker } from '../../supervision/health.ts';

/** Beside the rendezvous: what a host knows of a worker that it cannot have, for whoever asks on the command line. */
const FILE = 'outage.json';
/** A host that lives has tried by then, and told again. */
const TOLD_AGAIN_MS = 60_000;
/** EX_UNAVAILABLE: a session ended without a worker, or a worker is asked about that cannot be had. */
export const EXIT_NO_WORKER = 69;

export function noteOutage(folder: string, health: HealthWithoutWorker): void {
  try {
    writePrivateJson(join(folder, FILE), { at: Date.now(), health });
  } catch {
    // A folder that cannot be written is one of the reasons; the session tells it itself.
  }
}

/** There is a worker. */
export function forgetOutage(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

/** As it stands now, also where the host that told it has gone: then nobody tries, and the reason may hold still. */
export function readOutage(folder: string, now = Date.now()): HealthWithoutWorker | undefined {
  const { at, health } = (readPrivateJson(join(folder, FILE)) ?? {}) as { at?: unknown; health?: unknown };
  if (typeof at !== 'number' || !isHealth(health)) return undefined;
  const { host_pid: host, next_attempt_in_ms: next = 0, ...told } = health;
  const waitedMs = Math.max(0, now - at);
  if (host !== undefined && isAlive(host) && waitedMs < next + TOLD_AGAIN_MS) {
    return { ...health, ...(next === 0 ? {} : { next_attempt_in_ms: Math.max(0, next - waitedMs) }) };
  }
  return { ...told, state: 'cold', supervision: 'idle' };
}

function isHealth(value: unknown): value is HealthWithoutWorker {
  if (typeof value !== 'object' || value === null) return false;
  const { problems, ...health } = value as Partial<HealthWithoutWorker>;
  const counts = [health.generation, health.consecutive_failures, health.restart_count];
  return counts.every(Number.isSafeInteger) && Array.isArray(problems);
}
