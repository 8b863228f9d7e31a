import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { isRecord } from '../../../../lib/isRecord.ts';
import { readBoundedText } from '../../../../lib/readBounded.ts';
import { detectDelimiter, endsInQuote, fieldsOf, MAX_RECORD_LINES } from '../../../../results/select/delimited.ts';

/** Row of a file with its number, from 1; `undefined` for one that could not be read. */
export type FolderRow = Record<string, unknown> | undefined;

const CHUNK_BYTES = 256 * 1024;
/** JSON is parsed as a whole. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;
const SAMPLED_LINES = 20;
const OPEN = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Reads the rows of a CSV file, whose first line names the columns. Numbers and true/false become values. */
export function* csvRows(path: string): Generator<FolderRow> {
  let names: string[] | undefined;
  let delimiter = ',';
  for (const record of csvRecords(path, (first) => {
    delimiter = detectDelimiter(first) ?? ',';
    return delimiter;
  })) {
    const fields = fieldsOf(record, delimiter);
    if (!names) names = fields.map((name, index) => name.trim() || `column_${index + 1}`);
    else if (fields.length > names.length) yield undefined;
    else yield Object.fromEntries(names.map((name, index) => [name, cellValue(fields[index] ?? '')]));
  }
}

function* csvRecords(path: string, start: (first: readonly string[]) => string): Generator<string> {
  const lines = textLines(path);
  const first: string[] = [];
  for (let next = lines.next(); !next.done && first.push(next.value) < SAMPLED_LINES; ) next = lines.next();
  const delimiter = start(first);
  let held: string[] = [];
  let isOpen = false;
  for (const line of chained(first, lines)) {
    if (held.length === 0 && line.trim() === '') continue;
    isOpen = endsInQuote(line, delimiter, isOpen);
    held.push(line);
    if (isOpen && held.length < MAX_RECORD_LINES) continue;
    yield held.join('\n');
    [held, isOpen] = [[], false];
  }
  if (held.length > 0) yield held.join('\n');
}

function* chained(first: readonly string[], rest: Iterable<string>): Generator<string> {
  yield* first;
  yield* rest;
}

function* textLines(path: string): Generator<string> {
  const fd = openSync(path, OPEN);
  try {
    if (!fstatSync(fd).isFile()) return;
    const decoder = new StringDecoder('utf8');
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let held = '';
    let isFirst = true;
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      held += decoder.write(chunk.subarray(0, read));
      if (isFirst) held = held.replace(/^\ufeff/, '');
      isFirst = false;
      const lines = held.split(/\r?\n/);
      held = lines.pop() as string;
      yield* lines;
    }
    if (held !== '') yield held;
  } finally {
    closeSync(fd);
  }
}

const NUMBER = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?$/;

function cellValue(text: string): unknown {
  if (text === '') return undefined;
  if (NUMBER.test(text)) return Number(text);
  const word = text.toLowerCase();
  return word === 'true' || word === 'false' ? word === 'true' : text;
}

/** Returns the lists of records in a JSON file: the file itself, or each member that is one. */
export function jsonLists(path: string, within: string): { name: string; rows: unknown[] }[] {
  const value: unknown = JSON.parse(readBoundedText(path, { maxBytes: MAX_JSON_BYTES, within }));
  if (Array.isArray(value)) return [{ name: '', rows: value }];
  if (!isRecord(value)) return [];
  const lists = Object.entries(value).flatMap(([name, rows]) =>
    Array.isArray(rows) && rows.some(isRecord) ? [{ name, rows }] : [],
  );
  return lists.length > 0 ? lists : [{ name: '', rows: [value] }];
}
