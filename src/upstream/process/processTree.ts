import { type ChildProcess, execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { RUN_MARKER, safeEnvironment } from './childEnvironment.ts';

/**
 * Ends a server with all its descendants: end of input, TERM and KILL of its process group, then TERM and KILL of
 * processes that left the group, within three seconds (O1.6).
 */
const EOF_GRACE_MS = 500;
const TERM_GRACE_MS = 1_500;
/** Time for the kernel to remove killed processes. */
const KILL_GRACE_MS = 500;
/** Shorter, because the server already had its time to end them. */
const STRAY_GRACE_MS = 600;
const POLL_MS = 20;
/** Equals the threads of Node's file pool, so that other reads do not wait behind hundreds. */
const READERS = 4;
const MARK = new RegExp(`(?:^|\0)${RUN_MARKER}=([^\0]*)`);

/** Ends a child that leads its own group. Returns whether KILL was necessary. */
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

/** Sends TERM, then KILL, to a group, even after its leader has ended. Returns whether KILL was necessary. */
export async function endGroup(pid: number): Promise<boolean> {
  const gone = (): boolean => !groupExists(pid);
  signalGroup(pid, 'SIGTERM');
  if (await waitUntil(gone, TERM_GRACE_MS)) return false;
  signalGroup(pid, 'SIGKILL');
  await waitUntil(gone, KILL_GRACE_MS);
  return true;
}

/**
 * Ends processes that an ended server left outside its group. Kills them at once if the server was killed, so that they
 * do not delay its successor. Requires /proc of Linux.
 */
export async function endStrays(mark: string, serverWasKilled: boolean): Promise<void> {
  if (serverWasKilled) await killMarked(mark);
  else await endMarked(mark, { graceMs: STRAY_GRACE_MS });
}

/** Sends KILL to every process of a start or a run. */
export async function killMarked(mark: string): Promise<void> {
  const killed = async (): Promise<boolean> => {
    const found = await markedProcesses(mark);
    for (const pid of found) signal(pid, 'SIGKILL');
    return found.length === 0;
  };
  // Repeat until the scan is empty: a scan misses processes that start meanwhile.
  await waitUntil(killed, KILL_GRACE_MS);
}

/**
 * Sends TERM, then KILL, to every process of a start or a run, and to the given groups. Returns the number of
 * processes. A zombie counts as ended: its group still exists, but its environment does not.
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
  // Includes processes that they have started meanwhile.
  if (found.length > 0) await killMarked(mark);
  return found.length;
}

/** Returns the processes with the mark of a start, or of any start of a run. */
export async function markedProcesses(mark: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  return [...(await allMarks())].filter(([, carried]) => isPartOf(carried, mark)).map(([pid]) => pid);
}

let latestLook: Promise<unknown> = Promise.resolve();
let nextLook: Promise<ReadonlyMap<number, string>> | undefined;

/** Scans all processes once for all callers that wait, because a worker ends all its servers at the same time. */
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
  // Fails for processes of other users and for ended ones; neither is relevant.
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return MARK.exec(environment)?.[1];
}

async function noneMarked(pids: readonly number[], mark: string): Promise<boolean> {
  const carried = await Promise.all(pids.map(markOf));
  return !carried.some((it) => it !== undefined && isPartOf(it, mark));
}

/** Tests whether a mark equals another or extends it, because the run's id is the prefix of its starts. */
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
    // The process has already ended.
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
  // Begin with short pauses: most conditions hold at once.
  for (let pause = 1; !(await condition()); pause = Math.min(POLL_MS, pause * 2)) {
    if (performance.now() >= deadline) return false;
    await sleep(pause);
  }
  return true;
}
