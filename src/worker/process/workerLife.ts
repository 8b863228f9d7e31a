import { faultOf } from '../../errors/fault.ts';
import { type LastWorker, readLastWorker, updateLastWorker } from '../../host/attach/lastWorker.ts';
import type { Rendezvous } from '../../link/rendezvous.ts';
import { RESTART_LIMITS } from '../../supervision/restartPolicy.ts';
import type { SupervisedLife } from '../reports/diagnostics.ts';

export type Succession =
  /** No worker served before, or the last one had left. */
  | { kind: 'first' }
  /** The worker prepared itself beside its predecessor, which served until then. */
  | { kind: 'rollout' }
  /** The predecessor crashed or hangs. */
  | { kind: 'loss'; of: Rendezvous; hangs: boolean };

/** Counts the workers of a workspace and records how the last one ended (O7.1). */
export class WorkerLife {
  readonly #folder: string;
  readonly #startedAt = performance.now();
  #record: LastWorker;

  constructor(folder: string) {
    this.#folder = folder;
    this.#record = readLastWorker(folder);
  }

  /** Records that this worker serves from now on. */
  begin(succession: Succession): void {
    // Another worker may have served while this one prepared itself.
    this.#record = updateLastWorker(this.#folder, (before) => {
      const { generation, restarts } = before;
      const begun = { generation: generation + 1, outage: undefined };
      return succession.kind === 'loss'
        ? { ...afterLoss(before, succession), ...begun, restarts: restarts + 1 }
        : { ...begun, failures: 0 };
    });
  }

  /** Whether an editor watched the last worker, until an editor attaches or detaches here. */
  get watched(): boolean {
    return this.#record.watched === true;
  }

  noteWatched(watched: boolean): void {
    if (watched !== this.watched) this.#record = updateLastWorker(this.#folder, () => ({ watched }));
  }

  get generation(): number {
    return Math.max(1, this.#record.generation);
  }

  get report(): Omit<SupervisedLife, 'state' | 'worker_handshake' | 'rollout'> {
    const recovered = performance.now() - this.#startedAt >= RESTART_LIMITS.stableMs;
    return { ...reportOf(this.#record), ...(recovered ? { consecutive_failures: 0 } : {}) };
  }
}

/** Returns the life report while no worker serves. `lost` is the last worker, if it crashed. */
export function lifeWithoutWorker(folder: string, lost: Rendezvous | undefined): ReturnType<typeof reportOf> {
  const record = readLastWorker(folder);
  return reportOf(lost ? afterLoss(record, { of: lost, hangs: false }) : { ...record, failures: 0 });
}

function afterLoss(record: LastWorker, { of, hangs }: Omit<Extract<Succession, { kind: 'loss' }>, 'kind'>): LastWorker {
  const lasted = Date.now() - of.startedAt >= RESTART_LIMITS.stableMs;
  const facts = { generation: Math.max(1, record.generation), detail: `pid ${of.pid}` };
  return {
    ...record,
    failures: lasted ? 1 : record.failures + 1,
    lastFault: faultOf(hangs ? 'unresponsive' : 'exited', facts, (text) => text),
  };
}

function reportOf({ generation, restarts, failures, lastFault }: LastWorker) {
  return {
    generation: Math.max(1, generation),
    consecutive_failures: failures,
    restart_count: restarts,
    ...(lastFault === undefined ? {} : { last_fault: lastFault }),
  };
}
