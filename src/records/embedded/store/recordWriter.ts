import type { FieldDeclaration } from './declaration.ts';
import type { RecordStore, StoredStream } from './recordStore.ts';
import type { SQLInputValue } from './sqlite.ts';
import { shown, stored } from './values.ts';

/** Record on its way into the store. Fields that the declaration lacks are dropped. */
export interface DraftRecord {
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Time at which the source made the record known; the time of loading by default. */
  readonly emittedAt?: string;
}

/** Records in one transaction. */
export const TRANSACTION_ROWS = 10_000;
const MAX_TOMBSTONES = 10_000;

/**
 * Writes records in transactions of many rows. Progress that a source saves with `progress` is part of the same
 * transaction, so a killed process leaves neither half a file nor the same line twice.
 */
export class RecordWriter {
  readonly #store: RecordStore;
  readonly #streams: ReadonlyMap<string, StoredStream>;
  readonly #connection: string;
  readonly #now: () => Date;
  #open = false;
  #rows = 0;
  #seq = 0;
  #written = 0;

  constructor(store: RecordStore, connection: string, now: () => Date = () => new Date()) {
    this.#store = store;
    this.#connection = connection;
    this.#now = now;
    this.#streams = new Map(
      store.streams.filter((one) => one.connection.id === connection).map((one) => [one.declaration.name, one]),
    );
  }

  /** Rows written or removed so far. */
  get written(): number {
    return this.#written;
  }

  /** Inserts a record, or replaces the record of the same key if it differs. */
  put(name: string, { key, data, emittedAt }: DraftRecord): void {
    const stream = this.#stream(name);
    this.#begin();
    const { writer } = this.#store;
    const values = [...stream.columns.keys()].map((field) => stored(data[field], fieldOf(stream, field)));
    const before = writer.get(`SELECT * FROM r${stream.id} WHERE key = ?`, key);
    const columns = [...stream.columns.values()];
    if (before) {
      if (columns.every((column, index) => before[column] === values[index])) return;
      this.#take(stream, before);
    }
    this.#seq += 1;
    const { timeField } = stream.declaration;
    const at = timeField === undefined ? '' : String(values[[...stream.columns.keys()].indexOf(timeField)] ?? '');
    const marks = values.map(() => '?').join(', ');
    const emitted = emittedAt ?? this.#now().toISOString();
    writer.run(`INSERT INTO r${stream.id} VALUES (?, ?, ?, ?, ${marks})`, this.#seq, key, at, emitted, ...values);
    const searched = searchedColumns(stream);
    if (searched.length > 0) {
      const words = searched.map((column) => values[columns.indexOf(column)] as SQLInputValue);
      writer.run(
        `INSERT INTO f${stream.id} (rowid, ${searched.join(', ')}) VALUES (?, ${searched.map(() => '?').join(', ')})`,
        this.#seq,
        ...words,
      );
    }
    this.#count();
  }

  /** Returns the fields of a record as they are stored, for a source that adds to it. */
  read(name: string, key: string): Record<string, unknown> | undefined {
    const stream = this.#stream(name);
    const row = this.#store.writer.get(`SELECT * FROM r${stream.id} WHERE key = ?`, key);
    if (!row) return undefined;
    return Object.fromEntries(
      [...stream.columns].map(([field, column]) => [field, shown(row[column], fieldOf(stream, field))]),
    );
  }

  /** Removes a record and leaves a tombstone for readers of changes. */
  delete(name: string, key: string): void {
    const stream = this.#stream(name);
    this.#begin();
    const before = this.#store.writer.get(`SELECT * FROM r${stream.id} WHERE key = ?`, key);
    if (!before) return;
    this.#bury(stream, before);
  }

  /** Removes the records with this value in a field. */
  deleteWhere(name: string, field: string, value: string): void {
    const stream = this.#stream(name);
    const column = stream.columns.get(field);
    for (const { key } of this.#store.writer.all(`SELECT key FROM r${stream.id} WHERE ${column} = ?`, value)) {
      this.delete(name, String(key));
    }
  }

  /** Removes the records whose keys are not in `kept`. */
  keepOnly(name: string, kept: ReadonlySet<string>): void {
    const { id } = this.#stream(name);
    const gone = this.#store.writer.all(`SELECT key FROM r${id}`).filter(({ key }) => !kept.has(String(key)));
    for (const { key } of gone) this.delete(name, String(key));
  }

  /** Removes the records of before a time. Records without a time stay. */
  expire(name: string, before: string): void {
    const { id } = this.#stream(name);
    const old = this.#store.writer.all(`SELECT key FROM r${id} WHERE at > '' AND at < ? LIMIT 50000`, before);
    for (const { key } of old) this.delete(name, String(key));
  }

  progressOf(item: string): string | undefined {
    const sql = 'SELECT state FROM progress WHERE connection = ? AND item = ?';
    const row = this.#store.writer.get(sql, this.#connection, item);
    return row && String(row.state);
  }

  progress(item: string, state: string): void {
    this.#begin();
    this.#store.writer.run('INSERT OR REPLACE INTO progress VALUES (?, ?, ?)', this.#connection, item, state);
  }

  /** Items with saved progress that begin with a text. */
  progressItems(begin: string): string[] {
    const rows = this.#store.writer.all('SELECT item FROM progress WHERE connection = ?', this.#connection);
    return rows.map(({ item }) => String(item)).filter((item) => item.startsWith(begin));
  }

  forgetProgress(item: string): void {
    this.#begin();
    this.#store.writer.run('DELETE FROM progress WHERE connection = ? AND item = ?', this.#connection, item);
  }

  /** Whether a full transaction waits. Call `commit` at the next place where the progress is saved. */
  get isFull(): boolean {
    return this.#rows >= TRANSACTION_ROWS;
  }

  commit(): void {
    if (!this.#open) return;
    const { writer } = this.#store;
    for (const { id } of this.#streams.values()) {
      const limit = `SELECT seq FROM tombstones WHERE stream = ${id} ORDER BY seq DESC LIMIT 1 OFFSET ${MAX_TOMBSTONES}`;
      const { seq } = writer.get(limit) ?? {};
      if (seq === undefined) continue;
      writer.run('DELETE FROM tombstones WHERE stream = ? AND seq <= ?', id, Number(seq));
      // Bookmarks of before this change would miss deletions.
      writer.run('INSERT OR REPLACE INTO meta VALUES (?, ?)', `floor${id}`, String(seq));
    }
    writer.run("UPDATE meta SET value = ? WHERE name = 'seq'", String(this.#seq));
    writer.exec('COMMIT');
    this.#open = false;
    this.#rows = 0;
  }

  /** Drops what was not committed. */
  abort(): void {
    if (this.#open) this.#store.rollback();
    this.#open = false;
  }

  /** Takes the lock of the database, so that the number of the next change is read by one process at a time. */
  #begin(): void {
    if (this.#open) return;
    this.#store.writer.exec('BEGIN IMMEDIATE');
    this.#open = true;
    this.#seq = Number(this.#store.writer.get("SELECT value FROM meta WHERE name = 'seq'")?.value ?? 0);
  }

  #bury(stream: StoredStream, row: Record<string, unknown>): void {
    this.#take(stream, row);
    this.#seq += 1;
    this.#store.writer.run(
      'INSERT INTO tombstones VALUES (?, ?, ?, ?, ?)',
      stream.id,
      this.#seq,
      String(row.key),
      String(row.at),
      this.#now().toISOString(),
    );
    this.#count();
  }

  #take(stream: StoredStream, row: Record<string, unknown>): void {
    const { writer } = this.#store;
    const searched = searchedColumns(stream);
    if (searched.length > 0) {
      // An index without content of its own must be given the words that it is to forget.
      writer.run(
        `INSERT INTO f${stream.id} (f${stream.id}, rowid, ${searched.join(', ')}) VALUES ('delete', ?, ${searched.map(() => '?').join(', ')})`,
        Number(row.seq),
        ...searched.map((column) => row[column] as SQLInputValue),
      );
    }
    writer.run(`DELETE FROM r${stream.id} WHERE seq = ?`, Number(row.seq));
  }

  #count(): void {
    this.#rows += 1;
    this.#written += 1;
  }

  #stream(name: string): StoredStream {
    const stream = this.#streams.get(name);
    if (!stream) throw new Error(`The connection ${this.#connection} has no stream ${name}.`);
    return stream;
  }
}

function fieldOf({ declaration }: StoredStream, name: string): FieldDeclaration {
  return declaration.fields[name] as FieldDeclaration;
}

const searchedOf = new WeakMap<StoredStream, readonly string[]>();

function searchedColumns(stream: StoredStream): readonly string[] {
  const known = searchedOf.get(stream);
  if (known) return known;
  const searched = [...stream.columns].filter(([name]) => fieldOf(stream, name).lexical).map(([, column]) => column);
  searchedOf.set(stream, searched);
  return searched;
}
