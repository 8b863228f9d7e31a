import { unwatchFile, watchFile } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ConfigurationWatchOptions {
  files: readonly string[];
  /** Reads them; whether they say something else than what is in force. */
  look(): boolean;
  /** Something about the files may have changed, if only where things stand in them. */
  onLooked(): void;
  /** Has another worker take over that runs by what is written; rejects where that fails. */
  rollOut(): Promise<void>;
  onRefused(reason: string): void;
  /** For tests. */
  paces?: Partial<typeof PACES>;
}

const PACES = {
  /** Polling sees what editors do to files on every system. */
  pollMs: 1_000,
  /** Editors write in several steps, and a person may save several files at once. */
  quietMs: 150,
  /** Whatever changes how often: workers do not follow each other faster. */
  restMs: 2_000,
};

/** Sees that the files of a configuration have changed, and has them take effect: one rollout at a time, and paced. */
export class ConfigurationWatch {
  readonly #options: ConfigurationWatchOptions;
  readonly #paces: typeof PACES;
  readonly #over = new AbortController();
  #notBefore = 0;
  #quiet: NodeJS.Timeout | undefined;
  #current: Promise<void> | undefined;
  #following: Promise<void> | undefined;

  constructor(options: ConfigurationWatchOptions) {
    this.#options = options;
    this.#paces = { ...PACES, ...options.paces };
  }

  /** `isFresh`: this worker has itself taken over from another a moment ago. */
  start(isFresh: boolean): void {
    const { pollMs, restMs } = this.#paces;
    if (isFresh) this.#notBefore = performance.now() + restMs;
    for (const file of this.#options.files) watchFile(file, { interval: pollMs, persistent: false }, this.#onFile);
    // What was written between the reading of the files and now.
    this.#touched(pollMs);
  }

  stop(): void {
    this.#over.abort();
    clearTimeout(this.#quiet);
    for (const file of this.#options.files) unwatchFile(file, this.#onFile);
  }

  /** Looks now. Resolves when what is written is in force, here or in the next worker, or was refused. */
  async look(): Promise<void> {
    if (!this.#current) return this.#run();
    // What is being rolled out was read before now.
    this.#following ??= this.#current.then(() => {
      this.#following = undefined;
      return this.#run();
    });
    return this.#following;
  }

  readonly #onFile = (): void => this.#touched(this.#paces.quietMs);

  #touched(delayMs: number): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => void this.look(), delayMs).unref();
  }

  async #run(): Promise<void> {
    const run = this.#lookOnce();
    this.#current = run;
    await run;
    if (this.#current === run) this.#current = undefined;
  }

  async #lookOnce(): Promise<void> {
    if (!this.#differs()) return;
    await sleep(Math.max(0, this.#notBefore - performance.now()), undefined, {
      ref: false,
      signal: this.#over.signal,
    }).catch(() => undefined);
    // It may have been taken back meanwhile.
    if (!this.#differs()) return;
    try {
      await this.#options.rollOut();
    } catch (error) {
      this.#notBefore = performance.now() + this.#paces.restMs;
      if (this.#over.signal.aborted) return;
      this.#options.onRefused((error as Error).message);
    }
  }

  #differs(): boolean {
    if (this.#over.signal.aborted) return false;
    const differs = this.#options.look();
    this.#options.onLooked();
    return differs;
  }
}
