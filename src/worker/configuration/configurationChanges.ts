import type { Configuration } from './configuration.ts';
import type { ConfigurationWatchOptions } from './configurationWatch.ts';
import type { Handover } from './handover.ts';

export interface ConfigurationChangesOptions {
  configuration: Configuration;
  /** Has another worker take over that runs by what is written now; rejects with why not. */
  rollOut(handover: Handover): Promise<unknown>;
  /** What is written is not in force. */
  onRefused(reason: string): void;
  /** Something that a watcher shows has changed. */
  onChange(): void;
  log(line: string): void;
}

/** What comes of a change that a `ConfigurationWatch` sees: the person is told, and another worker is to run by it. */
export class ConfigurationChanges implements ConfigurationWatchOptions {
  readonly #options: ConfigurationChangesOptions;
  #problemsLogged = '';

  constructor(options: ConfigurationChangesOptions) {
    this.#options = options;
  }

  get files(): readonly string[] {
    return this.#options.configuration.files;
  }

  look(): boolean {
    return this.#options.configuration.look();
  }

  /** Where things stand in the files, and what is wrong there, may have changed. */
  onLooked(): void {
    this.logProblems();
    this.#options.onChange();
  }

  async rollOut(): Promise<void> {
    const { configuration, rollOut, log } = this.#options;
    log('the configuration has changed: another worker is prepared');
    await rollOut(configuration.handover);
  }

  onRefused(reason: string): void {
    const { configuration, onRefused, onChange, log } = this.#options;
    configuration.refuse(reason);
    log(`the changed configuration is not in force: ${reason}`);
    onRefused(reason);
    onChange();
  }

  logProblems(): void {
    const lines = this.#options.configuration.problemLines;
    // They are the same at most looks.
    if (lines.join() === this.#problemsLogged) return;
    this.#problemsLogged = lines.join();
    for (const line of lines) this.#options.log(line);
  }
}
