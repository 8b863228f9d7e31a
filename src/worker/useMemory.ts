import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  emptyHistory,
  forgetUses,
  parseHistory,
  recordUse,
  serializeHistory,
  type UseHistory,
} from '../routing/useHistory.ts';

const FILE = 'uses.json';
/** Uses come in bursts: one write serves them. */
const WRITE_DELAY_MS = 1_000;

/** What was executed after which query, kept in the workspace's own state: never elsewhere, and erasable. */
export class UseMemory {
  readonly #file: string;
  readonly #log: (line: string) => void;
  #history: UseHistory;
  #timer: NodeJS.Timeout | undefined;
  #isWritten = true;

  constructor(folder: string, log: (line: string) => void) {
    this.#file = join(folder, FILE);
    this.#log = log;
    this.#history = this.#read();
  }

  get history(): UseHistory {
    return this.#history;
  }

  record(query: string, toolId: string): void {
    this.#history = recordUse(this.#history, query, toolId);
    this.#isWritten = false;
    this.#timer ??= setTimeout(() => this.flush(), WRITE_DELAY_MS);
  }

  /** Forgets one tool's uses, or all. */
  forget(toolId?: string): void {
    this.#history = forgetUses(this.#history, toolId);
    this.#isWritten = false;
    this.flush();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // What a successor has learned meanwhile must not be put back.
    if (this.#isWritten) return;
    this.#isWritten = true;
    try {
      if (this.#history.entries.length === 0) rmSync(this.#file, { force: true });
      else {
        writeFileSync(`${this.#file}.new`, serializeHistory(this.#history), { mode: 0o600 });
        renameSync(`${this.#file}.new`, this.#file);
      }
    } catch (error) {
      this.#log(`what was learned from use could not be written: ${(error as Error).message}`);
    }
  }

  #read(): UseHistory {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return emptyHistory();
    }
    return parseHistory(text);
  }
}
