import type { Fault } from '../../errors/fault.ts';
import { faultAt } from '../session/faultAt.ts';
import type { WithoutWorker } from '../session/withoutWorker.ts';
import type { WorkerLink } from './workerLink.ts';

/** How long a request waits for a worker before it is answered without one. */
const WORKER_WAIT_MS = 25_000;

/** The wait of a session for a worker: it has an end, and where none can be had nobody is kept waiting. */
export class WorkerWait {
  readonly #link: WorkerLink;
  readonly #withoutWorker: WithoutWorker;
  readonly #log: (line: string) => void;
  readonly #onNone: (fault: Fault) => void;
  #timer: NodeJS.Timeout | undefined;

  /** `onNone`: whoever waits is answered by that. */
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
    const line = `no worker was there within ${WORKER_WAIT_MS / 1000} s`;
    const onLate = (): void => this.giveUp(faultAt(this.#link.generation, 'handshake_timeout', ''), line);
    this.#timer = setTimeout(onLate, WORKER_WAIT_MS);
  }

  /** There is a worker. */
  end(): void {
    this.stop();
    this.#withoutWorker.end();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** A worker is looked for, also where the last one was asked to go. */
  wake(): void {
    this.begin();
    this.#link.wake();
  }

  /** Somebody waits now: where no worker can be had he is told so, and another attempt is made. */
  join(): void {
    if (this.#link.resting) this.wake();
    else if (this.#withoutWorker.fault !== undefined) {
      this.#onNone(this.#withoutWorker.fault);
      this.#link.connect();
    }
  }

  /** No worker can be had. `line` tells the person who reads stderr. */
  giveUp(fault: Fault, line: string): void {
    // Nobody waits any more, and why is known better now than at the end of the wait.
    this.stop();
    const { code, detail } = this.#withoutWorker.fault ?? {};
    if (code !== fault.code || detail !== fault.detail) this.#log(line);
    this.#withoutWorker.begin(fault);
    this.#onNone(fault);
  }
}
