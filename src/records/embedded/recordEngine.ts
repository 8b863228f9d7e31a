import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRecord } from '../../lib/isRecord.ts';
import { maskKnownValue } from '../../secrets/scrubValue.ts';
import type { RecordAnswer, RecordRequest } from '../provider/recordProvider.ts';
import { respond } from './contract/respond.ts';
import type { EngineStatus } from './engineStatus.ts';
import { type GrantBook, readGrants, rightsOf, type StoredGrant, validGrants } from './grants/grantFile.ts';
import { grantedSource, type SourcePlaces } from './sources/grantedSources.ts';
import type { RecordSource } from './sources/recordSource.ts';
import { RecordStore, removeDatabase } from './store/recordStore.ts';
import { RecordWriter } from './store/recordWriter.ts';
import { isDamage, SQLITE_BUSY } from './store/tables.ts';

export interface EngineOptions extends SourcePlaces {
  /** Largest size of the database. Beyond it, nothing more is loaded. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 2 * 1024 * 1024 * 1024;
const MAX_MEMORY = 256 * 1024 * 1024;
/** A read waits this long for what is new, and answers from what is there then. */
const FRESH_MS = 150;
/** Time for which loaded records count as fresh. */
const REFRESH_MS = 1_000;
/** Pause after a load that failed, such as on a full disk. */
const RETRY_MS = 30_000;

/** Database, sources and grants of one workspace. Runs in a thread of its own, because SQLite blocks. */
export class RecordEngine {
  readonly file: string;
  readonly #options: EngineOptions;
  readonly #problems = new Map<string, string>();
  readonly #malformed = new Map<string, number>();
  #sources: ReadonlyMap<string, RecordSource> = new Map();
  #store: RecordStore;
  #rebuilt: string | undefined;
  #refresh: Promise<void> | undefined;
  #nextRefresh = 0;
  /** Grants of the last load. */
  #loadedGrants = '';
  #closed = false;

  private constructor(options: EngineOptions, file: string, store: RecordStore) {
    this.#options = options;
    this.file = file;
    this.#store = store;
    this.#rebuilt = store.rebuilt;
  }

  static async open(options: EngineOptions): Promise<RecordEngine> {
    const file = join(options.stateFolder, 'records.db');
    return new RecordEngine(options, file, await RecordStore.open(file));
  }

  /** Answers a read from what is loaded, after a short wait for what is new. */
  async get(request: Pick<RecordRequest, 'path' | 'query'>): Promise<RecordAnswer> {
    const book = this.#grants();
    const isChanged = JSON.stringify(book) !== this.#loadedGrants;
    await Promise.race([this.refresh(isChanged), wait(FRESH_MS)]);
    try {
      const answer = this.#answer(request, book);
      if (this.#refresh) noteLoading(answer);
      // A value may have become known as a secret after its text was loaded.
      return { ...answer, body: maskKnownValue(answer.body) };
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.#rebuild();
      return this.#answer(request, book);
    }
  }

  /** Loads what is new in all granted sources, and removes what is no longer granted. */
  refresh(force = false): Promise<void> {
    if (this.#closed || (!force && Date.now() < this.#nextRefresh)) return this.#refresh ?? Promise.resolve();
    this.#refresh ??= this.#load().finally(() => {
      this.#refresh = undefined;
    });
    return this.#refresh;
  }

  status(): EngineStatus {
    const { damaged } = this.#grants();
    const connections = new Map(this.#store.streams.map(({ connection }) => [connection.id, connection]));
    return {
      file: this.file,
      bytes: this.#store.bytes,
      inMemory: this.#store.isInMemory,
      loading: this.#refresh !== undefined,
      ...(damaged !== undefined && { refusal: damaged }),
      ...(this.#rebuilt !== undefined && { rebuilt: this.#rebuilt }),
      connections: [...connections].map(([connection, { displayName }]) => ({
        connection,
        displayName,
        streams: this.#counts(connection),
        malformed: this.#malformed.get(connection) ?? 0,
        ...(this.#problems.has(connection) && { problem: this.#problems.get(connection) as string }),
      })),
    };
  }

  /** Removes what is not granted, and its bytes from the disk. */
  async purge(): Promise<void> {
    await this.#refresh;
    const book = this.#grants();
    if (book.damaged !== undefined) return;
    this.#store.overwriteRemoved();
    this.#removeOthers(validGrants(book, new Date()).map(({ connection }) => connection));
    this.#store.compact();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#refresh;
    this.#store.close();
  }

  #counts(connection: string): { name: string; records: number }[] {
    const streams = this.#store.streams.filter((one) => one.connection.id === connection);
    return streams.map(({ id, declaration }) => ({
      name: declaration.name,
      records: Number(this.#store.reader.get(`SELECT count(*) AS total FROM r${id}`)?.total),
    }));
  }

  #grants(): GrantBook {
    return readGrants(this.#options.stateFolder);
  }

  #answer(request: Pick<RecordRequest, 'path' | 'query'>, book: GrantBook): RecordAnswer {
    const now = new Date();
    return this.#store.read(() => respond(this.#store, rightsOf(book, now), request, now));
  }

  async #load(): Promise<void> {
    this.#nextRefresh = Date.now() + REFRESH_MS;
    const book = this.#grants();
    this.#loadedGrants = JSON.stringify(book);
    // Nothing is read under damaged grants, and nothing is removed because of them.
    if (book.damaged !== undefined) return;
    const sources = this.#sourcesOf(validGrants(book, new Date()));
    const ready: RecordSource[] = [];
    await this.#attempt('', () => this.#removeOthers(sources.map(({ connection }) => connection.id)));
    for (const source of sources) {
      await this.#attempt(source.connection.id, async () => {
        const streams = await source.streams();
        this.#store.declare(source.connection, streams, source.independent);
        ready.push(source);
      });
    }
    for (const source of ready) if (!this.#closed) await this.#loadSource(source);
  }

  #removeOthers(kept: readonly string[]): void {
    for (const id of this.#store.connections) if (!kept.includes(id)) this.#store.remove(id);
  }

  async #attempt(connection: string, run: () => void | Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      await this.#failed(connection, error);
    }
  }

  /** Returns the source of each grant. A source stays as long as its grant, and remembers what it has seen. */
  #sourcesOf(grants: readonly StoredGrant[]): RecordSource[] {
    const sources = new Map(
      grants.map((grant) => {
        const key = JSON.stringify([grant.connection, grant.source]);
        const count = (lines: number): void => void this.#malformed.set(grant.connection, lines);
        return [key, this.#sources.get(key) ?? grantedSource(grant, this.#options, count)];
      }),
    );
    this.#sources = sources;
    return [...sources.values()];
  }

  async #loadSource(source: RecordSource): Promise<void> {
    const { connection } = source;
    let writer: RecordWriter | undefined;
    try {
      if (this.#store.bytes > (this.#options.maxBytes ?? (this.#store.isInMemory ? MAX_MEMORY : MAX_BYTES))) {
        throw new Error('The records have reached their size limit; revoke a grant, or grant fewer streams.');
      }
      writer = new RecordWriter(this.#store, connection.id);
      for await (const _ of source.load(writer)) {
        await nextTurn();
        if (this.#closed) break;
      }
      writer.commit();
      this.#problems.delete(connection.id);
    } catch (error) {
      writer?.abort();
      await this.#failed(connection.id, error);
    }
  }

  /** Notes why a load failed. Reads go on with what was committed. */
  async #failed(connection: string, error: unknown): Promise<void> {
    if (isDamage(error)) return this.#rebuild();
    if (isBusy(error)) return;
    this.#nextRefresh = Date.now() + RETRY_MS;
    this.#problems.set(connection, problemOf(error, this.file));
  }

  async #rebuild(): Promise<void> {
    this.#store.close();
    removeDatabase(this.file);
    this.#store = await RecordStore.open(this.file);
    this.#rebuilt = 'it was damaged';
    this.#nextRefresh = 0;
  }
}

const SQLITE_FULL = 13;

/** Another process is loading the same records. */
function isBusy(error: unknown): boolean {
  return codeOf(error) === SQLITE_BUSY;
}

function codeOf(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}

function problemOf(error: unknown, file: string): string {
  if (codeOf(error) === SQLITE_FULL) {
    return `The disk of ${file} is full, so no more records are loaded; free some space.`;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOSPC' ? `The disk of ${file} is full (${code}); free some space.` : message;
}

/** Warns that records are still being loaded, so that an answer is not taken for complete. */
function noteLoading({ status, body }: RecordAnswer): void {
  const meta = status === 200 && isRecord(body) ? body.meta : undefined;
  if (!isRecord(meta) || !Array.isArray(meta.warnings)) return;
  meta.warnings.push({ code: 'loading', message: 'Records are being loaded; the newest or the rest may be missing.' });
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
