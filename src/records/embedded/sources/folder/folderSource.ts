import { type Dirent, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { isRecord, parseRecord } from '../../../../lib/isRecord.ts';
import { readFailure } from '../../../../lib/readBounded.ts';
import { scrubValue } from '../../../../secrets/scrubValue.ts';
import type { ConnectionDeclaration, StreamDeclaration } from '../../store/declaration.ts';
import type { RecordWriter } from '../../store/recordWriter.ts';
import { loadSqlite } from '../../store/sqlite.ts';
import { LineFile, parseLineState } from '../lineFile.ts';
import { PART_ROWS, type RecordSource } from '../recordSource.ts';
import { tableRows, tablesOf } from './folderDatabase.ts';
import { csvRows, type FolderRow, jsonLists } from './folderRows.ts';
import { fitted, inferStream, SAMPLE_ROWS } from './inferStream.ts';

/** Stream of a folder: a file of rows, a list in a JSON file, or a table of a database. */
interface FolderStream {
  readonly declaration: StreamDeclaration;
  readonly path: string;
  /** Rows from the beginning; a file of JSON lines is continued instead. */
  readonly rows?: () => Iterable<FolderRow>;
}

/** Streams of a file, as long as the file does not change. */
interface Inferred {
  readonly stamp: string;
  readonly streams: readonly NamedStream[];
}

type NamedStream = FolderStream & { readonly name: string };

const MAX_FILES = 200;
const MAX_DEPTH = 3;
const KINDS = new Set(['.jsonl', '.ndjson', '.csv', '.tsv', '.json', '.db', '.sqlite', '.sqlite3']);

/** Files of one granted folder. Links are not followed, so that nothing outside of the folder is read. */
export class FolderSource implements RecordSource {
  readonly independent = true;
  readonly connection: ConnectionDeclaration;
  readonly #folder: string;
  readonly #malformed: (count: number) => void;
  #streams: readonly FolderStream[] = [];
  readonly #inferred = new Map<string, Inferred>();
  #unread = 0;

  constructor(id: string, { path, name }: { path: string; name: string }, malformed: (count: number) => void) {
    this.connection = { id, connectorKey: id, displayName: name };
    this.#folder = path;
    this.#malformed = malformed;
  }

  async streams(): Promise<readonly StreamDeclaration[]> {
    // A link in the place of the granted folder leads elsewhere.
    if (!lstatSync(this.#folder).isDirectory() || realpathSync(this.#folder) !== this.#folder) {
      throw new Error(`${this.#folder} is no longer the folder that was granted; grant it again.`);
    }
    this.#unread = 0;
    const names = new Map<string, number>();
    const streams: FolderStream[] = [];
    for (const path of listed(this.#folder)) {
      const found = await this.#known(path).catch(() => {
        this.#unread += 1;
        return [];
      });
      for (const { name, ...stream } of found) {
        const taken = names.get(name) ?? 0;
        names.set(name, taken + 1);
        streams.push({
          ...stream,
          declaration: { ...stream.declaration, name: taken === 0 ? name : `${name}_${taken + 1}` },
        });
      }
    }
    this.#streams = streams;
    return streams.map(({ declaration }) => declaration);
  }

  *load(writer: RecordWriter): Generator<void> {
    let malformed = this.#unread;
    for (const stream of this.#streams) malformed += yield* this.#loadStream(writer, stream);
    this.#malformed(malformed);
  }

  async #known(path: string): Promise<readonly NamedStream[]> {
    const stamp = stampOf(path);
    const known = this.#inferred.get(path);
    if (known?.stamp === stamp) return known.streams;
    const streams = await this.#streamsOf(path);
    this.#inferred.set(path, { stamp, streams });
    return streams;
  }

  async #streamsOf(path: string): Promise<NamedStream[]> {
    const base = streamName(relative(this.#folder, path));
    const stream = (name: string, rows: () => Iterable<FolderRow>): NamedStream => ({
      name,
      path,
      rows,
      declaration: inferStream(name, sampled(rows())),
    });
    switch (extname(path).toLowerCase()) {
      case '.jsonl':
      case '.ndjson': {
        const file = new LineFile(path);
        try {
          return [{ name: base, path, declaration: inferStream(base, values(file)) }];
        } finally {
          file.close();
        }
      }
      case '.csv':
      case '.tsv':
        return [stream(base, () => csvRows(path))];
      case '.json':
        return jsonLists(path, this.#folder).map(({ name, rows }) =>
          stream(name === '' ? base : `${base}_${streamName(name)}`, () =>
            rows.map((row) => (isRecord(row) ? row : undefined)),
          ),
        );
      default: {
        const sqlite = await loadSqlite();
        return tablesOf(sqlite, path).map((table) =>
          stream(`${base}_${streamName(table)}`, () => tableRows(sqlite, path, table)),
        );
      }
    }
  }

  *#loadStream(writer: RecordWriter, { declaration, path, rows }: FolderStream): Generator<void, number> {
    const item = `stream:${declaration.name}`;
    if (!rows) return yield* lineRows(writer, item, declaration, path);
    const stamp = stampOf(path);
    const before = parseRecord(writer.progressOf(item) ?? '');
    if (before?.stamp === stamp) return Number(before.malformed);
    const kept = new Set<string>();
    let number = 0;
    let malformed = 0;
    for (const row of rows()) {
      number += 1;
      if (row) kept.add(put(writer, declaration, row, number));
      else malformed += 1;
      if (number % PART_ROWS !== 0) continue;
      // The stamp is saved at the end only: a file that was read in part is read again.
      if (writer.isFull) writer.commit();
      yield;
    }
    writer.keepOnly(declaration.name, kept);
    writer.progress(item, JSON.stringify({ stamp, malformed }));
    return malformed;
  }
}

/** Continues a file of JSON lines, or reads it again from the beginning if it was replaced. */
function* lineRows(
  writer: RecordWriter,
  item: string,
  declaration: StreamDeclaration,
  path: string,
): Generator<void, number> {
  const before = parseLineState(writer.progressOf(item));
  const file = new LineFile(path, before);
  const kept = file.restarted ? new Set<string>() : undefined;
  try {
    if (before && !file.restarted && before.offset === file.size) return before.malformed;
    let rows = 0;
    for (const { value, line } of file.read()) {
      const key = put(writer, declaration, value, line);
      kept?.add(key);
      rows += 1;
      if (rows % PART_ROWS !== 0) continue;
      if (writer.isFull) {
        // Until a replaced file is read to its end, its old place counts.
        if (!kept) writer.progress(item, JSON.stringify(file.state));
        writer.commit();
      }
      yield;
    }
    if (kept) writer.keepOnly(declaration.name, kept);
    writer.progress(item, JSON.stringify(file.state));
    return file.state.malformed;
  } finally {
    file.close();
  }
}

function put(
  writer: RecordWriter,
  declaration: StreamDeclaration,
  row: Record<string, unknown>,
  number: number,
): string {
  const masked = scrubValue(row) as Record<string, unknown>;
  const data = fitted(masked, number, declaration);
  const key = String(data[declaration.primaryKey] ?? `row:${number}`);
  writer.put(declaration.name, { key, data });
  return key;
}

function* values(file: LineFile): Generator<Record<string, unknown>> {
  for (const { value } of file.read()) yield value;
}

function* sampled(rows: Iterable<FolderRow>): Generator<Record<string, unknown>> {
  let read = 0;
  for (const row of rows) {
    if (row) yield row;
    read += 1;
    if (read >= SAMPLE_ROWS) return;
  }
}

function listed(folder: string, depth = 0): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (depth > 0) return [];
    throw new Error(`${folder} cannot be read: ${readFailure(error)}.`);
  }
  const paths = entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.name.startsWith('.')) return [];
      if (entry.isDirectory()) return depth < MAX_DEPTH ? listed(path, depth + 1) : [];
      return entry.isFile() && KINDS.has(extname(entry.name).toLowerCase()) ? [path] : [];
    });
  return paths.slice(0, MAX_FILES);
}

/** Name of a stream: the path in the folder without its end, in letters, digits, `_` and `-`. */
function streamName(path: string): string {
  const name = path.slice(0, path.length - extname(path).length).replace(/[^A-Za-z0-9_-]+/g, '_');
  return name.replace(/^_+|_+$/g, '') || 'records';
}

function stampOf(path: string): string {
  const stamps = ['', '-wal'].map((end) => {
    const found = statSync(path + end, { throwIfNoEntry: false });
    return found ? [found.dev, found.ino, found.size, found.mtimeMs] : null;
  });
  return JSON.stringify(stamps);
}
