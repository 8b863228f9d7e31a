import { Worker } from 'node:worker_threads';
import type { CheckReply, CheckRequest, ThreadMessage } from './threadProtocol.ts';

export interface ThreadLimits {
  /** Limit of one validation, the way to the thread and back included (G6.6). */
  answerMs: number;
  /** A compiled check that takes longer is taken for endless. */
  valueMs: number;
  /** Limit of compiling. A slow schema may exceed `answerMs`; the next call finds it compiled. */
  compileMs: number;
  /** Loading ajv takes some 100 ms, four times that on a busy machine. No code or schema of a server runs meanwhile. */
  startMs: number;
}

const THREAD_LIMITS: ThreadLimits = { answerMs: 80, valueMs: 60, compileMs: 1_000, startMs: 2_000 };
/** A thread takes some 40 MB, so an idle one ends. */
const IDLE_MS = 60_000;

const LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 };

/** `late`: the schema is still being compiled. `overrun`: the thread was killed because of this question. */
export type ThreadVerdict =
  | { kind: 'answered'; reply: CheckReply }
  | { kind: 'late' }
  | { kind: 'overrun' }
  | { kind: 'unavailable'; reason: string };

const NOT_STARTED: ThreadVerdict = { kind: 'unavailable', reason: 'the validation thread did not start' };

export type Question = Omit<CheckRequest, 'id'>;

interface Pending {
  question: Question;
  settle(verdict: ThreadVerdict): void;
  settled: boolean;
  /** Runs when the thread is killed because of this question, possibly after the answer `late`. */
  onOverrun(): void;
  answerTimer: NodeJS.Timeout;
  killTimer: NodeJS.Timeout;
}

/** Validates in a thread that can be killed. The first question starts the thread; idle time ends it. */
export class ThreadedCheck {
  readonly #script: URL;
  readonly #limits: ThreadLimits;
  #thread: Worker | undefined;
  #ready: Promise<boolean> | undefined;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(script: URL = ownScript(), limits: ThreadLimits = THREAD_LIMITS) {
    this.#script = script;
    this.#limits = limits;
  }

  async check(question: Question, onOverrun: () => void): Promise<ThreadVerdict> {
    clearTimeout(this.#idleTimer);
    this.#ready ??= this.#start();
    const started = await this.#ready;
    const thread = this.#thread;
    if (!started || !thread) return NOT_STARTED;
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const pending: Pending = {
        question,
        settled: false,
        settle: (verdict) => {
          pending.settled = true;
          resolve(verdict);
        },
        onOverrun,
        answerTimer: setTimeout(() => setImmediate(() => pending.settle({ kind: 'late' })), this.#limits.answerMs),
        killTimer: this.#killIn(this.#limits.compileMs, id),
      };
      this.#pending.set(id, pending);
      thread.ref();
      thread.postMessage({ ...question, id } satisfies CheckRequest);
    });
  }

  dispose(): void {
    clearTimeout(this.#idleTimer);
    for (const { settle } of this.#end()) settle({ kind: 'unavailable', reason: 'the gateway is stopping' });
  }

  #start(): Promise<boolean> {
    const thread = new Worker(this.#script, { resourceLimits: LIMITS, stdout: true, stderr: true });
    this.#thread = thread;
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish(false), this.#limits.startMs);
      let running = false;
      const finish = (ready: boolean): void => {
        clearTimeout(timer);
        running ||= ready;
        resolve(ready);
        // The next question tries again.
        if (!running && this.#thread === thread) this.#end();
      };
      thread.on('message', (message: ThreadMessage) => {
        if (message === 'ready') finish(true);
        else if ('compiled' in message) this.#onCompiled(message.compiled);
        else this.#onReply(message);
      });
      // An exit event follows.
      thread.once('error', () => undefined);
      thread.once('exit', () => {
        finish(false);
        // An exit without a request means that the current question used up the memory.
        if (this.#thread === thread) this.#kill();
      });
    });
  }

  #onCompiled(id: number): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    clearTimeout(pending.killTimer);
    pending.killTimer = this.#killIn(this.#limits.valueMs, id);
  }

  /**
   * Kills the thread after `ms`. Reads waiting messages first: if the event loop itself was blocked, the thread may
   * have answered in time.
   */
  #killIn(ms: number, id: number): NodeJS.Timeout {
    const timer: NodeJS.Timeout = setTimeout(
      () => setImmediate(() => this.#pending.get(id)?.killTimer === timer && this.#kill()),
      ms,
    );
    return timer;
  }

  #onReply(reply: CheckReply): void {
    this.#take(reply.id)?.settle({ kind: 'answered', reply });
    if (this.#pending.size > 0) return;
    this.#thread?.unref();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.dispose(), IDLE_MS);
    this.#idleTimer.unref();
  }

  /** Kills the thread. It answers in order, so the oldest question is the culprit. */
  #kill(): void {
    const [oldest] = this.#pending.keys();
    const culprit = oldest === undefined ? undefined : this.#take(oldest);
    culprit?.onOverrun();
    culprit?.settle({ kind: 'overrun' });
    // Asks the other questions again, since they may be quick.
    for (const { question, settled, settle, onOverrun } of this.#end()) {
      if (!settled) void this.check(question, onOverrun).then(settle);
    }
    // The next question probably comes soon and should not wait for the start.
    this.#ready ??= this.#start();
  }

  /** Ends the thread and returns the open questions. */
  #end(): Pending[] {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#ready = undefined;
    const waiting = [...this.#pending.keys()].map((id) => this.#take(id) as Pending);
    void thread?.terminate();
    return waiting;
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (!pending) return undefined;
    this.#pending.delete(id);
    clearTimeout(pending.answerTimer);
    clearTimeout(pending.killTimer);
    return pending;
  }
}

/** Returns the thread's script: beside this file in the source tree, beside the worker in the product. */
function ownScript(): URL {
  const name = import.meta.url.endsWith('.ts') ? 'validationThread.ts' : 'validationThread.cjs';
  return new URL(`./${name}`, import.meta.url);
}
