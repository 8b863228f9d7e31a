import { join } from 'node:path';
import { isAlive } from '../../lib/isAlive.ts';
import type { ArtifactFiles } from './artifactFile.ts';

export interface ArtifactLimits {
  maxBytes: number;
  maxCount: number;
  maxAgeMs: number;
}

export interface ShelfOptions {
  folder: string | undefined;
  files: ArtifactFiles;
  now: () => number;
  limits: ArtifactLimits;
}

interface Place {
  bytes: number;
  at: number;
  sha256: string | undefined;
}

const NAME = /^[0-9a-f]{64}$/;
const PART = /^\.(\d+)-[0-9a-f]+\.part$/;
/** Age above which a part is a leftover. No write takes this long, so its process id belongs to another process. */
const MAX_PART_AGE_MS = 60 * 60 * 1_000;
/** Delay of touching files: an agent that polls gets the same bytes many times a second. */
const TOUCH_BEHIND_MS = 1_000;

/** Content of the folder, oldest first, and the rules for removing it. Two workers may share a folder for a while. */
export class ArtifactShelf {
  limits: ArtifactLimits;
  readonly #options: ShelfOptions;
  readonly #places = new Map<string, Place>();
  #bytes = 0;
  #opening: Promise<void> | undefined;
  /** Renewed artifacts that are not touched on disk yet. */
  readonly #renewed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ShelfOptions) {
    this.#options = options;
    this.limits = options.limits;
  }

  /** Makes the folder and reads its content, once. The next write retries after a failure. */
  ready(): Promise<void> {
    this.#opening ??= this.#takeStock().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  isExpired(at: number): boolean {
    return this.#ageOf(at) > this.limits.maxAgeMs;
  }

  totals(): { count: number; bytes: number } {
    return { count: this.#places.size, bytes: this.#bytes };
  }

  /** Returns the names that have not expired, the newest first. */
  async newest(): Promise<string[]> {
    if (this.#options.folder === undefined) return [];
    await this.ready().catch(() => {});
    return [...this.#places].flatMap(([name, { at }]) => (this.isExpired(at) ? [] : [name])).reverse();
  }

  /** Time of the last use. */
  timeOf(name: string): number | undefined {
    return this.#places.get(name)?.at;
  }

  async remove(name: string): Promise<boolean> {
    if (!this.#places.has(name)) return false;
    this.#drop(name);
    await this.#options.files.unlink(this.#path(name)).catch(() => {});
    return true;
  }

  /** Renews an artifact and returns true, if these very bytes are stored already. */
  renew(name: string, sha256: string): boolean {
    const place = this.#places.get(name);
    if (place?.sha256 !== sha256 || this.isExpired(place.at)) return false;
    this.#put(name, { ...place, at: this.#options.now() });
    this.#renewed.add(name);
    this.#timer ??= setTimeout(() => void this.touchRenewed(), TOUCH_BEHIND_MS).unref();
    return true;
  }

  /** Touches renewed files on disk. Drops a missing file, so that the next call writes it again. */
  async touchRenewed(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const names = [...this.#renewed];
    this.#renewed.clear();
    for (const name of names) {
      const place = this.#places.get(name);
      if (!place) continue;
      const seconds = place.at / 1_000;
      await this.#options.files.utimes(this.#path(name), seconds, seconds).catch(() => this.#drop(name));
    }
  }

  async add(name: string, bytes: number, sha256: string): Promise<void> {
    this.#put(name, { bytes, at: this.#options.now(), sha256 });
    await this.#makeRoom(name);
  }

  async #takeStock(): Promise<void> {
    const { folder, files } = this.#options;
    if (folder === undefined) return;
    await files.mkdir(folder, { recursive: true, mode: 0o700 });
    const state = await files.lstat(folder);
    if (!state.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' });
    if (process.getuid !== undefined && state.uid !== process.getuid()) {
      throw Object.assign(new Error('it belongs to another user'), { code: 'EOWNER' });
    }
    if (process.platform !== 'win32' && (state.mode & 0o077) !== 0) await files.chmod(folder, 0o700);

    const found: [string, Place][] = [];
    for (const name of await files.readdir(folder)) {
      const part = PART.exec(name);
      if (!part && !NAME.test(name)) continue;
      const file = await files.lstat(join(folder, name)).catch(() => undefined);
      if (part) {
        // A part that a living process is writing is no leftover: old and new worker overlap for a moment.
        const isLeft = !isAlive(Number(part[1])) || this.#ageOf(file?.mtimeMs ?? 0) > MAX_PART_AGE_MS;
        if (isLeft) await files.unlink(join(folder, name)).catch(() => {});
      } else if (file?.isFile()) found.push([name, { bytes: file.size, at: file.mtimeMs, sha256: undefined }]);
    }
    found.sort(([, a], [, b]) => a.at - b.at);
    for (const [name, place] of found) this.#put(name, place);
    await this.#makeRoom(undefined);
  }

  async #makeRoom(newest: string | undefined): Promise<void> {
    const { maxBytes, maxCount } = this.limits;
    for (const [name, place] of this.#places) {
      const fits = this.#bytes <= maxBytes && this.#places.size <= maxCount;
      if (name === newest || (fits && !this.isExpired(place.at))) return;
      this.#drop(name);
      await this.#options.files.unlink(this.#path(name)).catch(() => {});
    }
  }

  #ageOf(at: number): number {
    return this.#options.now() - at;
  }

  #put(name: string, place: Place): void {
    this.#drop(name);
    this.#places.set(name, place);
    this.#bytes += place.bytes;
  }

  #drop(name: string): void {
    this.#bytes -= this.#places.get(name)?.bytes ?? 0;
    this.#places.delete(name);
  }

  #path(name: string): string {
    return join(this.#options.folder as string, name);
  }
}
