import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureWorkspaceState, stateRoot } from '../../config/state/stateFolder.ts';
import { BUILD, compareBuilds } from '../../lib/build.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { greet, type Hello } from '../../link/linkHandshake.ts';
import { connectLocal } from '../../link/localSocket.ts';
import { DEFAULT_MODE, type Mode } from '../../link/mode.ts';
import { LINK_VERSION, type Rendezvous, readRendezvous } from '../../link/rendezvous.ts';
import { endHungWorker } from './endWorker.ts';
import { acquireStartLock } from './startLock.ts';
import {
  type GatewayRuntime,
  gatewayFolder,
  startWorker,
  stateVariant,
  WorkerUnavailableError,
} from './startWorker.ts';

export interface AttachOptions {
  kind: Hello['kind'];
  /** Start a worker when none runs, and replace one of an older build. */
  start: boolean;
  holds: boolean;
  marksRelated?: boolean;
  mode?: Mode;
  signal?: AbortSignal;
  log?: (line: string) => void;
}

/** Everything on one machine: whoever needs longer than this is not there. */
const CONNECT_TIMEOUT_MS = 1_000;
/** How long to look for a worker, one that somebody else is starting included. */
const ATTACH_TIMEOUT_MS = 20_000;
/** How often a host looks again while another one starts the worker. */
const POLL_MS = 25;

/** Finds the workspace's worker, or starts it, and attaches. `undefined` when none runs and none may be started. */
export async function attach(runtime: GatewayRuntime, options: AttachOptions): Promise<Socket | undefined> {
  if (!options.start) {
    const folder = gatewayFolder(runtime);
    for (;;) {
      const found = await tryAttach(folder, options, undefined);
      if (found.deaf) {
        throw new WorkerUnavailableError(
          `The gateway (pid ${found.deaf.pid}) does not answer: ${found.reason}; end that process, a new one starts by itself.`,
        );
      }
      // Another may have taken its place between our look and its answer.
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
    const release = acquireStartLock(folder);
    if (release) {
      try {
        // Somebody may have published between our look and our lock.
        if (readRendezvous(folder)?.token === found.token) {
          await startWorker(runtime, folder);
          // Its successor serves: one that only hangs must not come back, nor keep its servers.
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

interface Found {
  socket?: Socket;
  /** The token of the worker that was looked at: tells a new one from it. */
  token?: string;
  reason?: string;
  /** A process that listens and does not answer: it hangs, or is held. */
  deaf?: Rendezvous;
  /** It serves, and is of an older build. */
  isOlder?: boolean;
}

/** Attaches to the worker that the rendezvous names, if it lives and listens. */
export async function tryAttach(folder: string, options: AttachOptions, build: string | undefined): Promise<Found> {
  const rendezvous = readRendezvous(folder);
  if (!rendezvous) return {};
  const token = rendezvous.token;
  if (rendezvous.link > LINK_VERSION && isAlive(rendezvous.pid)) {
    throw new WorkerUnavailableError(
      `A newer Waygate (${rendezvous.version}) already serves this workspace; restart this client with that version.`,
    );
  }
  if (!isAlive(rendezvous.pid)) return { token, reason: `its process ${rendezvous.pid} is gone` };
  if (speaksOlder(rendezvous, build)) return { token, reason: `its build ${rendezvous.build} is older` };
  let socket: Socket | undefined;
  try {
    socket = await connectLocal(rendezvous.socket, CONNECT_TIMEOUT_MS);
    // From here on the socket has an owner: an error ends in its `close`.
    socket.on('error', () => undefined);
    const { kind, holds, marksRelated = false, mode = DEFAULT_MODE } = options;
    const answer = await greet(socket, { token, kind, holds, marksRelated, mode });
    const isOlder = build !== undefined && compareBuilds(rendezvous.build, build) < 0;
    if (answer.ok) return { socket, token, isOlder };
    socket.destroy();
    return { token, reason: answer.reason ?? 'it refused the attacher' };
  } catch (error) {
    // One that hangs keeps its end open; one that ended does not, though the system may still know its process.
    const isOpen = socket !== undefined && !socket.destroyed && !socket.readableEnded;
    socket?.destroy();
    return { token, reason: (error as Error).message, ...(isOpen ? { deaf: rendezvous } : {}) };
  }
}

/** Such a worker cannot be attached to; one that is merely of an older build serves until it is replaced. */
function speaksOlder(rendezvous: Rendezvous, build: string | undefined): boolean {
  return build !== undefined && rendezvous.link < LINK_VERSION;
}

/** Workers that this process has tried to replace: a build that cannot take over would be tried with every attachment. */
const tried = new Set<string>();

/** A newer build comes behind the session: the older worker serves until the newer one is ready, and if it never is. */
function renewBehind(runtime: GatewayRuntime, folder: string, token: string | undefined, { log }: AttachOptions): void {
  if (token === undefined || tried.has(token)) return;
  tried.add(token);
  // Loaded when it is needed: a host that only forwards frames never pays for it.
  void import('./rollOut.ts')
    .then(({ rollOut }) => rollOut(runtime, { folder, onlyOlder: true }))
    .catch((error: Error) => log?.(`the older gateway serves on: ${error.message}`));
}
