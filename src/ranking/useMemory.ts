import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnText } from '../lib/readBounded.ts';
import { writeWhole } from '../lib/writeWhole.ts';
import { emptyHistory, forgetUses, parseHistory, recordUse, serializeHistory, type UseHistory } from './useHistory.ts';

const FILE = 'uses.json';
/** Uses come in bursts, which one write covers. */
const WRITE_DELAY_MS = 1_000;

/**
 * Remembers which tool was executed after which query. The file is in the workspace's state folder and can be erased.
 * All workers of the workspace share it, so that a successor sees the last writes of its predecessor.
 */
export class UseMemory {
  readonly #file: string;
  readonly #log: (line: string) => void;
  #history = emptyHistory();
  /** Version of the file that was read last. */
  #stamp = '';
  #unwritten: { query: string; toolId: string }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, log: (line: string) => void) {
    this.#file = join(folder, FILE);
    this.#log = log;
  }

  get history(): UseHistory {
    this.#follow();
    return this.#history;
  }

  record(query: string, toolId: string): void {
    this.#history = recordUse(this.history, query, toolId);
    this.#unwritten.push({ query, toolId });
    this.#timer ??= setTimeout(() => this.flush(), WRITE_DELAY_MS);
  }

  /** Forgets one tool's uses, or all. */
  forget(toolId?: string): void {
    this.#history = forgetUses(this.history, toolId);
    this.#unwritten = [];
    this.#write();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unwritten.length === 0) return;
    this.#follow();
    this.#unwritten = [];
    this.#write();
  }

  /** Another worker may have written: reread the file, then apply unsaved changes again. */
  #follow(): void {
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#history = this.#unwritten.reduce((all, { query, toolId }) => recordUse(all, query, toolId), this.#read());
  }

  #stampNow(): string {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    return stats ? `${stats.ino} ${stats.mtimeMs} ${stats.size}` : '';
  }

  #write(): void {
    try {
      if (this.#history.entries.length === 0) rmSync(this.#file, { force: true });
      else writeWhole(this.#file, serializeHistory(this.#history), { mode: 0o600 });
      this.#stamp = this.#stampNow();
    } catch (error) {
      this.#log(`what was learned from use could not be written: ${(error as Error).message}`);
    }
  }

  #read(): UseHistory {
    let text: string;
    try {
      text = readOwnText(this.#file);
    } catch {
      return emptyHistory();
    }
    return parseHistory(text);
  }
}
