import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPrivateJson, writePrivateJson } from '../../config/state/privateFile.ts';
import type { ControlClient } from '../../control/client.ts';
import { BUILD, compareBuilds } from '../../lib/build.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { LINK_VERSION, type Rendezvous, readRendezvous } from '../../link/rendezvous.ts';
import { tryAttach } from './attach.ts';
import { endLeftovers } from './leftovers.ts';
import { acquireStartLock } from './startLock.ts';
import { type GatewayRuntime, gatewayFolder, startWorker, WorkerUnavailableError } from './startWorker.ts';

export type Rollout =
  | { kind: 'done'; pid: number; replaced: number }
  /** Nothing runs that could be replaced; what is asked next starts one. */
  | { kind: 'nothing_runs' }
  /** Somebody else has done it. */
  | { kind: 'current' };

export interface RolloutOptions {
  /** The gateway's folder in the state, where it is known. */
  folder?: string;
  /** Only where the worker is of an older build than ours. */
  onlyOlder?: boolean;
}

/** There was nothing left to be replaced: whoever asks next starts another worker. */
export class IncumbentLostError extends WorkerUnavailableError {}

/** Somebody else starts a worker, or replaces one: longer than that takes. */
const LOCK_TIMEOUT_MS = 25_000;
const POLL_MS = 25;
/** A worker that hangs need not be told what is prepared beside it. */
const TELL_TIMEOUT_MS = 1_000;

/**
 * Replaces the worker: prepares a new one beside it, switches in one step when the new one is ready, and lets the old
 * one finish (O6.4). Rejects with one sentence where the new one fails; the old one continues (O6.5).
 */
export async function rollOut(runtime: GatewayRuntime, options: RolloutOptions = {}): Promise<Rollout> {
  const folder = options.folder ?? gatewayFolder(runtime);
  const asked = readRendezvous(folder);
  if (!asked) return { kind: 'nothing_runs' };
  const release = await lock(folder);
  try {
    const incumbent = readRendezvous(folder);
    if (!incumbent || !isAlive(incumbent.pid)) return { kind: 'nothing_runs' };
    // Somebody else has replaced it since this was asked for.
    if (incumbent.token !== asked.token && incumbent.build === BUILD) {
      return { kind: 'done', pid: incumbent.pid, replaced: asked.pid };
    }
    const order = incumbent.link > LINK_VERSION ? 1 : compareBuilds(incumbent.build, BUILD);
    if (options.onlyOlder && order >= 0) return { kind: 'current' };
    if (order > 0) {
      throw new WorkerUnavailableError(
        `A newer Waygate (${incumbent.version}) serves this workspace; reload it with that version.`,
      );
    }
    const failed = options.onlyOlder ? failedLately(folder) : undefined;
    if (failed !== undefined) throw new WorkerUnavailableError(failed);
    const told = await tellOf(folder, incumbent);
    const lost = new AbortController();
    told?.onClose(() => {
      // One that has given way goes too.
      if (readRendezvous(folder)?.token !== incumbent.token) return;
      lost.abort(new IncumbentLostError(`the one that served (pid ${incumbent.pid}) ended meanwhile.`));
    });
    try {
      const pid = await replace(runtime, folder, incumbent, lost.signal);
      return { kind: 'done', pid, replaced: incumbent.pid };
    } finally {
      // Now it looks who is named.
      told?.dispose();
    }
  } finally {
    release();
  }
}

async function replace(
  runtime: GatewayRuntime,
  folder: string,
  incumbent: Rendezvous,
  signal: AbortSignal,
): Promise<number> {
  let pid: number;
  try {
    pid = await startWorker(runtime, folder, { candidate: true, signal });
  } catch (error) {
    // Whoever waits for a worker waits for this to end: that says nothing of the new build.
    if (signal.aborted) throw signal.reason;
    noteFailure(folder, incumbent.build, error);
    await endLeftovers(folder);
    throw error;
  }
  const found = await tryAttach(folder, { kind: 'control', start: false, holds: false }, undefined);
  found.socket?.destroy();
  if (found.socket && found.token !== incumbent.token) {
    forgetFailure(folder);
    return pid;
  }
  const ended = `Waygate's new worker (pid ${pid}) ended as it took over; the one before serves on.`;
  const error = new WorkerUnavailableError(ended);
  noteFailure(folder, incumbent.build, error);
  await endLeftovers(folder);
  throw error;
}

/** For as long as this line is open the incumbent tells that a rollout is pending. Older ones know nothing of it. */
async function tellOf(folder: string, incumbent: Rendezvous): Promise<ControlClient | undefined> {
  const signal = AbortSignal.timeout(TELL_TIMEOUT_MS);
  const attached = tryAttach(folder, { kind: 'control', start: false, holds: false }, undefined);
  const late = sleep(TELL_TIMEOUT_MS, undefined, { ref: false });
  const found = await Promise.race([attached, late]);
  if (!found) void attached.then(({ socket }) => socket?.destroy()).catch(() => undefined);
  if (!found?.socket) return undefined;
  if (found.token !== incumbent.token) {
    found.socket.destroy();
    return undefined;
  }
  const { connectControl } = await import('../../control/channel.ts');
  const control = connectControl(found.socket);
  const answered = control.request('rollout', {}).catch(() => undefined);
  await Promise.race([answered, new Promise((done) => signal.addEventListener('abort', done, { once: true }))]);
  return control;
}

async function lock(folder: string): Promise<() => void> {
  const deadline = performance.now() + LOCK_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const release = acquireStartLock(folder);
    if (release) return release;
    await sleep(POLL_MS);
  }
  throw new WorkerUnavailableError('Another process has been starting a gateway here for long; try again in a moment.');
}

/** Beside the rendezvous: every host of this build would prepare it again, and it would fail again. */
const FILE = 'failedBuild.json';
/** What made it fail may be gone by then. */
const RETRY_AFTER_MS = 10 * 60_000;

/** Why this build could not take over a while ago; `undefined` where it may be tried. */
function failedLately(folder: string, now = Date.now()): string | undefined {
  const { build, reason, at } = (readPrivateJson(join(folder, FILE)) ?? {}) as Record<string, unknown>;
  if (build !== BUILD || typeof reason !== 'string' || typeof at !== 'number') return undefined;
  // A clock that was set back must not keep a build away for ever.
  return at <= now && now - at < RETRY_AFTER_MS ? reason : undefined;
}

/** Of the same build the person hears himself: he, or his configuration, has asked for it. */
function noteFailure(folder: string, serving: string, error: unknown): void {
  if (compareBuilds(serving, BUILD) >= 0) return;
  try {
    writePrivateJson(join(folder, FILE), { build: BUILD, reason: (error as Error).message, at: Date.now() });
  } catch {
    // A disk that refuses costs another attempt.
  }
}

/** It serves, or somebody else does. */
function forgetFailure(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}
