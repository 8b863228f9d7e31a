import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../lib/isAlive.ts';
import type { Rendezvous } from '../../link/rendezvous.ts';
import { processStart } from '../../upstream/process/processStart.ts';
import { endLeftovers } from './leftovers.ts';

/** A worker leaves with its servers within three seconds. */
const TERM_GRACE_MS = 3_500;
const KILL_GRACE_MS = 500;
const POLL_MS = 20;

/** TERM, then KILL. */
export async function endProcess(pid: number): Promise<void> {
  for (const [signal, graceMs] of [
    ['SIGTERM', TERM_GRACE_MS],
    ['SIGKILL', KILL_GRACE_MS],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = performance.now() + graceMs;
    while (isAlive(pid) && performance.now() < deadline) await sleep(POLL_MS);
    if (!isAlive(pid)) return;
  }
}

/**
 * Ends a worker that listens and does not answer, with what it has started. Never one whose process cannot be told from
 * a later one of the same number.
 */
export async function endHungWorker(
  { pid, processStart: started }: Rendezvous,
  folder: string,
  log: (line: string) => void = () => undefined,
): Promise<void> {
  if (started === undefined || (await processStart(pid)) !== started) return;
  await endProcess(pid);
  log(`ended the worker ${pid}, which did not answer`);
  await endLeftovers(folder);
}
