import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fault, faultOf } from '../../errors/fault.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import type { Rendezvous } from '../../link/rendezvous.ts';
import { RESTART_LIMITS } from '../../supervision/restartPolicy.ts';
import type { SupervisedLife } from '../reports/diagnostics.ts';

const FILE = 'life.json';

/** What one worker leaves the next to know of it. */
interface Record {
  generation: number;
  restarts: number;
  failures: number;
  lastFault?: Fault;
  /** An editor was watching, as far as that worker knew. */
  watched?: boolean;
}

export type Succession =
  /** Nobody served before it, or who did had left. */
  | { kind: 'first' }
  /** It was prepared beside its predecessor, which served on until then. */
  | { kind: 'rollout' }
  /** Its predecessor ended by itself, or hangs. */
  | { kind: 'loss'; of: Rendezvous; hangs: boolean };

/** Counts the workers of a workspace and records how the last one ended (O7.1). */
export class WorkerLife {
  readonly #file: string;
  readonly #startedAt = performance.now();
  #record: Record;

  constructor(folder: string) {
    this.#file = join(folder, FILE);
    this.#record = read(this.#file);
  }

  /** From now on it is this one that serves. */
  begin(succession: Succession): void {
    // Another worker may have come and gone while this one was prepared.
    const before = read(this.#file);
    const { generation, restarts } = before;
    this.#record =
      succession.kind === 'loss'
        ? { ...afterLoss(before, succession), generation: generation + 1, restarts: restarts + 1 }
        : { ...before, generation: generation + 1, failures: 0 };
    this.#write();
  }

  /** Whether an editor watched the worker before, until the first one here has come or gone. */
  get watched(): boolean {
    return this.#record.watched === true;
  }

  noteWatched(watched: boolean): void {
    if (watched === this.watched) return;
    this.#record.watched = watched;
    this.#write();
  }

  get generation(): number {
    return Math.max(1, this.#record.generation);
  }

  get report(): Omit<SupervisedLife, 'state' | 'worker_handshake' | 'rollout'> {
    const recovered = performance.now() - this.#startedAt >= RESTART_LIMITS.stableMs;
    return { ...reportOf(this.#record), ...(recovered ? { consecutive_failures: 0 } : {}) };
  }

  #write(): void {
    try {
      writeWhole(this.#file, `${JSON.stringify(this.#record)}\n`, { mode: 0o600 });
    } catch {
      // A disk that is full costs the count, not the worker.
    }
  }
}

/** What is known of it while no worker serves; `lost` is the one that did, where it has not left. */
export function lifeLeft(folder: string, lost: Rendezvous | undefined): ReturnType<typeof reportOf> {
  const record = read(join(folder, FILE));
  return reportOf(lost ? afterLoss(record, { of: lost, hangs: false }) : { ...record, failures: 0 });
}

function afterLoss(record: Record, { of, hangs }: Omit<Extract<Succession, { kind: 'loss' }>, 'kind'>): Record {
  const lasted = Date.now() - of.startedAt >= RESTART_LIMITS.stableMs;
  const facts = { generation: Math.max(1, record.generation), detail: `pid ${of.pid}` };
  return {
    ...record,
    failures: lasted ? 1 : record.failures + 1,
    lastFault: faultOf(hangs ? 'unresponsive' : 'exited', facts, (text) => text),
  };
}

function reportOf({ generation, restarts, failures, lastFault }: Record) {
  return {
    generation: Math.max(1, generation),
    consecutive_failures: failures,
    restart_count: restarts,
    ...(lastFault === undefined ? {} : { last_fault: lastFault }),
  };
}

function read(file: string): Record {
  const none: Record = { generation: 0, restarts: 0, failures: 0 };
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as Record;
    const counts = [value.generation, value.restarts, value.failures];
    return counts.every((count) => Number.isSafeInteger(count) && count >= 0) ? value : none;
  } catch {
    return none;
  }
}
