import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';

/** Interval at which the holder touches its file. */
const HEARTBEAT_MS = 2_000;
/** Age at which a lock is stale, also if its holder runs in another container that shares the folder. */
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

/** Removes a lock whose holder is dead, unless another process has just replaced it. */
function removeIfStale(/** @type {string} */ file) {
  try {
    const seen = readFileSync(file, 'utf8');
    if (!ownerIsDead(seen) && Date.now() - statSync(file).mtimeMs < STALE_MS) return;
    const aside = `${file}.${process.pid}`;
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') === seen) rmSync(aside);
    else renameSync(aside, file);
  } catch {
    // The holder released it in the meantime.
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
    // While the machine slept, another process may have taken the lock over.
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
