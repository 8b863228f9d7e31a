import type { ControlServer } from '../control/channel.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  GatewaySnapshot,
  SecretAnswer,
  SecretRequest,
} from '../control/contract.ts';

/** Watchers need no more than this many snapshots: a page that shows them is drawn once a second. */
const SNAPSHOT_INTERVAL_MS = 250;

/** The editors that watch: each is sent what it can read, and one of them is asked what only a person knows. */
export class Watchers {
  readonly #snapshot: () => GatewaySnapshot;
  readonly #watchers = new Map<ControlServer, 'idle' | 'busy' | 'behind'>();
  #asking = 0;
  #superseded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(snapshot: () => GatewaySnapshot) {
    this.#snapshot = snapshot;
  }

  add(watcher: ControlServer): void {
    this.#watchers.set(watcher, 'idle');
    watcher.onClose(() => this.#watchers.delete(watcher));
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
      for (const watcher of [...this.#watchers.keys()]) void watcher.supersede();
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
