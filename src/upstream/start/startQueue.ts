import { availableParallelism } from 'node:os';

/** Starts at a time. Each loads a program, and more of them would only take the processor from each other. */
const AT_ONCE = 2 * availableParallelism();
/**
 * Time for which a start keeps its place. A start that takes longer waits for a download, or hangs. Shorter than the
 * wait of a browse, so that servers that hang do not keep the others from its answer.
 */
const PLACE_MS = 8_000;

/** Place of a start in the queue. */
export interface Turn {
  /** Resolves when the start may begin, or when it has left the queue. */
  readonly ready: Promise<void>;
  /** Moves a waiting start to the front, because a call needs the server. */
  hurry(): void;
  /** Gives the place to the next start. */
  leave(): void;
}

/** Limits the starts that run at the same time, in the order of the requests. */
export class StartQueue {
  readonly #waiting: (() => void)[] = [];
  #free: number;
  readonly #placeMs: number;

  constructor({ atOnce = AT_ONCE, placeMs = PLACE_MS } = {}) {
    this.#free = atOnce;
    this.#placeMs = placeMs;
  }

  /** Joins the queue, at its front if a call needs the server. An aborted start leaves. */
  enter(isNeeded: boolean, signal: AbortSignal): Turn {
    let begin = (): void => undefined;
    let timer: NodeJS.Timeout | undefined;
    let state: 'waiting' | 'running' | 'over' = 'waiting';
    const ready = new Promise<void>((resolve) => {
      begin = () => {
        state = 'running';
        this.#free -= 1;
        timer = setTimeout(leave, this.#placeMs).unref();
        resolve();
      };
    });
    const leave = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      if (state === 'waiting') {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        begin();
      }
      if (state === 'running') this.#free += 1;
      state = 'over';
      this.#admit();
    };
    const hurry = (): void => {
      if (state !== 'waiting') return;
      this.#waiting.splice(this.#waiting.indexOf(begin), 1);
      this.#waiting.unshift(begin);
    };
    this.#waiting.push(begin);
    if (isNeeded) hurry();
    signal.addEventListener('abort', leave, { once: true });
    this.#admit();
    return { ready, hurry, leave };
  }

  #admit(): void {
    while (this.#free > 0) {
      const next = this.#waiting.shift();
      if (!next) return;
      next();
    }
  }
}
