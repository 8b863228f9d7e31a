import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureWorkspaceState, stateRoot } from '../../config/state/stateFolder.ts';
import { BUILD, compareBuilds } from '../../lib/build.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { greet, type Hello } from '../../link/linkHandshake.ts';
import { connectLocal } from '../../link/localSocket.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { heartbeat, LINK_VERSION, type Rendezvous, readRendezvous } from '../../link/rendezvous.ts';
import { endHungWorker, killSilentWorker } from './endWorker.ts';
import { acquireStartLock } from './startLock.ts';
import {
  type GatewayRuntime,
  gatewayFolder,
  OutdatedProgramError,
  startWorker,
  stateVariant,
  WorkerUnavailableError,
} from './startWorker.ts';

export interface AttachOptions {
  kind: Hello['kind'];
  /** Start a worker if none runs, and replace a worker of an older build. */
  start: boolean;
  holds: boolean;
  marksRelated?: boolean;
  mode?: Mode;
  signal?: AbortSignal;
  log?: (line: string) => void;
}

/** Connections are local: a process that needs longer is not there. */
const CONNECT_TIMEOUT_MS = 1_000;
/** Limit of the search for a worker, including the time that another host needs to start it. */
const ATTACH_TIMEOUT_MS = 20_000;
/** Interval at which a host looks again while another host starts the worker. */
const POLL_MS = 25;

/**
 * Attaches to the workspace's worker and starts it if necessary. Returns `undefined` if no worker runs and `start` is
 * false.
 */
export async function attach(runtime: GatewayRuntime, options: AttachOptions): Promise<Socket | undefined> {
  if (!options.start) {
    const folder = gatewayFolder(runtime);
    for (;;) {
      const found = await tryAttach(folder, options, undefined);
      if (found.isBusy) continue;
      if (found.deaf) {
        throw new WorkerUnavailableError(
          `The gateway (pid ${found.deaf.pid}) does not answer: ${found.reason}. End that process; the next request starts a new gateway.`,
        );
      }
      // Another worker may have published itself between the read and the answer.
      if (found.socket || readRendezvous(folder)?.token === found.token) return found.socket;
    }
  }
  const root = runtime.stateDir ?? stateRoot(runtime.env);
  const folder = ensureWorkspaceState(runtime.workspace, root, stateVariant(runtime));
  const deadline = performance.now() + ATTACH_TIMEOUT_MS;
  let refused: string | undefined;
  while (performance.now() < deadline) {
    options.signal?.throwIfAborted();
    const found = await tryAttach(folder, options, BUILD);
    if (found.socket) {
      if (found.isOlder) renewBehind(runtime, folder, found.token, options);
      return found.socket;
    }
    if (found.isBusy) {
      refused = found.reason;
      continue;
    }
    const release = acquireStartLock(folder);
    if (release) {
      try {
        // Another host may have started a worker between the read and the lock.
        if (readRendezvous(folder)?.token === found.token) {
          await startWorker(runtime, folder);
          // End the hung worker: its successor serves now, and it must neither return nor keep its servers.
          if (found.deaf) endHungWorker(found.deaf, folder, options.log).catch(() => undefined);
        }
      } finally {
        release();
      }
      const started = await tryAttach(folder, options, BUILD);
      if (started.socket) return started.socket;
      refused = started.reason;
    }
    await sleep(POLL_MS);
  }
  throw new WorkerUnavailableError(
    `Waygate's worker for ${runtime.workspace} could not be reached within ${ATTACH_TIMEOUT_MS / 1000} s${refused ? `: ${refused}` : ''}.`,
  );
}

/** Workers that this process is attached to, by their sockets. */
const workers = new WeakMap<Socket, Rendezvous>();

/** Ends the worker at the other end of a socket, which does not answer. Resolves to whether its process has ended. */
export async function endSilent(socket: Socket): Promise<boolean> {
  const worker = workers.get(socket);
  return worker !== undefined && (await killSilentWorker(worker));
}

interface Found {
  socket?: Socket;
  /** Token of the worker in the rendezvous file; a different token means a new worker. */
  token?: string;
  reason?: string;
  /** Process that listens but does not answer: it hangs or is suspended. */
  deaf?: Rendezvous;
  /** The worker runs but has no time to answer, for instance while it starts many servers. */
  isBusy?: boolean;
  /** The worker serves but has an older build. */
  isOlder?: boolean;
}

/** Attaches to the worker named in the rendezvous file, if that worker lives and listens. */
export async function tryAttach(folder: string, options: AttachOptions, build: string | undefined): Promise<Found> {
  const rendezvous = readRendezvous(folder);
  if (!rendezvous) return {};
  const token = rendezvous.token;
  const hasBeaten = heartbeat(folder);
  if (rendezvous.link > LINK_VERSION && isAlive(rendezvous.pid)) {
    throw new OutdatedProgramError(
      `A newer Waygate (${rendezvous.version}) already serves this workspace; restart this client with that version.`,
      'older',
    );
  }
  if (!isAlive(rendezvous.pid)) return { token, reason: `its process ${rendezvous.pid} has ended` };
  if (speaksOlder(rendezvous, build)) return { token, reason: `its build ${rendezvous.build} is older` };
  let socket: Socket | undefined;
  try {
    socket = await connectLocal(rendezvous.socket, CONNECT_TIMEOUT_MS);
    // The socket has an owner from here on; every error ends in its `close` event.
    socket.on('error', () => undefined);
    const { kind, holds, marksRelated = false, mode = DEFAULT_MODE } = options;
    const answer = await greet(socket, { token, kind, holds, marksRelated, mode });
    const isOlder = build !== undefined && compareBuilds(rendezvous.build, build) < 0;
    if (answer.ok) {
      workers.set(socket, rendezvous);
      return { socket, token, isOlder };
    }
    socket.destroy();
    return { token, reason: answer.reason ?? 'it refused the connection' };
  } catch (error) {
    // A hung worker keeps its end open. A finished worker does not, even if the system still lists its process.
    const isOpen = socket !== undefined && !socket.destroyed && !socket.readableEnded;
    socket?.destroy();
    const reason = (error as Error).message;
    if (isOpen && hasBeaten()) return { token, reason, isBusy: true };
    return { token, reason, ...(isOpen ? { deaf: rendezvous } : {}) };
  }
}

/**
 * Tests for an older link version, which rules out attaching. A worker with only an older build serves until it is
 * replaced.
 */
function speaksOlder(rendezvous: Rendezvous, build: string | undefined): boolean {
  return build !== undefined && rendezvous.link < LINK_VERSION;
}

/**
 * Workers that this process has tried to replace, so that a build that cannot take over is not tried at every
 * attachment.
 */
const tried = new Set<string>();

/**
 * Replaces the older worker in the background. The session uses the older worker until the newer one is ready, or for
 * good if it fails.
 */
function renewBehind(runtime: GatewayRuntime, folder: string, token: string | undefined, { log }: AttachOptions): void {
  if (token === undefined || tried.has(token)) return;
  tried.add(token);
  // Import on demand: most hosts only forward frames and never need it.
  void import('./rollOut.ts')
    .then(({ rollOut }) => rollOut(runtime, { folder, onlyOlder: true }))
    .catch((error: Error) => log?.(`the older gateway continues: ${error.message}`));
}
