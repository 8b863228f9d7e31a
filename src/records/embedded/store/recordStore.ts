import { chmodSync, closeSync, existsSync, lstatSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { parseRecord } from '../../../lib/isRecord.ts';
import type { ConnectionDeclaration, StreamDeclaration } from './declaration.ts';
import { type Database, loadEngine, type Row, type SqliteEngine } from './sqlite.ts';
import { createTables, Damaged, isDamage, prepare, SQLITE_BUSY } from './tables.ts';

/** Stream of a connection with its tables: `r<id>` has the records, `f<id>` their words. */
export interface StoredStream {
  readonly id: number;
  readonly connection: ConnectionDeclaration;
  readonly declaration: StreamDeclaration;
  /** Names of the fields' columns. */
  readonly columns: ReadonlyMap<string, string>;
}

/**
 * Records in one SQLite file. Reads use a connection of their own that cannot write, so that they see whole transactions
 * only, whatever is being loaded. Where Node has no SQLite, the records are in memory, with one connection for all.
 */
export class RecordStore {
  readonly reader: Database;
  readonly writer: Database;
  /** Identifies this file. A bookmark of an earlier file is void. */
  readonly id: string;
  /** Why the file was made anew, if it was. */
  readonly rebuilt: string | undefined;
  readonly #file: string;
  #streams: readonly StoredStream[] | undefined;
  #streamsVersion = -1;

  private constructor(file: string, reader: Database, writer: Database, rebuilt: string | undefined) {
    this.#file = file;
    this.reader = reader;
    this.writer = writer;
    this.rebuilt = rebuilt;
    this.id = String(this.reader.get("SELECT value FROM meta WHERE name = 'id'")?.value);
  }

  /** Opens or creates the file. A damaged file is set aside, since all records can be loaded again. */
  static async open(file: string, engine?: SqliteEngine): Promise<RecordStore> {
    const { keepsFiles, open } = engine ?? (await loadEngine());
    if (!keepsFiles) {
      const only = open(file);
      prepare(only);
      return new RecordStore(file, only, only, undefined);
    }
    let rebuilt: string | undefined;
    for (let attempt = 0; ; attempt += 1) {
      createPrivately(file);
      let writer: Database | undefined;
      try {
        writer = open(file);
        prepare(writer);
        const reader = open(file);
        // A large cache and no mapped file: a read of a mapped page that is gone from the disk ends the process.
        reader.exec('PRAGMA busy_timeout = 2000; PRAGMA query_only = 1; PRAGMA cache_size = -32768');
        return new RecordStore(file, reader, writer, rebuilt);
      } catch (error) {
        writer?.close();
        if (attempt > 0 || !isDamage(error)) throw error;
        rebuilt = reasonOf(error);
        removeDatabase(file);
      }
    }
  }

  get isInMemory(): boolean {
    return this.reader === this.writer;
  }

  get streams(): readonly StoredStream[] {
    const { data_version: version } = this.reader.get('PRAGMA data_version') as { data_version: number };
    if (this.#streams === undefined || version !== this.#streamsVersion) {
      this.#streamsVersion = version;
      const rows = this.reader.all(
        `SELECT s.id, s.declaration, c.id AS connection, c.connector, c.display
         FROM streams s JOIN connections c ON c.id = s.connection ORDER BY c.id, s.id`,
      );
      this.#streams = rows.map(storedStream);
    }
    return this.#streams;
  }

  get connections(): string[] {
    return this.reader.all('SELECT id FROM connections').map(({ id }) => String(id));
  }

  /** Number of the newest change. */
  get head(): number {
    return Number(this.reader.get("SELECT value FROM meta WHERE name = 'seq'")?.value ?? 0);
  }

  /**
   * Creates the streams of a connection. If a declaration changed, its streams are emptied to be loaded again, unless
   * they are independent: then only the changed ones are. Writes nothing if all are declared already.
   */
  declare(connection: ConnectionDeclaration, streams: readonly StreamDeclaration[], independent = false): void {
    const { id, connectorKey, displayName } = connection;
    const own = this.streams.filter((one) => one.connection.id === id);
    const isSame = own.every((one) => one.connection.displayName === displayName) && hasSame(own, streams);
    if (isSame && this.connections.includes(id)) return;
    this.transaction(() => {
      this.writer.run('INSERT OR REPLACE INTO connections VALUES (?, ?, ?)', id, connectorKey, displayName);
      const declared = new Map(streams.map((stream) => [stream.name, JSON.stringify(stream)]));
      const known = this.writer.all('SELECT name, declaration FROM streams WHERE connection = ?', id);
      const stale = known.filter(({ name, declaration }) => declared.get(String(name)) !== declaration);
      if (independent) for (const { name } of stale) this.#dropStream(id, String(name));
      else if (stale.length > 0) this.#drop(id);
      const names = this.writer.all('SELECT name FROM streams WHERE connection = ?', id).map(({ name }) => name);
      for (const stream of streams) {
        if (names.includes(stream.name)) continue;
        const sql = 'INSERT INTO streams (connection, name, declaration) VALUES (?, ?, ?)';
        this.writer.run(sql, id, stream.name, JSON.stringify(stream));
        const row = this.writer.get('SELECT last_insert_rowid() AS id') as { id: number };
        createTables(this.writer, row.id, stream);
      }
    });
    this.#streams = undefined;
    this.reader.reset();
  }

  /** Removes a connection with all its records. */
  remove(connection: string): void {
    this.transaction(() => {
      this.#drop(connection);
      this.writer.run('DELETE FROM connections WHERE id = ?', connection);
    });
    this.#streams = undefined;
    this.reader.reset();
  }

  /** Overwrites what is removed until `compact`, and waits for other processes that write. */
  overwriteRemoved(): void {
    this.writer.exec('PRAGMA secure_delete = 1; PRAGMA busy_timeout = 10000');
  }

  /** Gives the room of removed records back to the system, unless another process is reading. */
  compact(): void {
    // A file of a newer Node may hold what was removed.
    if (this.isInMemory) removeDatabase(this.#file);
    try {
      this.writer.exec('PRAGMA busy_timeout = 2000; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw error;
    } finally {
      this.writer.exec('PRAGMA secure_delete = FAST; PRAGMA busy_timeout = 100');
    }
  }

  transaction<T>(run: () => T): T {
    this.writer.exec('BEGIN IMMEDIATE');
    try {
      const result = run();
      this.writer.exec('COMMIT');
      return result;
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  rollback(): void {
    try {
      this.writer.exec('ROLLBACK');
    } catch {
      // A full disk has ended the transaction already.
    }
  }

  /** Runs reads between which no other process changes anything. */
  read<T>(run: () => T): T {
    // No other process reaches a memory, and the only connection may be in the middle of a load.
    if (this.isInMemory) return run();
    this.reader.exec('BEGIN');
    try {
      return run();
    } finally {
      this.reader.exec('COMMIT');
    }
  }

  /** Bytes of the file and of its log, or of the memory. */
  get bytes(): number {
    if (this.isInMemory) {
      const size = 'SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()';
      return Number(this.reader.get(size)?.bytes);
    }
    const ends = ['', '-wal'];
    return ends.reduce((sum, end) => sum + (statSync(this.#file + end, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  close(): void {
    this.reader.close();
    if (!this.isInMemory) this.writer.close();
  }

  #drop(connection: string): void {
    const streams = this.writer.all('SELECT name FROM streams WHERE connection = ?', connection);
    for (const { name } of streams) this.#dropStream(connection, String(name));
    this.writer.run('DELETE FROM progress WHERE connection = ?', connection);
  }

  #dropStream(connection: string, name: string): void {
    const { id } = this.writer.get('SELECT id FROM streams WHERE connection = ? AND name = ?', connection, name) ?? {};
    this.writer.reset();
    this.writer.exec(`DROP TABLE IF EXISTS f${id}; DROP TABLE IF EXISTS r${id}`);
    this.writer.run('DELETE FROM tombstones WHERE stream = ?', Number(id));
    this.writer.run('DELETE FROM streams WHERE id = ?', Number(id));
    this.writer.run('DELETE FROM progress WHERE connection = ? AND item = ?', connection, `stream:${name}`);
  }
}

function hasSame(own: readonly StoredStream[], streams: readonly StreamDeclaration[]): boolean {
  const stored = own.map(({ declaration }) => JSON.stringify(declaration));
  return stored.length === streams.length && streams.every((stream) => stored.includes(JSON.stringify(stream)));
}

function storedStream({ id, declaration, connection, connector, display }: Row): StoredStream {
  const parsed = parseRecord(String(declaration)) as unknown as StreamDeclaration;
  return {
    id: Number(id),
    connection: { id: String(connection), connectorKey: String(connector), displayName: String(display) },
    declaration: parsed,
    columns: new Map(Object.keys(parsed.fields).map((name, index) => [name, `c${index}`])),
  };
}

/** Creates the file with a mode that SQLite would not give it, unless it exists. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, 'wx+', 0o600));
  } catch (error) {
    // An existing file is not opened here: closing it would drop the locks of this process's other connections to it.
    if (!isFile(file)) throw error;
  }
  if (process.platform !== 'win32') chmodSync(file, 0o600);
}

function isFile(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}

function reasonOf(error: unknown): string {
  return error instanceof Damaged ? error.message : 'it is damaged';
}

/** Removes the files of a database. On Windows an open file is moved away instead. */
export function removeDatabase(file: string): void {
  for (const end of ['', '-wal', '-shm']) {
    try {
      rmSync(file + end, { force: true });
    } catch {
      if (existsSync(file + end)) renameSync(file + end, `${file}${end}.damaged`);
    }
  }
}
