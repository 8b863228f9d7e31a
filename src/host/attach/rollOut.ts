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
  /** No worker runs; the next request starts one. */
  | { kind: 'nothing_runs' }
  /** The worker already has this build. */
  | { kind: 'current' };

export interface RolloutOptions {
  /** Folder of the gateway in the state, if the caller knows it. */
  folder?: string;
  /** Replace only a worker with an older build. */
  onlyOlder?: boolean;
}

/** The serving worker ended during the rollout. The next host that needs a worker starts one. */
export class IncumbentLostError extends WorkerUnavailableError {}

/** Longer than another process needs to start or replace a worker. */
const LOCK_TIMEOUT_MS = 25_000;
const POLL_MS = 25;
/** A hung worker must not delay its own replacement. */
const ANNOUNCE_TIMEOUT_MS = 1_000;

/**
 * Replaces the worker without interruption (O6.4): starts a new worker beside the old one, switches in one step when
 * the new one is ready, and lets the old one finish its calls. If the new worker fails, the old one continues and the
 * promise rejects with one sentence (O6.5).
 */
export async function rollOut(runtime: GatewayRuntime, options: RolloutOptions = {}): Promise<Rollout> {
  const folder = options.folder ?? gatewayFolder(runtime);
  const asked = readRendezvous(folder);
  if (!asked) return { kind: 'nothing_runs' };
  const release = await lock(folder);
  try {
    const incumbent = readRendezvous(folder);
    if (!incumbent || !isAlive(incumbent.pid)) return { kind: 'nothing_runs' };
    // Another process replaced the worker while this one waited for the lock.
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
    const announcement = await announceRollout(folder, incumbent);
    const lost = new AbortController();
    announcement?.onClose(() => {
      // A worker that was replaced also closes its control channel.
      if (readRendezvous(folder)?.token !== incumbent.token) return;
      lost.abort(new IncumbentLostError(`the worker that served (pid ${incumbent.pid}) ended during the rollout.`));
    });
    try {
      const pid = await replace(runtime, folder, incumbent, lost.signal);
      return { kind: 'done', pid, replaced: incumbent.pid };
    } finally {
      // The old worker reads the rendezvous file when this channel closes.
      announcement?.dispose();
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
    // Hosts without a worker wait for this rollout to end. An abort says nothing about the new build.
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
  const ended = `Waygate's new worker (pid ${pid}) ended while it took over; the previous worker continues.`;
  const error = new WorkerUnavailableError(ended);
  noteFailure(folder, incumbent.build, error);
  await endLeftovers(folder);
  throw error;
}

/**
 * Opens a control channel on which the incumbent reports a pending rollout until the channel closes. Older workers
 * ignore the request.
 */
async function announceRollout(folder: string, incumbent: Rendezvous): Promise<ControlClient | undefined> {
  const signal = AbortSignal.timeout(ANNOUNCE_TIMEOUT_MS);
  const attached = tryAttach(folder, { kind: 'control', start: false, holds: false }, undefined);
  const late = sleep(ANNOUNCE_TIMEOUT_MS, undefined, { ref: false });
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
  throw new WorkerUnavailableError(
    'Another process is still starting a gateway for this workspace; try again in a moment.',
  );
}

/**
 * Record of a failed build beside the rendezvous file: without it every host of this build would try again, and fail
 * again.
 */
const FILE = 'failedBuild.json';
/** The cause of the failure may have gone after this time. */
const RETRY_AFTER_MS = 10 * 60_000;

/** Returns why this build failed to take over recently, or `undefined` if it may be tried. */
function failedLately(folder: string, now = Date.now()): string | undefined {
  const { build, reason, at } = (readPrivateJson(join(folder, FILE)) ?? {}) as Record<string, unknown>;
  if (build !== BUILD || typeof reason !== 'string' || typeof at !== 'number') return undefined;
  // A clock that was set back must not exclude a build for good.
  return at <= now && now - at < RETRY_AFTER_MS ? reason : undefined;
}

/**
 * Records why a newer build failed. A rollout of the same build has no record: the user requested it and gets the error
 * directly.
 */
function noteFailure(folder: string, serving: string, error: unknown): void {
  if (compareBuilds(serving, BUILD) >= 0) return;
  try {
    writePrivateJson(join(folder, FILE), { build: BUILD, reason: (error as Error).message, at: Date.now() });
  } catch {
    // Without the record, the next host tries this build again.
  }
}

/** Deletes the record after a successful rollout. */
function forgetFailure(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}
