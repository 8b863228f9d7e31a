import type { JSValue } from 'node-sqlite3-wasm';
import type { Row, SQLInputValue, SqlConnection } from './sqlite.ts';

type Wasm = typeof import('node-sqlite3-wasm');

/**
 * Loads the package `node-sqlite3-wasm` if it is installed beside this program. Its databases stay in memory: in a file
 * it knows no write-ahead log, and a killed process would leave its lock behind.
 */
export async function loadWasm(): Promise<(() => SqlConnection) | undefined> {
  try {
    // A bundler must not resolve it.
    const name = 'node-sqlite3-wasm';
    const loaded = (await import(name)) as Wasm & { default?: Wasm };
    const { Database } = loaded.default ?? loaded;
    return () => connection(new Database());
  } catch {
    return undefined;
  }
}

function connection(db: InstanceType<Wasm['Database']>): SqlConnection {
  return {
    exec: (sql) => db.exec(sql),
    close: () => db.close(),
    prepare: (sql) => {
      const statement = db.prepare(sql);
      return {
        all: (...values) => statement.all(bound(values)) as Row[],
        // Its `get` leaves the statement open, which would block the end of a transaction.
        get: (...values) => statement.all(bound(values))[0] as Row | undefined,
        run: (...values) => statement.run(bound(values)),
      };
    },
  };
}

function bound(values: readonly SQLInputValue[]): JSValue[] {
  return values as JSValue[];
}
