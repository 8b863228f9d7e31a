import type { DatabaseSync, SQLInputValue } from 'node:sqlite';

export type { DatabaseSync, SQLInputValue };
export type Row = Record<string, unknown>;

export type Sqlite = typeof import('node:sqlite');

/** Error about the record store, in one sentence that is safe to show. */
export class RecordStoreError extends Error {
  override readonly name = 'RecordStoreError';
}

/** Loads `node:sqlite` without the notice that Node 22 prints about it. */
export async function loadSqlite(): Promise<Sqlite> {
  const emit = process.emitWarning;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (/SQLite/.test(String(warning))) return;
    (emit as (warning: string | Error, ...rest: unknown[]) => void).call(process, warning, ...rest);
  };
  try {
    // A bundler must neither resolve it nor move it to the beginning of the script.
    const name = 'node:sqlite';
    return (await import(name)) as Sqlite;
  } catch {
    throw new RecordStoreError(
      `Records are kept with node:sqlite, which needs Node 22.13 or newer; this is Node ${process.versions.node}.`,
    );
  } finally {
    process.emitWarning = emit;
  }
}

/** Connection to a database with its prepared statements, which are made once each. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as Row | undefined;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  /** Forgets all statements. Call after a table was dropped. */
  reset(): void {
    this.#statements.clear();
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #prepared(sql: string): ReturnType<DatabaseSync['prepare']> {
    let statement = this.#statements.get(sql);
    if (!statement) {
      // Requests differ in their filters. Old statements are dropped before they fill the memory.
      if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const MAX_STATEMENTS = 200;
