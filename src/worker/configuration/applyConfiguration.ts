import { existsSync, unwatchFile, watchFile } from 'node:fs';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import type { Configuration } from './configuration.ts';

export interface ApplyOptions {
  configuration: Configuration;
  /** Puts the settings in force for the calls that begin from now on. */
  adoptSettings(): void;
  /** Restarts the servers whose entry has changed, ends removed ones and begins new ones. */
  reconcileServers(): void;
  /** Stores the texts in force for the next worker. */
  keep(texts: KeptTexts): void;
  /** Called after a change that watchers show. */
  onChange(): void;
  log(line: string): void;
  /** For tests. */
  paces?: Partial<typeof PACES>;
}

const PACES = {
  /** Polling detects the edits of every editor on every system. */
  pollMs: 500,
  /** Editors write in several steps. */
  quietMs: 100,
  /** Some programs delete a file before they write it anew: its rules hold until it stays away for this long. */
  goneMs: 1_000,
};

/**
 * Applies edits of the configuration files: watches, reads and compares them, swaps the settings, reconciles the
 * servers, and reports. An edit takes effect in one synchronous step, so a call sees the configuration before it or
 * after it. An unreadable file is reported and changes nothing.
 */
export class ConfigurationEdits {
  readonly #options: ApplyOptions;
  readonly #paces: typeof PACES;
  #quiet: NodeJS.Timeout | undefined;
  /** Watched files, and whether they existed when they were last read. */
  #watched: ReadonlyMap<string, boolean> | undefined;
  #reported = '';
  #stopped = false;

  constructor(options: ApplyOptions) {
    this.#options = options;
    this.#paces = { ...PACES, ...options.paces };
  }

  /** `succeeds`: another worker may have put an edit in force since this one read the files. */
  watch({ succeeds }: { succeeds: boolean }): void {
    const { configuration, keep } = this.#options;
    if (succeeds) configuration.takeOver();
    this.#watched = new Map();
    this.apply();
    keep(configuration.texts);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#quiet);
    this.#watchOnly([]);
  }

  /** Applies the current content of the files. */
  apply(): void {
    if (this.#stopped) return;
    const { configuration, adoptSettings, reconcileServers, keep, onChange, log } = this.#options;
    if (configuration.read()) {
      adoptSettings();
      reconcileServers();
      keep(configuration.texts);
      log('the edited configuration is in force');
    }
    if (this.#watched) this.#watchOnly(configuration.files);
    this.report();
    onChange();
  }

  /** Logs the problems of the files if they differ from the last report. */
  report(): void {
    const { configuration, log } = this.#options;
    const lines = configuration.current.problems.map(
      ({ severity, message, location: { file, line, column } }) => `${severity}: ${file}:${line}:${column}: ${message}`,
    );
    if (lines.join('\n') === this.#reported) return;
    this.#reported = lines.join('\n');
    for (const line of lines) log(line);
  }

  readonly #onFile = (): void => {
    const isGone = [...(this.#watched ?? [])].some(([file, existed]) => existed && !existsSync(file));
    this.#applyIn(isGone ? this.#paces.goneMs : this.#paces.quietMs);
  };

  #watchOnly(files: readonly string[]): void {
    const { pollMs: interval } = this.#paces;
    const before = this.#watched ?? new Map<string, boolean>();
    for (const file of before.keys()) if (!files.includes(file)) unwatchFile(file, this.#onFile);
    const added = files.filter((file) => !before.has(file));
    for (const file of added) watchFile(file, { interval, persistent: false }, this.#onFile);
    this.#watched = new Map(files.map((file) => [file, existsSync(file)]));
    // The files may have changed before the watch had their state.
    if (added.length > 0) this.#applyIn(interval);
  }

  #applyIn(delayMs: number): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.apply(), delayMs).unref();
  }
}
