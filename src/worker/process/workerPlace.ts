import { rmSync } from 'node:fs';
import { unwritable } from '../../config/state/stateFolder.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { connectLocal } from '../../link/localSocket.ts';
import { publishRendezvous, type Rendezvous, readRendezvous, withdrawRendezvous } from '../../link/rendezvous.ts';
import { processStart } from '../../upstream/process/processStart.ts';
import type { Succession } from './workerLife.ts';

const CONNECT_TIMEOUT_MS = 1_000;
/** How often a worker looks whether it is still the one that the rendezvous names. */
const LOOK_EVERY_MS = 1_000;

/** Who serves a workspace is who is named in its rendezvous file: how a worker takes that place, and sees whether it has it. */
export class WorkerPlace {
  readonly #folder: string;
  readonly #onLost: (successor: Rendezvous | undefined) => Promise<void>;
  readonly #log: (line: string) => void;
  #mine: Rendezvous | undefined;
  #looking = false;
  #left = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onLost`: somebody else has the place and serves, or its file is gone. */
  constructor(
    folder: string,
    onLost: (successor: Rendezvous | undefined) => Promise<void>,
    log: (line: string) => void,
  ) {
    this.#folder = folder;
    this.#onLost = onLost;
    this.#log = log;
  }

  /** From now on everybody finds this one. Rejects with one sentence where the folder cannot be written. */
  async take(mine: Rendezvous, isCandidate: boolean): Promise<Succession> {
    const previous = readRendezvous(this.#folder);
    const succession = await successionTo(previous, isCandidate);
    // A worker that was killed could not take its socket away.
    if (previous?.socket.endsWith('.sock') && !isAlive(previous.pid)) rmSync(previous.socket, { force: true });
    try {
      publishRendezvous(this.#folder, mine);
    } catch (error) {
      throw unwritable(this.#folder, error);
    }
    this.#mine = mine;
    return succession;
  }

  /** Two workers of one workspace must not last: the one that is no longer named hears of it. */
  watch(): void {
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /** Looks now, where it has the place as far as it knows. Resolves when whoever hears of a loss is done with it. */
  async look(): Promise<void> {
    if (!this.#mine || this.#looking || this.#left) return;
    this.#looking = true;
    try {
      const lost = await this.#lostTo(this.#mine);
      if (!lost) return;
      clearInterval(this.#timer);
      await this.#onLost(lost.successor);
    } finally {
      this.#looking = false;
    }
  }

  leave(): void {
    this.#left = true;
    clearInterval(this.#timer);
    if (this.#mine) withdrawRendezvous(this.#folder, this.#mine.token);
  }

  /** Whoever has taken the place and serves. One that is gone again before anybody moved to it has not. */
  async #lostTo(mine: Rendezvous): Promise<{ successor: Rendezvous | undefined } | undefined> {
    const named = readRendezvous(this.#folder);
    if (named?.token === mine.token) return undefined;
    if (!named || (await isServed(named))) return { successor: named };
    if (!(await runs(named)) && readRendezvous(this.#folder)?.token === named.token) this.#takeBack(mine, named);
    return undefined;
  }

  #takeBack(mine: Rendezvous, named: Rendezvous): void {
    this.#log(`worker ${named.pid} has ended as it took over: worker ${process.pid} serves on`);
    try {
      publishRendezvous(this.#folder, mine);
    } catch (error) {
      this.#log(`its place could not be taken back: ${(error as Error).message}`);
    }
  }
}

async function successionTo(previous: Rendezvous | undefined, isCandidate: boolean): Promise<Succession> {
  if (!previous) return { kind: 'first' };
  const lives = await runs(previous);
  if (isCandidate && lives) return { kind: 'rollout' };
  return { kind: 'loss', of: previous, hangs: lives };
}

/** Whether its process does: not a later one of that number, nor one that has ended and waits for its parent. */
async function runs({ pid, processStart: started }: Rendezvous): Promise<boolean> {
  const now = await processStart(pid);
  return now !== undefined && (started === undefined || now === started);
}

/** Whether somebody listens where it says: a process that lives may be on its way out. */
async function isServed({ socket }: Rendezvous): Promise<boolean> {
  try {
    (await connectLocal(socket, CONNECT_TIMEOUT_MS)).on('error', () => undefined).destroy();
    return true;
  } catch {
    return false;
  }
}
