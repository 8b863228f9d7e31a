import type { ControlServer } from '../../control/channel.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  GatewaySnapshot,
  SecretAnswer,
  SecretRequest,
} from '../../control/contract.ts';

/** Watchers need no more than this many snapshots: a page that shows them is drawn once a second. */
const SNAPSHOT_INTERVAL_MS = 250;
/** An editor tries again after 0.1, 0.5 and 1 s. */
const RETURN_MS = 3_000;

/** The editors that watch: each is sent what it can read, and one of them is asked what only a person knows. */
export class Watchers {
  readonly #snapshot: () => GatewaySnapshot;
  readonly #onWatched: (watched: boolean) => void;
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  #asking = 0;
  #return = Promise.resolve();
  #returned = (): void => undefined;
  #superseded = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onWatched` is told with the first one that comes and the last one that goes. */
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
   * The worker before this one was watched. Its editor is on its way here, and what is kept there is waited for: a server
   * would be called without its secret otherwise, and the person asked for what he has given long ago.
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

  /** Something that a watcher shows has changed. */
  announce(): void {
    if (this.#watchers.size === 0 || this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const watcher of this.#watchers.keys()) void this.#tell(watcher);
    }, SNAPSHOT_INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** They look at another worker from now on; where one is being asked something its line stays for the answer. */
  supersede(): void {
    this.#superseded = true;
    if (this.#asking > 0) return;
    // Behind the answers that are on their way.
    setImmediate(() => {
      for (const watcher of this.#watchers.keys()) watcher.supersede();
    });
  }

  /** The first editor that has somebody to ask answers for all. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict> {
    return this.#whileAsking(async () => {
      for (const watcher of [...this.#watchers.keys()]) {
        const verdict = await watcher.approve(question);
        if (verdict !== 'unavailable') return verdict;
      }
      return 'unavailable';
    });
  }

  /** The first editor that has a store, or has the value asked for. */
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

  /** A watcher that does not read is sent one snapshot, not all of them: when it has read, the latest follows. */
  async #tell(watcher: ControlServer): Promise<void> {
    if (this.#watchers.get(watcher) !== 'idle') {
      if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'behind');
      return;
    }
    this.#watchers.set(watcher, 'busy');
    await watcher.notify(this.#snapshot());
    const behind = this.#watchers.get(watcher) === 'behind';
    if (this.#watchers.has(watcher)) this.#watchers.set(watcher, 'idle');
    if (behind) await this.#tell(watcher);
  }
}
