import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** The holder touches its file this often … */
const HEARTBEAT_MS = 2_000;
/** … and who finds it untouched for so long takes it to be dead (a folder may be shared with another container). */
const STALE_MS = 30_000;
const RETRY_MS = 100;

/** @param {string} text */
function ownerIsDead(text) {
  try {
    const { pid, host } = JSON.parse(text);
    if (host !== hostname()) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'ESRCH';
  }
}

/** Takes away a lock whose holder is dead, and only that one: somebody else may have done the same just before. */
function removeIfStale(/** @type {string} */ file) {
  try {
    const seen = readFileSync(file, 'utf8');
    if (!ownerIsDead(seen) && Date.now() - statSync(file).mtimeMs < STALE_MS) return;
    const aside = `${file}.${process.pid}`;
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') === seen) rmSync(aside);
    else renameSync(aside, file);
  } catch {
    // It was released in the meantime.
  }
}

/**
 * Runs `work` while no other process runs under the same lock file.
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {() => void} [onWait] called once when another process holds the lock
 * @returns {Promise<T>}
 */
export async function withLock(file, work, onWait = () => {}) {
  mkdirSync(dirname(file), { recursive: true });
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), at: Date.now() });
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(file, mine, { flag: 'wx' });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    if (!waited) onWait();
    removeIfStale(file);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  const stillMine = () => existsSync(file) && readFileSync(file, 'utf8') === mine;
  const heartbeat = setInterval(() => {
    // A machine that slept for a while may wake to find that another process took the lock over.
    if (stillMine()) utimesSync(file, new Date(), new Date());
  }, HEARTBEAT_MS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (stillMine()) rmSync(file, { force: true });
  }
}
