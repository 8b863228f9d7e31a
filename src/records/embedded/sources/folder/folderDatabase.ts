import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Sqlite } from '../../store/sqlite.ts';

const MAX_TABLES = 50;

/** Opens a database of the user so that nothing is written, neither to it nor beside it. The caller closes it. */
function openReadOnly({ DatabaseSync }: Sqlite, path: string): InstanceType<Sqlite['DatabaseSync']> {
  const address = pathToFileURL(path);
  // The write-ahead log holds what is not in the file yet. Without one, SQLite must not create its files beside it.
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  address.search = hasLog ? '?mode=ro' : '?mode=ro&immutable=1';
  return new DatabaseSync(address, { readOnly: true });
}

const TABLES = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
  AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name LIMIT ${MAX_TABLES}`;

export function tablesOf(sqlite: Sqlite, path: string): string[] {
  const db = openReadOnly(sqlite, path);
  try {
    return db
      .prepare(TABLES)
      .all()
      .map(({ name }) => String(name));
  } finally {
    db.close();
  }
}

export function* tableRows(sqlite: Sqlite, path: string, table: string): Generator<Record<string, unknown>> {
  const db = openReadOnly(sqlite, path);
  try {
    const statement = db.prepare(`SELECT * FROM "${table.replaceAll('"', '""')}"`);
    // An integer of 64 bits would be refused as a number.
    statement.setReadBigInts(true);
    for (const row of statement.iterate()) {
      yield Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]));
    }
  } finally {
    db.close();
  }
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value instanceof Uint8Array ? `(${value.length} bytes)` : value;
}
