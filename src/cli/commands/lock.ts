import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlClient } from '../../control/client.ts';
import type { ServerListing, TrustItem } from '../../control/trustContract.ts';
import type { GatewayTarget } from '../../host/attach/startWorker.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import { count } from '../../text/porcelain.ts';
import { DRIFT_KINDS } from '../../trust/pins/drift.ts';
import { type LockedServers, lockFileOf, readLockFile, writeLock } from '../../trust/pins/lockFile.ts';
import { readableItem, reviewOf } from '../../trust/pins/review.ts';
import type { LockCommand } from '../commands.ts';
import { print, printNext, printProblem } from '../print.ts';
import { withSettledGateway } from '../settledGateway.ts';
import { patchOf, shownText } from '../trustReview.ts';

/** Exit code of `--check` when a definition differs, so that a script can distinguish drift from an error. */
const DRIFT = 10;
/** Starts servers like `--run`, for CI systems that pass no arguments. */
const RUN_VARIABLE = 'WAYGATE_LOCK_RUN';

/** Difference between the lock file and what a server lists. */
interface DriftEntry extends Pick<TrustItem, 'key' | 'notes'> {
  server: string;
  /** Kinds of change, or `new`, `gone` and `moved`. */
  kinds: readonly string[];
  movedFrom?: string;
  diff: string;
}

/** Writes the lock file from what the servers of the workspace list now, or compares it with that (T3). */
export async function lock({ check, run, json, ...target }: LockCommand): Promise<number> {
  const file = lockFileOf(target.workspace, target.configFile);
  const before = lockedIn(file, target.workspace, check);
  const listings = await listingsOf(target, run || process.env[RUN_VARIABLE] === '1');
  const drift = driftBetween(before ?? {}, listings);
  const problems = listings.flatMap(({ server, reason }) => (reason === undefined ? [] : [{ server, reason }]));
  for (const { server, reason } of problems) {
    const remedy = run ? '' : ' In CI, waygate lock --run starts it for this run alone.';
    printProblem(`${shownText(server)} was not listed: ${shownText(reason)}${remedy}`);
  }
  const text = drift.map(textOf).join('\n');
  const summary = drift.length === 0 ? 'nothing differs' : `${count(drift.length, 'item')} of the servers differ`;
  if (check) {
    print(json, { file, drift, problems }, `${text}${file}: ${summary}.\n`);
    return problems.length > 0 ? 1 : drift.length > 0 ? DRIFT : 0;
  }
  if (listings.length === 0) throw new Error(`no server of ${target.workspace} can be locked, so nothing was written.`);
  if (problems.length > 0) throw new Error(`${file} was not written, because a server could not be listed.`);
  // A disabled server keeps what is locked of it.
  const kept = listings.map(({ server, disabled, items }) => [server, disabled ? before?.[server] : items]);
  const servers: LockedServers = Object.fromEntries(kept.filter(([, items]) => items !== undefined));
  writeWhole(file, writeLock(servers));
  const total = Object.values(servers).reduce((sum, items) => sum + items.length, 0);
  print(
    json,
    { file, drift, items: total },
    `${text}Wrote ${file}: ${count(total, 'item')}, ${summary} from before.\n`,
  );
  printNext(json, 'commit it; waygate lock --check compares in CI.');
  return 0;
}

/** Reads the lock file. A check needs one that can be used; a new one replaces any. */
function lockedIn(file: string, workspace: string, check: boolean): LockedServers | undefined {
  try {
    const locked = readLockFile(file, workspace);
    if (!locked && check) throw new Error(`there is no ${file}; write it with waygate lock.`);
    return locked;
  } catch (error) {
    if (check) throw error;
    printProblem((error as Error).message);
    return undefined;
  }
}

async function listingsOf(target: GatewayTarget, run: boolean): Promise<readonly ServerListing[]> {
  const list = (control: ControlClient): Promise<readonly ServerListing[]> => control.request('listing', {});
  if (!run) return withSettledGateway(target, list);
  // Approvals for this run alone are in a state of their own, and so is the user's configuration.
  const root = mkdtempSync(join(tmpdir(), 'waygate-lock-'));
  try {
    const [stateDir, config] = [join(root, 'state'), join(root, 'config')];
    for (const folder of [stateDir, config]) mkdirSync(folder, { mode: 0o700 });
    const env = { ...process.env, WAYGATE_STATE_DIR: stateDir, WAYGATE_CONFIG_DIR: config };
    const listAndStop = async (control: ControlClient): Promise<readonly ServerListing[]> => {
      const closed = new Promise<void>((resolve) => control.onClose(() => resolve()));
      try {
        return await list(control);
      } finally {
        await control.request('stop', {});
        await closed;
      }
    };
    return await withSettledGateway(target, listAndStop, { elsewhere: { stateDir, env }, before: approveAll });
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

async function approveAll(control: ControlClient): Promise<void> {
  const { servers } = await control.request('status', {});
  await control.request('approve', { hashes: servers.flatMap(({ approval }) => approval?.hash ?? []) });
}

function driftBetween(locked: LockedServers, listings: readonly ServerListing[]): DriftEntry[] {
  const listed = new Map(listings.map((listing) => [listing.server, listing]));
  const drift = [...new Set([...Object.keys(locked), ...listed.keys()])].sort().flatMap((server) => {
    const { items, disabled, reason } = listed.get(server) ?? { items: [], disabled: false };
    // Nothing is known about a server that was not listed.
    if (disabled || reason !== undefined) return [];
    const before = Object.hasOwn(locked, server) ? (locked[server] ?? []) : [];
    const pins = Object.fromEntries(before.map(({ key, pin }) => [key, pin]));
    const texts = Object.fromEntries(before.map(({ pin, raw }) => [pin, raw]));
    const review = reviewOf(items, { pins, blocked: [] }, texts);
    return review.items.map(({ key, state, drift, movedFrom, before: old, after }): DriftEntry => {
      const change = drift?.kinds.filter((kind) => !movedFrom || kind !== 'harmless') ?? [];
      const diff = patchOf({ before: readableItem(old), after: readableItem(after) }, 'locked', 'listed now');
      const kinds = movedFrom ? ['moved', ...change] : state === 'changed' ? change : [state];
      return { server, key, kinds, notes: drift?.notes ?? [], ...(movedFrom && { movedFrom }), diff };
    });
  });
  return drift.sort((a, b) => gravity(a) - gravity(b));
}

const GRAVITY: readonly string[] = ['gone', ...DRIFT_KINDS.slice(0, 2), 'moved', 'new', ...DRIFT_KINDS.slice(2)];
const gravity = ({ kinds }: DriftEntry): number => Math.min(...kinds.map((kind) => GRAVITY.indexOf(kind)));

function textOf({ server, key, kinds, notes, movedFrom, diff }: DriftEntry): string {
  const from = movedFrom === undefined ? '' : `, moved to another name from ${shownText(movedFrom)}`;
  const head = `${kinds.join(', ')}: ${shownText(`${server} ${key}`)}${from}\n`;
  return `${head}${notes.map((note) => `  ${shownText(note)}\n`).join('')}${diff}`;
}
