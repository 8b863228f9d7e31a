import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 5_000;

const onWindows = process.platform === 'win32';

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/** Set by a signal. Children that end from then on were ended by this process and are no failures. */
let leaving = false;

/**
 * Starts a program without input, in a process group of its own, so that it can be ended with all its children.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 */
export function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], ...options, detached: !onWindows });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>} the exit code, or 128 + the number of the signal that ended it, as shells have it.
 *   Never resolves once a signal ends this process.
 */
export function exitCode(child) {
  if (child.exitCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      if (!leaving) resolve(code ?? 128 + (signal ? constants.signals[signal] : 0));
    });
  });
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** @param {number} pid */
function groupLives(pid) {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Ends a child that `start` made, and everything in its process group.
 * @param {import('node:child_process').ChildProcess} child
 */
export async function endGroup(child, graceMs = GRACE_MS) {
  const { pid } = child;
  if (pid === undefined) return;
  if (onWindows) {
    const killer = spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
    await new Promise((resolve) => killer.once('close', resolve).once('error', resolve));
    return;
  }
  signalGroup(pid, 'SIGTERM');
  const deadline = Date.now() + graceMs;
  while (groupLives(pid) && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50));
  signalGroup(pid, 'SIGKILL');
}

/** Ends every child that `start` made and that still runs. */
export async function endAll() {
  await Promise.all([...running].map((child) => endGroup(child)));
}

/**
 * Ends every child, then this process, on Ctrl-C and similar signals.
 * @param {number} [code] exit code; by default the one that a shell expects after the signal
 */
export function leaveTogether(code) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, async () => {
      if (leaving) return;
      leaving = true;
      await endAll();
      process.exit(code ?? 128 + constants.signals[signal]);
    });
  }
}
