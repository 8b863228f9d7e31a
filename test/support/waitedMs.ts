import { setTimeout as sleep } from 'node:timers/promises';

const PROBE_MS = 10;

/** How long some work took that waits for timers, less what a busy machine was late with them. */
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
