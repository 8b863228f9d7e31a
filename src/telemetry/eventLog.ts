import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Appends events as JSON lines, one batch per write (O8.5). The file is opened for appending, so that two workers of
 * one workspace never mix their lines; a line that a crash has torn is ended before the next one. Full files are
 * renamed, never emptied, and the oldest is removed. Nothing waits for the disk: if a write fails, only events are
 * dropped (O8.8).
 */
export interface EventLogOptions {
  file: string;
  /** One file's size, and how many there are with the current one. */
  maxBytes?: number;
  maxFiles?: number;
  /** Events that may wait. */
  maxQueue?: number;
  flushDelayMs?: number;
  /** What tells of events that were lost, or of a torn line; none tells nothing. */
  notice?: (event: 'log.dropped' | 'log.healed', attributes: { count?: number; reason?: string }) => object;
}

export interface EventLogStatus {
  written: number;
  dropped: number;
  /** Writes that the disk refused. */
  failures: number;
  /** Why the last write failed; absent once one has succeeded again. */
  failing?: string;
}

const MAX_BYTES = 2 * 1024 * 1024;
const MAX_FILES = 4;
const MAX_QUEUE = 2_000;
const FLUSH_DELAY_MS = 250;
/** A batch is one write: this much of it at most. */
const MAX_BATCH_BYTES = 64 * 1024;
/** Events are made as they are written; whoever else needs the loop gets it between two slices. */
const SLICE_MS = 3;
const NEWLINE = 10;
/**
 * Ends a torn line. Where another has ended it meanwhile, or was still writing it, this is a line that every reader leaves
 * out, while a bare line end would be an empty one, which is no JSON.
 */
const LINE_END = 'null\n';
/** What another writes comes into the file page by page, so whoever looks may see the half of it: he looks again after this. */
const SETTLE_MS = 20;

export class EventLog {
  readonly #options: Required<Omit<EventLogOptions, 'notice'>> & Pick<EventLogOptions, 'notice'>;
  #queue: (() => object)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #handle: FileHandle | undefined;
  #written = 0;
  #dropped = 0;
  #untold = 0;
  #failures = 0;
  #failing: string | undefined;
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
    return {
      written: this.#written,
      dropped: this.#dropped,
      failures: this.#failures,
      ...(this.#failing === undefined ? {} : { failing: this.#failing }),
    };
  }

  /** The event is made when it is written, not now. */
  append(make: () => object): void {
    if (this.#closed) return;
    if (this.#queue.length >= this.#options.maxQueue) {
      this.#lose(1);
      return;
    }
    this.#queue.push(make);
    // A burst must not wait until it no longer fits.
    if (this.#queue.length === this.#options.maxQueue >> 1) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), this.#options.flushDelayMs).unref();
  }

  /** Resolves when what was appended before is written or lost. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#drain());
    return this.#writing;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.flush();
    await this.#release();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || this.#untold > 0) {
      const told = this.#untold;
      const { text, events } = await this.#batch();
      try {
        await this.#write(text);
        this.#written += events;
        this.#failing = undefined;
      } catch (error) {
        this.#failures += 1;
        this.#failing = (error as NodeJS.ErrnoException).code ?? (error as Error).message;
        this.#lose(events);
        // What the batch was to tell of earlier losses is still untold.
        this.#untold += told;
        // Opening it again sees what became of it; nothing is tried before there is something new to write.
        await this.#release();
        return;
      }
    }
  }

  async #batch(): Promise<{ text: string; events: number }> {
    let text = this.#lossTold();
    let events = 0;
    let sliceEnd = performance.now() + SLICE_MS;
    for (let make = this.#queue.shift(); make; make = this.#queue.shift()) {
      try {
        text += `${JSON.stringify(make())}\n`;
        events += 1;
      } catch {
        this.#lose(1);
      }
      if (text.length > MAX_BATCH_BYTES) break;
      if (performance.now() < sliceEnd) continue;
      await new Promise((resume) => setImmediate(resume));
      sliceEnd = performance.now() + SLICE_MS;
    }
    return { text, events };
  }

  #lossTold(): string {
    const count = this.#untold;
    this.#untold = 0;
    const { notice } = this.#options;
    if (count === 0 || !notice) return '';
    const reason = this.#failing ?? 'too many at once';
    return `${JSON.stringify(notice('log.dropped', { count, reason }))}\n`;
  }

  #lose(count: number): void {
    this.#dropped += count;
    this.#untold += count;
  }

  async #write(text: string): Promise<void> {
    if (text === '') return;
    const bytes = Buffer.from(text);
    const { handle, healing } = await this.#room(bytes.length);
    const whole = healing === '' ? bytes : Buffer.concat([Buffer.from(healing), bytes]);
    const { bytesWritten } = await handle.write(whole);
    if (bytesWritten < whole.length) throw Object.assign(new Error('it took a part only'), { code: 'ENOSPC' });
  }

  /** The file that has room for so many bytes: another worker may have put a new one in its place. */
  async #room(bytes: number): Promise<{ handle: FileHandle; healing: string }> {
    const { file, maxBytes } = this.#options;
    let healing = '';
    if (this.#handle && !(await isStillAt(this.#handle, file))) await this.#release();
    if (!this.#handle) healing = await this.#open();
    const { size } = await (this.#handle as FileHandle).stat();
    if (size > 0 && size + bytes > maxBytes) {
      await this.#rotate();
      healing = await this.#open();
    }
    return { handle: this.#handle as FileHandle, healing };
  }

  /** Returns what must be written first: the end of a line that was never finished, and that it was so. */
  async #open(): Promise<string> {
    // Reading the last byte needs the right to.
    const handle = await open(this.#options.file, 'a+', 0o600);
    this.#handle = handle;
    if (!(await endsTorn(handle))) return '';
    const notice = this.#options.notice?.('log.healed', {});
    return notice ? `${LINE_END}${JSON.stringify(notice)}\n` : LINE_END;
  }

  /** A name of its own for what is full: two workers that rename at once never put one over the other. */
  async #rotate(): Promise<void> {
    const { file, maxFiles } = this.#options;
    const mine = this.#handle !== undefined && (await isStillAt(this.#handle, file));
    await this.#release();
    if (mine) await rename(file, rotatedName(file, new Date(), process.pid)).catch(unlessGone);
    const older = await rotatedFiles(file);
    for (const one of older.slice(0, Math.max(0, older.length - (maxFiles - 1)))) await rm(one, { force: true });
  }

  async #release(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
  }
}

let rotations = 0;

/** `events.jsonl` becomes `events.20260102T030405678Z-<pid>-<n>.jsonl`: by name is by age. */
export function rotatedName(file: string, at: Date, pid: number): string {
  const { dir, name, ext } = parse(file);
  const time = at.toISOString().replace(/[-:.]/g, '');
  rotations += 1;
  return join(dir, `${name}.${time}-${pid}-${String(rotations).padStart(6, '0')}${ext}`);
}

/** The full files of a log, oldest first. */
export async function rotatedFiles(file: string): Promise<string[]> {
  const { dir, name, ext } = parse(file);
  const names = await readdir(dir);
  return names
    .filter(
      (one) =>
        one.startsWith(`${name}.`) &&
        one.endsWith(ext) &&
        /^\d{8}T\d{9}Z-\d+-\d+$/.test(one.slice(name.length + 1, -ext.length)),
    )
    .sort()
    .map((one) => join(dir, one));
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/** Whether it ends within a line that nobody goes on with. */
async function endsTorn(handle: FileHandle): Promise<boolean> {
  const last = Buffer.alloc(1);
  let before: number | undefined;
  for (;;) {
    const { size } = await handle.stat();
    if (size === 0) return false;
    await handle.read(last, 0, 1, size - 1);
    if (last[0] === NEWLINE) return false;
    if (size === before) return true;
    before = size;
    await sleep(SETTLE_MS);
  }
}

async function isStillAt(handle: FileHandle, file: string): Promise<boolean> {
  try {
    const [own, there] = await Promise.all([handle.stat(), stat(file)]);
    return own.ino === there.ino && own.dev === there.dev;
  } catch {
    return false;
  }
}
