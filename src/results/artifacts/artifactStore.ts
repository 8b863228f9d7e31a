import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { contentBytes, encodedChunks, type PartContent } from '../envelope/partContent.ts';
import {
  type ArtifactFiles,
  type ArtifactInfo,
  type ArtifactSource,
  createPrivate,
  fileNameOf,
  infoBlock,
  Measure,
  type Measured,
  measured,
  openOwn,
  REAL_FILES,
  readInfo,
  sourceOf,
  writeAll,
} from './artifactFile.ts';
import { type ArtifactReader, FileReader, MemoryReader } from './artifactReader.ts';
import { type ArtifactLimits, ArtifactShelf } from './artifactShelf.ts';

export const WORKSPACE_OWNER = 'workspace';

/** Content of an artifact to be stored. */
export interface ArtifactDraft {
  /** Kind (`text`, `image` …) and source, with which the handle begins. */
  kind: string;
  source: string;
  content: PartContent;
  mediaType: string;
  label: string;
  owner: string;
  /** Tool, resource or prompt that the content came from, for the user's rules about views. */
  from?: ArtifactSource | undefined;
}

/** Artifact that can be opened from now on, on disk or not. */
export interface HeldArtifact {
  info: ArtifactInfo;
  /** Resolves when the artifact survives a restart. Rejects with an ArtifactError if the write fails. */
  saved(): Promise<void>;
}

export interface StoreOptions extends Partial<ArtifactLimits> {
  /** Folder of the artifacts. Without one, they are in memory and end with the process. */
  folder?: string | undefined;
  now?: () => number;
  files?: ArtifactFiles;
}

/** Error of a failed write, with one sentence for a model and without a path. */
export class ArtifactError extends Error {
  override readonly name = 'ArtifactError';
  readonly code: string;

  constructor(cause: unknown) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error';
    const why = REASONS[code] ?? `could not be written (${code})`;
    super(`The state folder of Waygate ${why}, so this was not kept on disk.`, { cause });
    this.code = code;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'is on a full disk (ENOSPC)',
  EDQUOT: 'has reached its disk quota (EDQUOT)',
  EROFS: 'is on a disk that cannot be written (EROFS)',
  EACCES: 'cannot be written by you (EACCES)',
};

/** Size limit of all artifacts; the oldest leave first (M3.3). */
const MAX_BYTES = 512 * 1024 * 1024;
const MAX_COUNT = 5_000;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000;
/** Size limit of artifacts in memory, which wait for the disk or could not be stored (M3.4). */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Delay of writes, so that the answer goes out first. */
const WRITE_BEHIND_MS = 20;

/** Artifact with the time of its last use, in milliseconds since the epoch. */
export interface ListedArtifact {
  info: ArtifactInfo;
  at: number;
}

interface Held {
  info: ArtifactInfo;
  bytes: Buffer;
  saving?: Promise<void>;
}

/** Stores results that outlive their call. A handle is a key: it contains no path and is never joined to one (M3.2). */
export class ArtifactStore {
  readonly #folder: string | undefined;
  readonly #files: ArtifactFiles;
  readonly #now: () => number;
  readonly #shelf: ArtifactShelf;
  /** Artifacts in memory by file name, during a write or after a failed write. */
  readonly #held = new Map<string, Held>();
  readonly #behind = new Set<string>();
  #maxHeldBytes: number;
  #heldBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #faults = 0;

  constructor(options: StoreOptions = {}) {
    this.#folder = options.folder;
    this.#files = options.files ?? REAL_FILES;
    this.#now = options.now ?? Date.now;
    this.#maxHeldBytes = Math.min(MAX_HELD_BYTES, options.maxBytes ?? MAX_BYTES);
    this.#shelf = new ArtifactShelf({
      folder: options.folder,
      files: this.#files,
      now: this.#now,
      limits: {
        maxBytes: options.maxBytes ?? MAX_BYTES,
        maxCount: options.maxCount ?? MAX_COUNT,
        maxAgeMs: options.maxAgeMs ?? MAX_AGE_MS,
      },
    });
  }

  /** Puts edited limits in force from the next write on. */
  adopt({ maxBytes, maxCount, maxAgeMs }: ArtifactLimits): void {
    this.#maxHeldBytes = Math.min(MAX_HELD_BYTES, maxBytes);
    this.#shelf.limits = { maxBytes, maxCount, maxAgeMs };
  }

  /** Keeps a small artifact in memory and writes it behind the answer. Only `saved()` waits for the disk. */
  hold(draft: ArtifactDraft): HeldArtifact {
    const bytes = contentBytes(draft.content);
    const info = describe(draft, measured(bytes));
    const name = fileNameOf(info.owner, info.handle);
    if (this.#shelf.renew(name, info.sha256)) return { info, saved: async () => {} };
    this.#keepInMemory(name, { info, bytes });
    if (this.#folder !== undefined) {
      this.#behind.add(name);
      this.#timer ??= setTimeout(() => void this.flush(), WRITE_BEHIND_MS);
    }
    return { info, saved: () => this.#save(name) };
  }

  /** Streams a large artifact to disk, never as a whole in memory. Throws an ArtifactError. */
  async store(draft: ArtifactDraft): Promise<ArtifactInfo> {
    if (this.#folder === undefined) return this.hold(draft).info;
    const measure = new Measure();
    let info: ArtifactInfo | undefined;
    await this.#write(async (write) => {
      for (const chunk of encodedChunks(draft.content)) {
        measure.add(chunk);
        await write(chunk);
      }
      info = describe(draft, measure.done());
      return info;
    });
    return info as unknown as ArtifactInfo;
  }

  /** Opens an artifact as one of these owners. The caller closes the reader. */
  async open(handle: string, owners: readonly string[] = [WORKSPACE_OWNER]): Promise<ArtifactReader | undefined> {
    for (const owner of owners) {
      const reader = await this.#openOne(fileNameOf(owner, handle), owner, handle);
      if (reader) return reader;
    }
    return undefined;
  }

  /** Returns artifacts, the newest first: those older than `before`, the handle of an artifact of the workspace. */
  async list(limit: number, before?: string): Promise<ListedArtifact[]> {
    const names = [...new Set([...[...this.#held.keys()].reverse(), ...(await this.#shelf.newest())])];
    const after = before === undefined ? -1 : names.indexOf(fileNameOf(WORKSPACE_OWNER, before));
    const found: ListedArtifact[] = [];
    for (const name of names.slice(after + 1)) {
      if (found.length === limit) break;
      const info = this.#held.get(name)?.info ?? (await this.#readInfo(name));
      if (info) found.push({ info, at: this.#shelf.timeOf(name) ?? this.#now() });
    }
    return found;
  }

  /** Removes an artifact. Returns whether it was there. */
  async remove(handle: string): Promise<boolean> {
    const name = fileNameOf(WORKSPACE_OWNER, handle);
    const held = this.#held.get(name);
    await held?.saving?.catch(() => undefined);
    this.#forget(name, held);
    return (await this.#shelf.remove(name)) || held !== undefined;
  }

  get limits(): ArtifactLimits {
    return this.#shelf.limits;
  }

  status(): { count: number; bytes: number; faults: number } {
    const { count, bytes } = this.#shelf.totals();
    return { count: count + this.#held.size, bytes: bytes + this.#heldBytes, faults: this.#faults };
  }

  /** Writes all waiting artifacts. Never throws: after a failed write an artifact stays in memory. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const name of [...this.#behind]) await this.#save(name).catch(() => {});
    await this.#shelf.touchRenewed();
  }

  async #save(name: string): Promise<void> {
    const held = this.#held.get(name);
    if (!held || this.#folder === undefined) return;
    this.#behind.delete(name);
    held.saving ??= this.#write(async (write) => {
      await write(held.bytes);
      return held.info;
    }).then(
      () => this.#forget(name, held),
      (error: unknown) => {
        delete held.saving;
        throw error;
      },
    );
    return held.saving;
  }

  /** Writes atomically: a file gets its name only when it is complete. */
  async #write(fill: (write: (bytes: Buffer) => Promise<void>) => Promise<ArtifactInfo>): Promise<void> {
    const folder = this.#folder as string;
    const part = join(folder, `.${process.pid}-${randomBytes(8).toString('hex')}.part`);
    try {
      await this.#shelf.ready();
      const file = await createPrivate(this.#files, part);
      try {
        const info = await fill((bytes) => writeAll(file, bytes));
        const block = infoBlock(info);
        await writeAll(file, block);
        await file.close();
        const name = fileNameOf(info.owner, info.handle);
        await this.#files.rename(part, join(folder, name));
        await this.#shelf.add(name, info.size + block.length, info.sha256);
      } catch (error) {
        await file.close().catch(() => {});
        await this.#files.unlink(part).catch(() => {});
        throw error;
      }
    } catch (error) {
      this.#faults += 1;
      throw new ArtifactError(error);
    }
  }

  async #openOne(name: string, owner: string, handle: string): Promise<ArtifactReader | undefined> {
    const held = this.#held.get(name);
    if (held) return new MemoryReader(held.info, held.bytes);
    if (this.#folder === undefined) return undefined;
    await this.#shelf.touchRenewed();
    let file: Awaited<ReturnType<typeof openOwn>>;
    try {
      file = await openOwn(this.#files, join(this.#folder, name));
    } catch {
      return undefined;
    }
    const info = this.#shelf.isExpired((await file.stat()).mtimeMs) ? undefined : await readInfo(file);
    if (info?.handle === handle && info.owner === owner) return new FileReader(info, file);
    await file.close();
    return undefined;
  }

  async #readInfo(name: string): Promise<ArtifactInfo | undefined> {
    try {
      const file = await openOwn(this.#files, join(this.#folder as string, name));
      return await readInfo(file).finally(() => file.close());
    } catch {
      return undefined;
    }
  }

  #keepInMemory(name: string, held: Held): void {
    this.#forget(name, this.#held.get(name));
    this.#held.set(name, held);
    this.#heldBytes += held.bytes.length;
    for (const [oldest, other] of this.#held) {
      if (this.#heldBytes <= this.#maxHeldBytes || oldest === name) break;
      // The end of a write removes a file from memory.
      if (!other.saving) this.#forget(oldest, other);
    }
  }

  #forget(name: string, held: Held | undefined): void {
    if (!held || this.#held.get(name) !== held) return;
    this.#held.delete(name);
    this.#behind.delete(name);
    this.#heldBytes -= held.bytes.length;
  }
}

function describe(
  { kind, source, mediaType, label, owner, from }: ArtifactDraft,
  { size, lines, sha256 }: Measured,
): ArtifactInfo {
  const handle = `${kind}:${source}:${sha256.slice(0, 16)}`;
  const info = { handle, owner, mediaType: mediaType.slice(0, 256), label: label.slice(0, 1024), size, lines, sha256 };
  return { ...info, source: sourceOf(from) };
}
