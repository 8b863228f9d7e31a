import { watch } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Editors and Git write several files at once: one build serves all changes within this time. */
const SETTLE_MS = 100;

/**
 * Runs `work` now and after every change below the given files and folders. Runs never overlap; changes during a run
 * lead to one more.
 * @param {readonly string[]} paths
 * @param {() => Promise<unknown>} work
 * @returns {() => void} ends the watching
 */
export function runOnChange(paths, work) {
  let stale = true;
  let running = false;
  const run = async () => {
    stale = true;
    if (running) return;
    running = true;
    while (stale) {
      await pause(SETTLE_MS);
      stale = false;
      await work();
    }
    running = false;
  };
  const watchers = paths.map((path) => watch(path, { recursive: true }, run));
  void run();
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}
