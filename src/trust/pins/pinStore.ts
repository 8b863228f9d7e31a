import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, renameSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { fileVersion } from '../../lib/followFile.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';
import { type TakeLock, takePatiently } from '../patientLock.ts';
import { type PinBook, readBook, writeBook } from './pinBook.ts';

const FILE = 'pins.json';
const DAMAGED = 'pins.damaged.json';
/** Pinned items in full, a file per server, so that a difference can be shown while the server is down. */
const TEXTS = 'pinned';

/** Pinned items of a server, by their pin. */
export type PinnedTexts = Readonly<Record<string, unknown>>;

export interface PinStorePorts {
  /** State folder of the workspace, which no workspace can write. */
  folder: string;
  lock: TakeLock;
  /** Pause between two tries to take the lock. */
  waitMs?: number;
}

/** Pins of a workspace on disk, shared by all its workers. The file outlives servers, workers and snapshots. */
export class PinStore {
  readonly #file: string;
  readonly #ports: PinStorePorts;
  #seen: string | undefined;
  #book: PinBook | undefined;
  /** The book for everything that a function reads, while it runs. */
  #steady: { book: PinBook | undefined } | undefined;

  constructor(ports: PinStorePorts) {
    this.#ports = ports;
    this.#file = join(ports.folder, FILE);
  }

  get file(): string {
    return this.#file;
  }

  /**
   * Returns the book as it is on disk now; `undefined` if it is damaged. A missing file is damage as well once anything
   * was pinned. An unchanged file is not read again and keeps its object.
   */
  read(): PinBook | undefined {
    return this.#steady ? this.#steady.book : this.#look();
  }

  /** Runs a function for which the file is looked at once, however often it reads the book. It must change no pin. */
  steady<T>(run: () => T): T {
    if (this.#steady) return run();
    this.#steady = { book: this.#look() };
    try {
      return run();
    } finally {
      this.#steady = undefined;
    }
  }

  #look(): PinBook | undefined {
    let stats: Stats | undefined;
    try {
      stats = lstatSync(this.#file, { throwIfNoEntry: false });
    } catch {
      return undefined;
    }
    const seen = stats ? fileVersion(stats) : 'none';
    if (seen === this.#seen) return this.#book;
    this.#book = stats ? this.#load() : existsSync(this.#textsFolder) ? undefined : {};
    this.#seen = seen;
    return this.#book;
  }

  /** Changes the book under the lock. Throws if it cannot be written, and then nothing has changed. */
  update(change: (book: PinBook) => PinBook, texts?: { server: string; items: PinnedTexts }): void {
    const release = takePatiently(this.#ports.lock, `${this.#file}.lock`, this.#ports.waitMs);
    try {
      const book = this.#look();
      if (!book) throw new Error(`${this.#file} is damaged`);
      const changed = change(book);
      if (changed === book) return;
      // The folder of texts proves later that a book existed, so the book comes first.
      if (!existsSync(this.#textsFolder)) {
        this.#write({});
        mkdirSync(this.#textsFolder, { mode: 0o700 });
      }
      // A pin without its text could not be compared.
      if (texts) {
        const { server, items } = texts;
        const pins = new Set(Object.values(changed[server]?.pins ?? {}));
        const all = Object.entries({ ...this.texts(server), ...items }).filter(([pin]) => pins.has(pin));
        writeWhole(this.#textsFile(server), JSON.stringify(Object.fromEntries(all)), { mode: 0o600 });
      }
      this.#write(changed);
    } finally {
      release();
    }
  }

  /** Sets a damaged book aside and begins another. */
  replaceDamaged(book: PinBook): void {
    const release = takePatiently(this.#ports.lock, `${this.#file}.lock`, this.#ports.waitMs);
    try {
      if (this.#look()) return;
      if (existsSync(this.#file)) renameSync(this.#file, join(this.#ports.folder, DAMAGED));
      this.#write(book);
    } finally {
      release();
    }
  }

  /** Returns the pinned items of a server; none if the file is lost, which only makes differences coarser. */
  texts(server: string): PinnedTexts {
    try {
      const value: unknown = JSON.parse(readOwnText(this.#textsFile(server)));
      return value !== null && typeof value === 'object' ? (value as PinnedTexts) : {};
    } catch {
      return {};
    }
  }

  #load(): PinBook | undefined {
    try {
      return readBook(readOwnText(this.#file));
    } catch {
      return undefined;
    }
  }

  #write(book: PinBook): void {
    writeWhole(this.#file, writeBook(book), { mode: 0o600, sync: true });
  }

  get #textsFolder(): string {
    return join(this.#ports.folder, TEXTS);
  }

  #textsFile(server: string): string {
    return join(this.#textsFolder, `${createHash('sha256').update(server).digest('hex').slice(0, 16)}.json`);
  }
}
