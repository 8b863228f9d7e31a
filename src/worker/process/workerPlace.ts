import { rmSync } from 'node:fs';
import { unwritable } from '../../config/state/stateFolder.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { connectLocal } from '../../link/localSocket.ts';
import { beat, publishRendezvous, type Rendezvous, readRendezvous, withdrawRendezvous } from '../../link/rendezvous.ts';
import { processStart } from '../../upstream/process/processStart.ts';
import type { Succession } from './workerLife.ts';

const CONNECT_TIMEOUT_MS = 1_000;
/** Interval at which a worker checks whether the rendezvous file still names it. */
const CHECK_EVERY_MS = 1_000;

/** Place of a workspace's worker, which the rendezvous file names. Takes the place, and detects its loss. */
export class WorkerPlace {
  readonly #folder: string;
  readonly #onLost: (successor: Rendezvous | undefined) => Promise<void>;
  readonly #log: (line: string) => void;
  #mine: Rendezvous | undefined;
  #checking = false;
  #left = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onLost`: another worker serves now, or the file is gone. */
  constructor(
    folder: string,
    onLost: (successor: Rendezvous | undefined) => Promise<void>,
    log: (line: string) => void,
  ) {
    this.#folder = folder;
    this.#onLost = onLost;
    this.#log = log;
  }

  /** Publishes this worker. Rejects with one sentence if the folder cannot be written. */
  async take(mine: Rendezvous, isCandidate: boolean): Promise<Succession> {
    const previous = readRendezvous(this.#folder);
    const succession = await successionTo(previous, isCandidate);
    // A killed worker leaves its socket file behind.
    if (previous?.socket.endsWith('.sock') && !isAlive(previous.pid)) rmSync(previous.socket, { force: true });
    try {
      publishRendezvous(this.#folder, mine);
    } catch (error) {
      throw unwritable(this.#folder, error);
    }
    this.#mine = mine;
    return succession;
  }

  /** Checks regularly, because a workspace must not keep two workers. */
  watch(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_EVERY_MS);
  }

  /** Checks now. Resolves after `onLost` if the place is lost. */
  async check(): Promise<void> {
    if (!this.#mine || this.#checking || this.#left) return;
    this.#checking = true;
    try {
      const lost = await this.#lostTo(this.#mine);
      if (!lost) return;
      clearInterval(this.#timer);
      await this.#onLost(lost.successor);
    } finally {
      this.#checking = false;
    }
  }

  leave(): void {
    this.#left = true;
    clearInterval(this.#timer);
    if (this.#mine) withdrawRendezvous(this.#folder, this.#mine.token);
  }

  /**
   * Returns the successor if the place is lost. If the named process has ended already, takes the place back instead.
   */
  async #lostTo(mine: Rendezvous): Promise<{ successor: Rendezvous | undefined } | undefined> {
    const named = readRendezvous(this.#folder);
    if (named?.token === mine.token) {
      beat(this.#folder);
      return undefined;
    }
    if (!named || (await isListening(named))) return { successor: named };
    if (!(await isRunning(named)) && readRendezvous(this.#folder)?.token === named.token) this.#takeBack(mine, named);
    return undefined;
  }

  #takeBack(mine: Rendezvous, named: Rendezvous): void {
    this.#log(`worker ${named.pid} ended while taking over; worker ${process.pid} continues to serve`);
    try {
      publishRendezvous(this.#folder, mine);
    } catch (error) {
      this.#log(`the rendezvous file could not be restored: ${(error as Error).message}`);
    }
  }
}

async function successionTo(previous: Rendezvous | undefined, isCandidate: boolean): Promise<Succession> {
  if (!previous) return { kind: 'first' };
  const previousRuns = await isRunning(previous);
  if (isCandidate && previousRuns) return { kind: 'rollout' };
  return { kind: 'loss', of: previous, hangs: previousRuns };
}

/** Whether the same process runs: not a later one with its pid, and not a zombie. */
async function isRunning({ pid, processStart: started }: Rendezvous): Promise<boolean> {
  const now = await processStart(pid);
  return now !== undefined && (started === undefined || now === started);
}

/** Whether the socket accepts connections; a live process may be about to exit. */
async function isListening({ socket }: Rendezvous): Promise<boolean> {
  try {
    (await connectLocal(socket, CONNECT_TIMEOUT_MS)).on('error', () => undefined).destroy();
    return true;
  } catch {
    return false;
  }
}
