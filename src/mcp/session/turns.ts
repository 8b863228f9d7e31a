/** Calls of one session that run at the same time. Further ones wait for an answer. */
const MAX_RUNNING = 32;
/** Calls of one session that may wait. */
const MAX_WAITING = 10_000;

interface Waiting {
  isCall: boolean;
  begin(): void;
}

/**
 * Lets the sessions of a worker take turns: in each turn of the event loop, one request of each session begins. Without
 * turns, a session that sends hundreds of requests at once would delay all others until the last of them has begun.
 */
export class Turns {
  /** Sessions with waiting requests, in the order of their next turns. */
  readonly #waiting = new Set<Lane>();
  #isTaken = false;

  lane(): Lane {
    return new Lane(this);
  }

  /** Takes the turn, or returns false if it is taken. */
  take(): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    setImmediate(() => this.#next());
    return true;
  }

  wait(lane: Lane): void {
    this.#waiting.add(lane);
    this.take();
  }

  #next(): void {
    this.#isTaken = false;
    for (const lane of [...this.#waiting]) {
      this.#waiting.delete(lane);
      if (lane.advance()) this.wait(lane);
    }
  }
}

/** Requests of one session. Calls are bounded; reads of the gateway's own wait for their turn only. */
export class Lane {
  readonly #turns: Turns;
  readonly #queue: Waiting[] = [];
  #running = 0;
  #waitingCalls = 0;

  constructor(turns: Turns) {
    this.#turns = turns;
  }

  /** Runs a request in its turn; `undefined` for a call beyond the bound of waiting ones. */
  run<T>(run: () => Promise<T>, isCall: boolean): Promise<T> | undefined {
    if (this.#mayBegin(isCall) && this.#queue.length === 0 && this.#turns.take()) return this.#begin(run, isCall);
    if (isCall && this.#waitingCalls >= MAX_WAITING) return undefined;
    if (isCall) this.#waitingCalls += 1;
    return new Promise((resolve, reject) => {
      const begin = (): void => void this.#begin(run, isCall).then(resolve, reject);
      this.#queue.push({ isCall, begin });
      this.#turns.wait(this);
    });
  }

  /** Begins the first request that may begin. Returns whether another one may follow in the next turn. */
  advance(): boolean {
    const index = this.#queue.findIndex(({ isCall }) => this.#mayBegin(isCall));
    const [next] = index === -1 ? [] : this.#queue.splice(index, 1);
    if (next?.isCall) this.#waitingCalls -= 1;
    next?.begin();
    return this.#queue.some(({ isCall }) => this.#mayBegin(isCall));
  }

  #mayBegin(isCall: boolean): boolean {
    return !isCall || this.#running < MAX_RUNNING;
  }

  async #begin<T>(run: () => Promise<T>, isCall: boolean): Promise<T> {
    if (!isCall) return run();
    this.#running += 1;
    try {
      return await run();
    } finally {
      this.#running -= 1;
      if (this.#waitingCalls > 0) this.#turns.wait(this);
    }
  }
}
