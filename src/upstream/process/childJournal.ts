import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deferred } from '../../lib/deferred.ts';
import { AFTER_FIRST_ANSWERS_MS } from '../../lib/firstAnswers.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import { processStart } from './processStart.ts';
import { endGroup, endMarked, groupExists, killWindowsTree } from './processTree.ts';

/**
 * Journal on disk of the processes that a worker started. A killed worker cannot end its servers, so its successor
 * does. The start time distinguishes a process from a later one with the same id.
 */
interface Entry {
  pid: number;
  started: string;
}

interface JournalFile {
  run: string;
  worker: Entry;
  children: Entry[];
}

const PREFIX = 'children-';

export class ChildJournal {
  readonly run = randomBytes(8).toString('hex');
  /** Number of servers of dead workers that were ended. */
  readonly orphansEnded: Promise<number>;
  readonly #ready: Promise<void>;
  readonly #needed = deferred<void>();
  readonly #timer: NodeJS.Timeout;
  readonly #file: string;
  #worker: Entry | undefined;
  readonly #children = new Map<number, Entry>();
  #starts = 0;

  constructor(folder: string) {
    this.#file = join(folder, `${PREFIX}${this.run}.json`);
    // The search reads the environment of every process: a seventh of the time from a kill to the next worker's first answer.
    this.#timer = setTimeout(this.#needed.resolve, AFTER_FIRST_ANSWERS_MS).unref();
    this.orphansEnded = this.#needed.promise.then(() => reapOrphans(folder)).catch(() => 0);
    this.#ready = this.orphansEnded.then(() => this.#open());
  }

  /**
   * Resolves when servers may start. Orphans have ended, because the same server must not run twice. The journal names
   * this run, so that a successor finds a process that started just before a kill.
   */
  get ready(): Promise<void> {
    this.#needed.resolve();
    return this.#ready;
  }

  /**
   * Returns the mark of one start, which identifies processes outside the server's group. The run's id is the prefix of
   * all marks.
   */
  nextMark(): string {
    this.#starts += 1;
    return `${this.run}.${this.#starts}`;
  }

  async add(pid: number): Promise<void> {
    this.#children.set(pid, await entryOf(pid));
    this.#write();
  }

  async #open(): Promise<void> {
    this.#worker = await entryOf(process.pid);
    this.#write();
  }

  remove(pid: number): void {
    if (this.#children.delete(pid)) this.#write();
  }

  /** Deletes the file after every process in it has ended. A worker that stops early has its orphans to end first. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.ready;
    rmSync(this.#file, { force: true });
  }

  #write(): void {
    if (!this.#worker) return;
    const content: JournalFile = { run: this.run, worker: this.#worker, children: [...this.#children.values()] };
    try {
      writeWhole(this.#file, JSON.stringify(content), { mode: 0o600 });
    } catch {
      // With a full disk, only the clean-up after a kill fails.
    }
  }
}

/** Ends the processes of dead workers. */
async function reapOrphans(folder: string): Promise<number> {
  const journals = readdirSync(folder).filter((name) => name.startsWith(PREFIX) && name.endsWith('.json'));
  const counts = await Promise.all(journals.map((name) => reapJournal(join(folder, name))));
  return counts.reduce((sum, n) => sum + n, 0);
}

async function reapJournal(file: string): Promise<number> {
  const journal = readJournal(file);
  if (!journal) {
    rmSync(file, { force: true });
    return 0;
  }
  if (await isSame(journal.worker)) return 0;
  const ours = await Promise.all(journal.children.map(isOurs));
  const alive = journal.children.filter((_, i) => ours[i]);
  const ended = await endAll(journal.run, alive);
  rmSync(file, { force: true });
  return ended;
}

async function endAll(run: string, children: readonly Entry[]): Promise<number> {
  const pids = children.map((child) => child.pid);
  if (process.platform === 'linux') return endMarked(run, { groups: pids });
  await Promise.all(pids.map((pid) => (process.platform === 'win32' ? killWindowsTree(pid) : endGroup(pid))));
  return pids.length;
}

/**
 * Reports whether the leader or its group still lives. The system does not reuse an id while the group has a member.
 */
async function isOurs(child: Entry): Promise<boolean> {
  if (process.platform === 'win32') return isSame(child);
  const now = await processStart(child.pid);
  return now === undefined ? groupExists(child.pid) : now === child.started;
}

async function isSame(entry: Entry): Promise<boolean> {
  const now = await processStart(entry.pid);
  return now !== undefined && now === entry.started;
}

async function entryOf(pid: number): Promise<Entry> {
  return { pid, started: (await processStart(pid)) ?? '' };
}

function readJournal(file: string): JournalFile | undefined {
  try {
    const value = JSON.parse(readOwnText(file)) as JournalFile;
    const whole = typeof value.run === 'string' && Number.isInteger(value.worker?.pid) && Array.isArray(value.children);
    return whole ? value : undefined;
  } catch {
    return undefined;
  }
}
