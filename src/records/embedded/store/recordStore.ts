import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, existsSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { parseRecord } from '../../../lib/isRecord.ts';
import {
  type ConnectionDeclaration,
  type FieldDeclaration,
  isNumeric,
  lexicalFields,
  type StreamDeclaration,
} from './declaration.ts';
import { Database, loadSqlite, type Row } from './sqlite.ts';

/** Stream of a connection with its tables: `r<id>` has the records, `f<id>` their words. */
export interface StoredStream {
  readonly id: number;
  readonly connection: ConnectionDeclaration;
  readonly declaration: StreamDeclaration;
  /** Names of the fields' columns. */
  readonly columns: ReadonlyMap<string, string>;
}

/** Layout of the tables. A database of another layout is made anew. */
const LAYOUT = 'waygate-records-1';

const TABLES = `
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE connections (id TEXT PRIMARY KEY, connector TEXT NOT NULL, display TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE streams (
  id INTEGER PRIMARY KEY, connection TEXT NOT NULL, name TEXT NOT NULL, declaration TEXT NOT NULL,
  UNIQUE (connection, name)
);
CREATE TABLE tombstones (
  stream INTEGER NOT NULL, seq INTEGER NOT NULL, key TEXT NOT NULL, at TEXT NOT NULL, deleted TEXT NOT NULL,
  PRIMARY KEY (stream, seq)
) WITHOUT ROWID;
CREATE TABLE progress (
  connection TEXT NOT NULL, item TEXT NOT NULL, state TEXT NOT NULL, PRIMARY KEY (connection, item)
) WITHOUT ROWID;
`;

/**
 * Records in one SQLite file. Reads use a connection of their own that cannot write, so that they see whole transactions
 * only, whatever is being loaded.
 */
export class RecordStore {
  readonly reader: Database;
  readonly writer: Database;
  /** Identifies this file. A bookmark of an earlier file is void. */
  readonly id: string;
  /** Why the file was made anew, if it was. */
  readonly rebuilt: string | undefined;
  #streams: readonly StoredStream[] | undefined;
  #streamsVersion = -1;

  private constructor(reader: Database, writer: Database, rebuilt: string | undefined) {
    this.reader = reader;
    this.writer = writer;
    this.rebuilt = rebuilt;
    this.id = String(this.reader.get("SELECT value FROM meta WHERE name = 'id'")?.value);
  }

  /** Opens or creates the file. A damaged file is set aside, since all records can be loaded again. */
  static async open(file: string): Promise<RecordStore> {
    const { DatabaseSync } = await loadSqlite();
    let rebuilt: string | undefined;
    for (let attempt = 0; ; attempt += 1) {
      // SQLite would create it with the mode of the process.
      closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600));
      if (process.platform !== 'win32') chmodSync(file, 0o600);
      let writer: Database | undefined;
      try {
        writer = new Database(new DatabaseSync(file));
        prepare(writer);
        const reader = new Database(new DatabaseSync(file));
        reader.exec('PRAGMA busy_timeout = 2000; PRAGMA query_only = 1; PRAGMA mmap_size = 268435456');
        return new RecordStore(reader, writer, rebuilt);
      } catch (error) {
        writer?.close();
        if (attempt > 0 || !isDamage(error)) throw error;
        rebuilt = reasonOf(error);
        removeDatabase(file);
      }
    }
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
   * they are independent: then only the changed ones are.
   */
  declare(connection: ConnectionDeclaration, streams: readonly StreamDeclaration[], independent = false): void {
    const { id, connectorKey, displayName } = connection;
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

  /** Overwrites what is removed from now on, in place of leaving it in free pages. */
  overwriteRemoved(): void {
    this.writer.exec('PRAGMA secure_delete = 1');
  }

  /** Gives the room of removed records back to the system, unless another process is reading. */
  compact(): void {
    try {
      this.writer.exec('PRAGMA busy_timeout = 2000; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 !== SQLITE_BUSY) throw error;
    } finally {
      this.writer.exec('PRAGMA busy_timeout = 100');
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

  /** Bytes of the file and of its log. */
  static bytes(file: string): number {
    return ['', '-wal'].reduce((sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0), 0);
  }

  close(): void {
    this.reader.close();
    this.writer.close();
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

/** 64 MiB. */
const MAX_CHECKED_PAGES = 16_384;

function prepare(db: Database): void {
  db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
  db.exec('PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 67108864');
  db.exec('PRAGMA cell_size_check = 1');
  // Reading a large file through takes seconds. There, damage shows at the first read of the damaged page.
  const { page_count: pages } = db.get('PRAGMA page_count') as { page_count: number };
  if (pages <= MAX_CHECKED_PAGES && db.get('PRAGMA quick_check(1)')?.quick_check !== 'ok') {
    throw new Damaged('it is damaged');
  }
  db.exec('BEGIN IMMEDIATE');
  try {
    prepareTables(db);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
  // Another process that loads records is waited for at the next load instead.
  db.exec('PRAGMA busy_timeout = 100');
}

function prepareTables(db: Database): void {
  const tables = db.all("SELECT name FROM sqlite_schema WHERE type = 'table'");
  if (tables.length === 0) {
    db.exec(TABLES);
    db.run("INSERT INTO meta VALUES ('layout', ?)", LAYOUT);
    db.run("INSERT INTO meta VALUES ('id', ?)", randomBytes(8).toString('hex'));
    db.run("INSERT INTO meta VALUES ('seq', '0')");
    return;
  }
  if (!tables.some(({ name }) => name === 'meta')) throw new Damaged('it is no record store');
  const layout = db.get("SELECT value FROM meta WHERE name = 'layout'")?.value;
  if (layout !== LAYOUT) throw new Damaged('another version of Waygate made it');
}

/** Numbers in the index of a group. */
const MAX_COVERED = 3;

function createTables(db: Database, id: number, stream: StreamDeclaration): void {
  const names = Object.keys(stream.fields);
  const columns = names.map((name, index) => `c${index} ${affinity(stream, name)}`);
  db.exec(
    `CREATE TABLE r${id} (seq INTEGER PRIMARY KEY, key TEXT NOT NULL, at TEXT NOT NULL, emitted TEXT NOT NULL, ${columns.join(', ')})`,
  );
  db.exec(`CREATE UNIQUE INDEX r${id}_key ON r${id} (key); CREATE INDEX r${id}_at ON r${id} (at, key)`);
  const related = new Set(stream.relations?.map(({ foreignKey }) => foreignKey));
  // Sums by group read the index alone, and no row.
  const numbers = names
    .map((name, index) => (isNumeric(stream.fields[name] as FieldDeclaration) ? `, c${index}` : ''))
    .filter((column) => column !== '')
    .slice(0, MAX_COVERED)
    .join('');
  names.forEach((name, index) => {
    const { groupBy, distinct } = stream.fields[name] ?? {};
    if (groupBy || distinct) db.exec(`CREATE INDEX r${id}_c${index} ON r${id} (c${index}, at${numbers})`);
    else if (related.has(name)) db.exec(`CREATE INDEX r${id}_c${index} ON r${id} (c${index}, at)`);
  });
  const searched = lexicalFields(stream).map((name) => `c${names.indexOf(name)}`);
  if (searched.length === 0) return;
  db.exec(
    `CREATE VIRTUAL TABLE f${id} USING fts5(${searched.join(', ')}, content='r${id}', content_rowid='seq', tokenize='unicode61 remove_diacritics 2')`,
  );
}

/** Numbers are all kept as REAL, so that a large one is never refused on its way out. */
function affinity({ fields }: StreamDeclaration, name: string): string {
  const type = fields[name]?.type;
  if (type === 'integer' || type === 'number') return 'REAL';
  return type === 'boolean' ? 'INTEGER' : 'TEXT';
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

export const SQLITE_BUSY = 5;

class Damaged extends Error {}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_CODES = new Set([11, 26]);

export function isDamage(error: unknown): boolean {
  return error instanceof Damaged || DAMAGE_CODES.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);
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
