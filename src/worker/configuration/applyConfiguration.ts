import { unwatchFile, watchFile } from 'node:fs';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import type { Configuration } from './configuration.ts';

export interface ApplyOptions {
  configuration: Configuration;
  /** Puts the settings in force for the calls that begin from now on. */
  adoptSettings(): void;
  /** Restarts the servers whose entry has changed, ends removed ones and begins new ones. */
  reconcileServers(): void;
  /** Keeps the texts in force for the next worker. */
  keep(texts: KeptTexts): void;
  /** Something that a watcher shows has changed. */
  onChange(): void;
  log(line: string): void;
  /** For tests. */
  paces?: Partial<typeof PACES>;
}

const PACES = {
  /** Polling sees what editors do to files on every system. */
  pollMs: 500,
  /** Editors write in several steps. */
  quietMs: 100,
};

/**
 * Applies edits of the configuration files: watch, read, compare, swap the settings, reconcile the servers, report. An
 * edit is applied in one synchronous step, so a call sees the configuration before it or after it. A file that cannot be
 * read changes nothing and is reported.
 */
export class ConfigurationEdits {
  readonly #options: ApplyOptions;
  readonly #paces: typeof PACES;
  #quiet: NodeJS.Timeout | undefined;
  #reported = '';
  #stopped = false;

  constructor(options: ApplyOptions) {
    this.#options = options;
    this.#paces = { ...PACES, ...options.paces };
  }

  watch(): void {
    const { configuration, keep } = this.#options;
    const { pollMs } = this.#paces;
    keep(configuration.texts);
    for (const file of configuration.files) watchFile(file, { interval: pollMs, persistent: false }, this.#onFile);
    // The files may have changed since this worker has read them.
    this.#applyIn(pollMs);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#quiet);
    for (const file of this.#options.configuration.files) unwatchFile(file, this.#onFile);
  }

  /** Applies what the files say now. */
  apply(): void {
    if (this.#stopped) return;
    const { configuration, adoptSettings, reconcileServers, keep, onChange, log } = this.#options;
    if (configuration.read()) {
      adoptSettings();
      reconcileServers();
      keep(configuration.texts);
      log('the edited configuration is in force');
    }
    this.report();
    onChange();
  }

  /** Logs the problems of the files, if they are others than before. */
  report(): void {
    const { configuration, log } = this.#options;
    const lines = configuration.current.problems.map(
      ({ severity, message, location: { file, line, column } }) => `${severity}: ${file}:${line}:${column}: ${message}`,
    );
    if (lines.join('\n') === this.#reported) return;
    this.#reported = lines.join('\n');
    for (const line of lines) log(line);
  }

  readonly #onFile = (): void => this.#applyIn(this.#paces.quietMs);

  #applyIn(delayMs: number): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.apply(), delayMs).unref();
  }
}
