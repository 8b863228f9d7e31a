import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../lib/writeWhole.ts';
import { processStart } from './processStart.ts';
import { endGroup, endMarked, groupExists, killWindowsTree } from './processTree.ts';

/**
 * What a worker has started, on disk: a worker that is killed cannot end its servers, so its successor does. A process
 * is told from a later one of the same number by the time it started.
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
  /** How many servers of dead workers were ended. */
  readonly orphansEnded: Promise<number>;
  /**
   * Nothing is started before this: the same server must not run twice, and a worker that is killed in the moment of
   * a start must have left its run's mark, by which its successor finds what the list does not name yet.
   */
  readonly ready: Promise<void>;
  readonly #file: string;
  #worker: Entry | undefined;
  readonly #children = new Map<number, Entry>();
  #starts = 0;

  constructor(folder: string) {
    this.#file = join(folder, `${PREFIX}${this.run}.json`);
    this.orphansEnded = reapOrphans(folder).catch(() => 0);
    this.ready = this.orphansEnded.then(() => this.#open());
  }

  /** For one start: what it leaves outside its group is found by it. The run alone stands for all of them. */
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

  /** Takes the file away: everything in it has ended. */
  close(): void {
    rmSync(this.#file, { force: true });
  }

  #write(): void {
    if (!this.#worker) return;
    const content: JournalFile = { run: this.run, worker: this.#worker, children: [...this.#children.values()] };
    try {
      writeWhole(this.#file, JSON.stringify(content), { mode: 0o600 });
    } catch {
      // A disk that is full costs the clean-up after a kill, not the call.
    }
  }
}

/** Ends what dead workers left behind. */
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

/** The leader itself, or what it left in its group: nobody else can be given the number while a member lives. */
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
    const value = JSON.parse(readFileSync(file, 'utf8')) as JournalFile;
    const whole = typeof value.run === 'string' && Number.isInteger(value.worker?.pid) && Array.isArray(value.children);
    return whole ? value : undefined;
  } catch {
    return undefined;
  }
}
