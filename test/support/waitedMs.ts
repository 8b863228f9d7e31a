import { setTimeout as sleep } from 'node:timers/promises';

const PROBE_MS = 10;

/** Measures work that waits for timers, minus the delays of timers on a busy machine. */
export async function waitedMs(work: () => Promise<unknown>): Promise<number> {
  let late = 0;
  let done = false;
  const probe = async (): Promise<void> => {
    while (!done) {
      const asked = performance.now();
      await sleep(PROBE_MS);
      // Node's timers have whole milliseconds.
      late += Math.max(0, performance.now() - asked - PROBE_MS - 2);
    }
  };
  const started = performance.now();
  const probing = probe();
  await work();
  const took = performance.now() - started;
  done = true;
  await probing;
  return took - late;
}
