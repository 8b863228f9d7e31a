import type { Fault } from '../../errors/fault.ts';
import { faultAt } from '../session/faultAt.ts';
import type { WithoutWorker } from '../session/withoutWorker.ts';
import type { WorkerLink } from './workerLink.ts';

/** Limit of a request's wait for a worker, after which the host answers it. */
const WORKER_WAIT_MS = 25_000;

/** Bounds a session's wait for a worker, and ends the wait early when no worker is available. */
export class WorkerWait {
  readonly #link: WorkerLink;
  readonly #withoutWorker: WithoutWorker;
  readonly #log: (line: string) => void;
  readonly #onNone: (fault: Fault) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onNone` answers the waiting requests with the fault. */
  constructor(
    link: WorkerLink,
    withoutWorker: WithoutWorker,
    log: (line: string) => void,
    onNone: (fault: Fault) => void,
  ) {
    this.#link = link;
    this.#withoutWorker = withoutWorker;
    this.#log = log;
    this.#onNone = onNone;
  }

  begin(): void {
    this.stop();
    const line = `no worker was available within ${WORKER_WAIT_MS / 1000} s`;
    const onLate = (): void => this.giveUp(faultAt(this.#link.generation, 'handshake_timeout', ''), line);
    this.#timer = setTimeout(onLate, WORKER_WAIT_MS);
  }

  /** Ends the wait: a worker is attached. */
  end(): void {
    this.stop();
    this.#withoutWorker.end();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Looks for a worker, even after a requested stop. */
  wake(): void {
    this.begin();
    this.#link.wake();
  }

  /** Adds a waiting request. If no worker is available, answers the request with the known fault and tries again. */
  join(): void {
    if (this.#link.resting) this.wake();
    else if (this.#withoutWorker.fault !== undefined) {
      this.#onNone(this.#withoutWorker.fault);
      this.#link.connect();
    }
  }

  /** Ends the wait because no worker is available. `line` goes to stderr unless the fault is unchanged. */
  giveUp(fault: Fault, line: string): void {
    // The reason is known now; a later timeout would report a vaguer one.
    this.stop();
    const { code, detail } = this.#withoutWorker.fault ?? {};
    if (code !== fault.code || detail !== fault.detail) this.#log(line);
    this.#withoutWorker.begin(fault);
    this.#onNone(fault);
  }
}
