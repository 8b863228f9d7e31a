import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../../lib/isAlive.ts';
import type { Rendezvous } from '../../link/rendezvous.ts';
import { processStart } from '../../upstream/process/processStart.ts';
import { endLeftovers } from './leftovers.ts';

/** A worker needs at most three seconds to end itself and its servers. */
const TERM_GRACE_MS = 3_500;
const KILL_GRACE_MS = 500;
const POLL_MS = 20;

/** Sends SIGTERM, then SIGKILL if the process survives. */
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
 * Kills a worker that does not answer, without a grace: a blocked process handles no signal. Resolves to whether the
 * process has ended; false where nothing proves that the process id still belongs to that worker.
 */
export async function killSilentWorker({ pid, processStart: started }: Rendezvous): Promise<boolean> {
  const runs = async (): Promise<boolean> => (await processStart(pid)) === started;
  if (started === undefined || !(await runs())) return false;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
  const deadline = performance.now() + KILL_GRACE_MS;
  while ((await runs()) && performance.now() < deadline) await sleep(POLL_MS);
  return !(await runs());
}

/**
 * Ends a worker that listens but does not answer, and the processes it started. Does nothing unless the start time
 * proves that the process id still belongs to that worker.
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
