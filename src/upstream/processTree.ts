import { type ChildProcess, execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RUN_MARKER } from './childEnvironment.ts';

/**
 * Ending a server with everything it started: end of input, then TERM, then KILL of its process group, in three
 * seconds at most (facts/reliability.md R9).
 */
const EOF_GRACE_MS = 500;
const TERM_GRACE_MS = 1_500;
/** KILL is not asked for leave; this is for the kernel to tidy up. */
const KILL_GRACE_MS = 500;
const POLL_MS = 20;

/** Ends a child that was spawned as the leader of its own group. */
export async function endChild(child: ChildProcess): Promise<void> {
  const pid = child.pid;
  if (pid === undefined) return;
  child.stdin?.end();
  if (process.platform === 'win32') {
    await waitUntil(() => child.exitCode !== null || child.signalCode !== null, EOF_GRACE_MS);
    await killWindowsTree(pid);
    return;
  }
  const gone = (): boolean => !groupExists(pid);
  if (await waitUntil(gone, EOF_GRACE_MS)) return;
  await endGroup(pid);
}

/** TERM, then KILL, to a group; its leader may be gone already. */
export async function endGroup(pid: number): Promise<void> {
  const gone = (): boolean => !groupExists(pid);
  signalGroup(pid, 'SIGTERM');
  if (await waitUntil(gone, TERM_GRACE_MS)) return;
  signalGroup(pid, 'SIGKILL');
  await waitUntil(gone, KILL_GRACE_MS);
}

/** Kills at once what a run left outside its groups (a server that made a session of its own). Linux tells by /proc. */
export async function killMarked(run: string): Promise<void> {
  for (const pid of await markedProcesses(run)) signal(pid, 'SIGKILL');
}

/**
 * Ends every process of a run whose worker is gone. Returns how many there were. A process that has ended and waits
 * for a lazy init to notice counts as gone: its group still exists, its environment does not.
 */
export async function endMarked(run: string, groups: readonly number[]): Promise<number> {
  const before = await markedProcesses(run);
  for (const pid of groups) signalGroup(pid, 'SIGTERM');
  for (const pid of before) signal(pid, 'SIGTERM');
  const deadline = performance.now() + TERM_GRACE_MS;
  let left = before;
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(POLL_MS);
    left = await markedProcesses(run);
  }
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
  for (const pid of left) signal(pid, 'SIGKILL');
  return before.length;
}

/** The processes that carry a run's marker in their environment. */
export async function markedProcesses(run: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const marker = Buffer.from(`${RUN_MARKER}=${run}\0`);
  const entries = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(
    entries.map(async (entry) => {
      // Another user's process, or one that has just ended: not ours either way.
      const environment = await readFile(`/proc/${entry}/environ`).catch(() => undefined);
      return environment && Buffer.concat([environment, Buffer.from('\0')]).includes(marker) ? [Number(entry)] : [];
    }),
  );
  return found.flat().filter((pid) => pid !== process.pid);
}

export function groupExists(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function signalGroup(pid: number, name: NodeJS.Signals): void {
  signal(-pid, name);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone in the meantime: that is what was wanted.
  }
}

export function killWindowsTree(pid: number): Promise<void> {
  return new Promise((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => resolve());
  });
}

async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  // Most often it is there at once.
  for (let pause = 1; !condition(); pause = Math.min(POLL_MS, pause * 2)) {
    if (performance.now() >= deadline) return false;
    await sleep(pause);
  }
  return true;
}
