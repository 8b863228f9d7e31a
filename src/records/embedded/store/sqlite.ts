import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { loadWasm } from './wasmSqlite.ts';

export type { SQLInputValue };
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
      `Records are kept with node:sqlite, which needs Node 22.13 or newer; this is Node ${process.versions.node}. Update Node, or install the package node-sqlite3-wasm beside waygate.`,
    );
  } finally {
    process.emitWarning = emit;
  }
}

/** SQLite of the process. */
export interface SqliteEngine {
  /** False if a database is in the memory of its connection alone. */
  readonly keepsFiles: boolean;
  open(file: string): Database;
}

/** Loads the SQLite of Node. Where Node has none, or one without an index of words, loads a package if there is one. */
export async function loadEngine(): Promise<SqliteEngine> {
  try {
    const { DatabaseSync } = await loadSqlite();
    requireFts5(new DatabaseSync(':memory:'));
    return { keepsFiles: true, open: (file) => new Database(new DatabaseSync(file)) };
  } catch (error) {
    const wasm = await loadWasm();
    if (wasm === undefined) throw error;
    return { keepsFiles: false, open: () => new Database(wasm()) };
  }
}

/** Closes the database. */
function requireFts5(db: DatabaseSync): void {
  const used = db.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used").get()?.used;
  db.close();
  if (used === 1) return;
  throw new RecordStoreError(
    'The SQLite of this Node has no full-text index (FTS5), which the records need. Install the package node-sqlite3-wasm beside waygate.',
  );
}

interface Statement {
  all(...values: SQLInputValue[]): Row[];
  get(...values: SQLInputValue[]): Row | undefined;
  run(...values: SQLInputValue[]): { changes: number | bigint };
}

/** Parts of `DatabaseSync` that the store uses. */
export interface SqlConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** Connection to a database with its prepared statements, which are made once each. */
export class Database {
  readonly #db: SqlConnection;
  readonly #statements = new Map<string, Statement>();

  constructor(db: SqlConnection) {
    this.#db = db;
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#prepared(sql).all(...values);
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#prepared(sql).get(...values);
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

  #prepared(sql: string): Statement {
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
