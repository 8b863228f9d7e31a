import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_CALL_MS } from '../../calls/pipeline/deadline.ts';
import type { Refreshed } from '../../control/activityContract.ts';
import type { ControlServer } from '../../control/channel.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  GatewaySnapshot,
  SecretAnswer,
  SecretRequest,
} from '../../control/contract.ts';
import type { ActiveCall } from '../reports/activeCall.ts';

/** Watchers draw at most once a second, so faster snapshots are of no use. */
const SNAPSHOT_INTERVAL_MS = 250;
/** A view draws at most four times a second. */
const CALLS_INTERVAL_MS = 100;
/** Time for the user to answer a question. No call lasts longer. */
const QUESTION_MS = LONGEST_CALL_MS;
/** Covers the retries of an editor after 0.1, 0.5 and 1 s. */
const RETURN_MS = 3_000;

/** Editors that watch this worker. All receive snapshots, and one of them asks the user if an answer is needed. */
export class Watchers {
  readonly #snapshot: () => GatewaySnapshot;
  readonly #onWatched: (watched: boolean) => void;
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  /** Questions about refused calls, each of which shows itself to a watcher. */
  readonly #offers = new Set<(watcher: ControlServer) => void>();
  #asking = 0;
  #return = Promise.resolve();
  #returned = (): void => undefined;
  #superseded = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #calls = new Map<number, ActiveCall>();
  #callTimer: NodeJS.Timeout | undefined;

  /** `onWatched` reports the first watcher that comes and the last one that goes. */
  constructor(snapshot: () => GatewaySnapshot, onWatched: (watched: boolean) => void) {
    this.#snapshot = snapshot;
    this.#onWatched = onWatched;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  add(watcher: ControlServer): void {
    this.#watchers.set(watcher, 'idle');
    this.#returned();
    for (const show of this.#offers) show(watcher);
    if (this.#watchers.size === 1) this.#onWatched(true);
    watcher.onClose(() => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) this.#onWatched(false);
    });
  }

  /**
   * Waits for the editor that watched the previous worker and is about to return. Requests for its secrets wait as
   * well; otherwise servers would start without them and the user would be asked again.
   */
  expectReturn(): void {
    this.#return = new Promise((resolve) => {
      this.#returned = resolve;
      const late = (): void => {
        resolve();
        if (this.#watchers.size === 0) this.#onWatched(false);
      };
      setTimeout(late, RETURN_MS).unref();
    });
  }

  /** Schedules a snapshot for all watchers after a change. */
  announce(): void {
    if (this.#watchers.size === 0 || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const watcher of this.#watchers.keys()) void this.#send(watcher);
    }, SNAPSHOT_INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#callTimer);
  }

  /** Sends watchers to the next worker. A watcher that is asking the user keeps its line until the answer. */
  supersede(): void {
    this.#superseded = true;
    if (this.#asking > 0) return;
    // Runs after pending answers have been written.
    setImmediate(() => {
      for (const watcher of this.#watchers.keys()) watcher.supersede();
    });
  }

  /** Sends a call to all watchers, together with the others of the same tenth of a second. */
  announceCall(call: ActiveCall): void {
    if (this.#watchers.size === 0) return;
    this.#calls.set(call.id, call);
    this.#callTimer ??= setTimeout(() => {
      this.#callTimer = undefined;
      const records = [...this.#calls.values()].map(({ record }) => record);
      this.#calls.clear();
      for (const watcher of this.#watchers.keys()) watcher.calls(records);
    }, CALLS_INTERVAL_MS);
  }

  /** Sends the end of a refresh to all watchers. Returns whether `asker` is one of them. */
  refreshed(news: Refreshed, asker: ControlServer): boolean {
    for (const watcher of this.#watchers.keys()) watcher.refreshed(news);
    return this.#watchers.has(asker);
  }

  /**
   * Asks the user in every editor at once and returns the first answer, with which the other editors lose the question.
   * `gone` withdraws it from all.
   */
  approve(asked: ApprovalQuestion, gone: AbortSignal): Promise<ApprovalVerdict | 'late'> {
    const timeLimit = Number(process.env.WAYGATE_QUESTION_MS) || QUESTION_MS;
    const question = { ...asked, deadline: Date.now() + timeLimit };
    return this.#whileAsking(async () => {
      const over = new AbortController();
      const late = sleep(timeLimit, 'late' as const, { ref: false, signal: over.signal }).catch(() => 'late' as const);
      const signal = AbortSignal.any([gone, over.signal]);
      const answers = [...this.#watchers.keys()].map(async (watcher) => {
        const verdict = await watcher.approve(question, signal);
        return verdict === 'unavailable' ? Promise.reject(new Error(verdict)) : verdict;
      });
      try {
        return await Promise.race([Promise.any(answers).catch(() => 'unavailable' as const), late]);
      } finally {
        over.abort();
      }
    });
  }

  /**
   * Shows a question about a refused call in each editor, also in those that come later, until the first answer or
   * until `gone` aborts. No call waits for it, so it has no end of its own.
   */
  offer(question: ApprovalQuestion, gone: AbortSignal, answer: (verdict: ApprovalVerdict) => void): void {
    const show = async (watcher: ControlServer): Promise<void> => {
      const verdict = await watcher.approve(question, gone);
      if (verdict !== 'unavailable' && !gone.aborted) answer(verdict);
    };
    this.#offers.add(show);
    gone.addEventListener('abort', () => this.#offers.delete(show), { once: true });
    for (const watcher of this.#watchers.keys()) void show(watcher);
  }

  /** Returns the answer of the first editor that has a store, or the requested value. */
  secret(request: SecretRequest): Promise<SecretAnswer> {
    return this.#whileAsking(async () => {
      if (this.#watchers.size === 0) await this.#return;
      let answer: SecretAnswer = { kept: false };
      for (const watcher of [...this.#watchers.keys()]) {
        const { kept, value } = await watcher.secret(request);
        if (kept) answer = { kept, value };
        if (kept && (request.op === 'set' || value !== undefined)) break;
      }
      return answer;
    });
  }

  async #whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#asking += 1;
    try {
      return await ask();
    } finally {
      this.#asking -= 1;
      if (this.#superseded) this.supersede();
    }
  }

  /** Sends a snapshot. A watcher that is still reading one gets only the latest afterwards. */
  async #send(watcher: ControlServer): Promise<void> {
    if (this.#watchers.get(watcher) !== 'idle') {
      if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'behind');
      return;
    }
    this.#watchers.set(watcher, 'busy');
    await watcher.notify(this.#snapshot());
    const behind = this.#watchers.get(watcher) === 'behind';
    if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'idle');
    if (behind) await this.#send(watcher);
  }
}
