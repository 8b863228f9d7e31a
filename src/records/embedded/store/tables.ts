import { randomBytes } from 'node:crypto';
import { type FieldDeclaration, isNumeric, lexicalFields, type StreamDeclaration } from './declaration.ts';
import type { Database } from './sqlite.ts';

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

export const SQLITE_BUSY = 5;

/** Content of a file that is no usable record store. */
export class Damaged extends Error {}

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGE_CODES = new Set([11, 26]);

export function isDamage(error: unknown): boolean {
  return error instanceof Damaged || DAMAGE_CODES.has(((error as { errcode?: number }).errcode ?? 0) & 0xff);
}

/** 64 MiB. */
const MAX_CHECKED_PAGES = 16_384;

export function prepare(db: Database): void {
  // Another process may be creating the tables on a busy machine.
  db.exec('PRAGMA busy_timeout = 30000; PRAGMA synchronous = NORMAL');
  if (db.get('PRAGMA journal_mode')?.journal_mode !== 'wal') db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA secure_delete = FAST; PRAGMA journal_size_limit = 67108864');
  db.exec('PRAGMA cell_size_check = 1');
  // Reading a large file through takes seconds. There, damage shows at the first read of the damaged page.
  const { page_count: pages } = db.get('PRAGMA page_count') as { page_count: number };
  if (pages <= MAX_CHECKED_PAGES && db.get('PRAGMA quick_check(1)')?.quick_check !== 'ok') {
    throw new Damaged('it is damaged');
  }
  // The lock of a process that loads is not waited for where nothing has to be written.
  if (!isPrepared(db)) prepareAlone(db);
  // A load waits for the next time instead.
  db.exec('PRAGMA busy_timeout = 100');
}

function isPrepared(db: Database): boolean {
  const meta = db.get("SELECT name FROM sqlite_schema WHERE name = 'meta'");
  return meta !== undefined && db.get("SELECT value FROM meta WHERE name = 'layout'")?.value === LAYOUT;
}

function prepareAlone(db: Database): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    prepareTables(db);
    db.exec('COMMIT');
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
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

/** Creates the tables of a stream, with an index for each field that makes groups or joins. */
export function createTables(db: Database, id: number, stream: StreamDeclaration): void {
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
