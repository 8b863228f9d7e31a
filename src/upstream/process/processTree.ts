import { type ChildProcess, execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RUN_MARKER, safeEnvironment } from './childEnvironment.ts';

/**
 * Ends a server with everything it started: end of input, TERM, KILL of its process group, then TERM and KILL of
 * processes that left the group, in at most three seconds (O1.6).
 */
const EOF_GRACE_MS = 500;
const TERM_GRACE_MS = 1_500;
/** KILL is not asked for leave; this is for the kernel to tidy up. */
const KILL_GRACE_MS = 500;
/** The server that should have ended them had its time. */
const STRAY_GRACE_MS = 600;
const POLL_MS = 20;
/** No more than the threads that read files for all of us: nobody else's file is to wait behind hundreds. */
const READERS = 4;
const MARK = new RegExp(`(?:^|\0)${RUN_MARKER}=([^\0]*)`);

/** Ends a child that was spawned as the leader of its own group. Returns whether it or its group was killed. */
export async function endChild(child: ChildProcess): Promise<boolean> {
  const pid = child.pid;
  if (pid === undefined) return false;
  child.stdin?.end();
  if (process.platform === 'win32') {
    await waitUntil(() => child.exitCode !== null || child.signalCode !== null, EOF_GRACE_MS);
    await killWindowsTree(pid);
    return true;
  }
  const gone = (): boolean => !groupExists(pid);
  const wentByItself = (await waitUntil(gone, EOF_GRACE_MS)) || !(await endGroup(pid));
  return !wentByItself || child.signalCode === 'SIGKILL';
}

/** TERM, then KILL, to a group; its leader may be gone already. Returns whether it was killed. */
export async function endGroup(pid: number): Promise<boolean> {
  const gone = (): boolean => !groupExists(pid);
  signalGroup(pid, 'SIGTERM');
  if (await waitUntil(gone, TERM_GRACE_MS)) return false;
  signalGroup(pid, 'SIGKILL');
  await waitUntil(gone, KILL_GRACE_MS);
  return true;
}

/**
 * Ends what a server that has ended left outside its group (it made a session of its own). Where that was killed this is
 * too: what ends slowly is in its successor's way. Linux tells by /proc.
 */
export async function endStrays(mark: string, serverWasKilled: boolean): Promise<void> {
  if (serverWasKilled) await killMarked(mark);
  else await endMarked(mark, { graceMs: STRAY_GRACE_MS });
}

/** KILL, at once, to every process of a start or of a whole run. */
export async function killMarked(mark: string): Promise<void> {
  const killed = async (): Promise<boolean> => {
    const found = await markedProcesses(mark);
    for (const pid of found) signal(pid, 'SIGKILL');
    return found.length === 0;
  };
  // Until a look finds nobody: what one of them started as it was looked for was not seen.
  await waitUntil(killed, KILL_GRACE_MS);
}

/**
 * TERM, then KILL, to every process of a start or of a whole run, and to groups of theirs. Returns how many processes
 * there were. One that has ended and waits for a lazy init to notice counts as gone: its group still exists, its
 * environment does not.
 */
export async function endMarked(
  mark: string,
  { groups = [], graceMs = TERM_GRACE_MS }: { groups?: readonly number[]; graceMs?: number } = {},
): Promise<number> {
  const found = await markedProcesses(mark);
  for (const pid of groups) signalGroup(pid, 'SIGTERM');
  for (const pid of found) signal(pid, 'SIGTERM');
  await waitUntil(() => noneMarked(found, mark), graceMs);
  for (const pid of groups) signalGroup(pid, 'SIGKILL');
  // Also what they have started since.
  if (found.length > 0) await killMarked(mark);
  return found.length;
}

/** The processes that carry the mark of a start, or of any start of a run. */
export async function markedProcesses(mark: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  return [...(await allMarks())].filter(([, carried]) => isPartOf(carried, mark)).map(([pid]) => pid);
}

let latestLook: Promise<unknown> = Promise.resolve();
let nextLook: Promise<ReadonlyMap<number, string>> | undefined;

/** One look at all processes serves all who ask before it begins: a worker that leaves ends all its servers at once. */
function allMarks(): Promise<ReadonlyMap<number, string>> {
  if (nextLook) return nextLook;
  const look = latestLook.then(() => {
    nextLook = undefined;
    return readMarks();
  });
  nextLook = look;
  latestLook = look;
  return look;
}

async function readMarks(): Promise<ReadonlyMap<number, string>> {
  const entries = await readdir('/proc').catch(() => []);
  const marks = new Map<number, string>();
  const pids = entries
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => pid !== process.pid)
    .values();
  const reader = async (): Promise<void> => {
    for (const pid of pids) {
      const mark = await markOf(pid);
      if (mark !== undefined) marks.set(pid, mark);
    }
  };
  await Promise.all(Array.from({ length: READERS }, reader));
  return marks;
}

async function markOf(pid: number): Promise<string | undefined> {
  // Another user's process, or one that has just ended: not ours either way.
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return MARK.exec(environment)?.[1];
}

async function noneMarked(pids: readonly number[], mark: string): Promise<boolean> {
  const carried = await Promise.all(pids.map(markOf));
  return !carried.some((it) => it !== undefined && isPartOf(it, mark));
}

/** A run's mark stands at the beginning of those of its starts. */
function isPartOf(carried: string, mark: string): boolean {
  return carried === mark || carried.startsWith(`${mark}.`);
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
    const options = { windowsHide: true, env: safeEnvironment(process.env) };
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], options, () => resolve());
  });
}

async function waitUntil(condition: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  // Most often it is there at once.
  for (let pause = 1; !(await condition()); pause = Math.min(POLL_MS, pause * 2)) {
    if (performance.now() >= deadline) return false;
    await sleep(pause);
  }
  return true;
}
