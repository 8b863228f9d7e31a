import type { ControlServer } from '../../control/channel.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  GatewaySnapshot,
  SecretAnswer,
  SecretRequest,
} from '../../control/contract.ts';

/** Watchers draw at most once a second, so faster snapshots are of no use. */
const SNAPSHOT_INTERVAL_MS = 250;
/** Covers the retries of an editor after 0.1, 0.5 and 1 s. */
const RETURN_MS = 3_000;

/** Editors that watch this worker. All receive snapshots, and one of them asks the user if an answer is needed. */
export class Watchers {
  readonly #snapshot: () => GatewaySnapshot;
  readonly #onWatched: (watched: boolean) => void;
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  #asking = 0;
  #return = Promise.resolve();
  #returned = (): void => undefined;
  #superseded = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onWatched` reports the first watcher that comes and the last one that goes. */
  constructor(snapshot: () => GatewaySnapshot, onWatched: (watched: boolean) => void) {
    this.#snapshot = snapshot;
    this.#onWatched = onWatched;
  }

  add(watcher: ControlServer): void {
    this.#watchers.set(watcher, 'idle');
    this.#returned();
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

  /** Returns the answer of the first editor that can ask the user. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict> {
    return this.#whileAsking(async () => {
      for (const watcher of [...this.#watchers.keys()]) {
        const verdict = await watcher.approve(question);
        if (verdict !== 'unavailable') return verdict;
      }
      return 'unavailable';
    });
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
