import { appendFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { EventLogHealth } from '../control/healthContract.ts';

export interface EventLogOptions {
  file: string;
  /** Size limit of one file, and the number of files including the current one. */
  maxBytes?: number;
  maxFiles?: number;
  /** Events that may wait to be written. */
  maxQueue?: number;
  flushDelayMs?: number;
  /** Makes the event that reports the number of dropped events and the reason. */
  dropped?: (loss: { count: number; reason: string }) => object;
}

type EventLogStatus = Omit<EventLogHealth, 'file'>;

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_FILES = 4;
const MAX_QUEUE = 2_000;
const FLUSH_DELAY_MS = 250;
/** A batch is one write of at most this size. */
const MAX_BATCH_BYTES = 64 * 1024;
/** Making events yields to the event loop after this time. */
const SLICE_MS = 3;

/** Path of the event log of a workspace, in its state folder. */
export function eventLogFile(stateFolder: string): string {
  return join(stateFolder, 'events.jsonl');
}

/**
 * Appends events to a file as lines of JSON, in the background. A batch is one write to a file opened for appending, so
 * lines of two workers never mix. A full file gets a unique name, and the oldest file is removed. If a write fails,
 * events are dropped and their number is reported. Callers never wait.
 */
export class EventLog {
  readonly #options: Required<Omit<EventLogOptions, 'dropped'>> & Pick<EventLogOptions, 'dropped'>;
  #queue: (() => object)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  readonly #status: EventLogStatus = { written: 0, dropped: 0, failures: 0 };
  /** Dropped events that no line of the log reports yet. */
  #unreported = 0;
  #closed = false;

  constructor(options: EventLogOptions) {
    this.#options = {
      maxBytes: MAX_BYTES,
      maxFiles: MAX_FILES,
      maxQueue: MAX_QUEUE,
      flushDelayMs: FLUSH_DELAY_MS,
      ...options,
    };
  }

  get status(): EventLogStatus {
    return { ...this.#status };
  }

  /** Queues an event. `make` runs when the event is written. */
  append(make: () => object): void {
    if (this.#closed) return;
    const { maxQueue, flushDelayMs } = this.#options;
    if (this.#queue.length >= maxQueue) {
      this.#drop(1);
      return;
    }
    this.#queue.push(make);
    // Flush a burst before it overflows the queue.
    if (this.#queue.length === maxQueue >> 1) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), flushDelayMs).unref();
  }

  /** Resolves when all queued events are written or dropped. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#drain());
    return this.#writing;
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.flush();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#unreported > 0) {
      const reported = this.#unreported;
      const { text, events } = await this.#batch();
      try {
        if (text !== '') await this.#write(text);
        this.#status.written += events;
        delete this.#status.failing;
      } catch (error) {
        this.#status.failures += 1;
        this.#status.failing = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
        this.#drop(events);
        this.#unreported += reported;
        // The next event tries again.
        return;
      }
    }
  }

  async #batch(): Promise<{ text: string; events: number }> {
    let text = this.#lossReport();
    let events = 0;
    let sliceEnd = performance.now() + SLICE_MS;
    for (let make = this.#queue.shift(); make; make = this.#queue.shift()) {
      try {
        text += `${JSON.stringify(make())}\n`;
        events += 1;
      } catch {
        this.#drop(1);
      }
      if (text.length > MAX_BATCH_BYTES) break;
      if (performance.now() < sliceEnd) continue;
      await new Promise((resume) => setImmediate(resume));
      sliceEnd = performance.now() + SLICE_MS;
    }
    return { text, events };
  }

  #lossReport(): string {
    const count = this.#unreported;
    this.#unreported = 0;
    const { dropped } = this.#options;
    if (count === 0 || !dropped) return '';
    return `${JSON.stringify(dropped({ count, reason: this.#status.failing ?? 'too many at once' }))}\n`;
  }

  #drop(count: number): void {
    this.#status.dropped += count;
    this.#unreported += count;
  }

  async #write(text: string): Promise<void> {
    const { file, maxBytes } = this.#options;
    const size = await stat(file).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size + Buffer.byteLength(text) > maxBytes) await this.#rotate();
    // A failed write may have left half a line, which must not take the next one with it.
    const separator = size > 0 && this.#status.failing !== undefined ? '\n' : '';
    await appendFile(file, `${separator}${text}`, { mode: 0o600 });
  }

  async #rotate(): Promise<void> {
    const { file, maxFiles } = this.#options;
    // Another worker may have renamed the file already.
    await rename(file, rotatedName(file)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const older = await rotatedFiles(file);
    for (const one of older.slice(0, Math.max(0, older.length - (maxFiles - 1)))) await rm(one, { force: true });
  }
}

let lastStamp = 0;

/** `events.jsonl` becomes `events.<milliseconds>-<pid>.jsonl`: unique, and sorted by age. */
export function rotatedName(file: string): string {
  const { dir, name, ext } = parse(file);
  lastStamp = Math.max(Date.now(), lastStamp + 1);
  return join(dir, `${name}.${lastStamp}-${process.pid}${ext}`);
}

/** Full files of a log, oldest first. */
export async function rotatedFiles(file: string): Promise<string[]> {
  const { dir, name, ext } = parse(file);
  const isRotated = (one: string): boolean =>
    one.startsWith(`${name}.`) && one.endsWith(ext) && /^\d{13}-\d+$/.test(one.slice(name.length + 1, -ext.length));
  return (await readdir(dir))
    .filter(isRotated)
    .sort()
    .map((one) => join(dir, one));
}
