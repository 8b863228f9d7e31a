import { isRecord } from '../../lib/isRecord.ts';
import { groupDigits, shortened } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { detectDelimiter, endsInQuote, fieldsOf, MAX_RECORD_LINES, toRecord } from './delimited.ts';
import { looksLikeJson, parseJson } from './json.ts';
import { lineBatches } from './lineBatches.ts';
import { lines, longLine, placed } from './positional.ts';
import { fits, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

/** Size up to which the exact number of rows is known. Beyond it, lines are counted. */
const COUNTED_BYTES = 8 * 1024 * 1024;
const SAMPLE_BYTES = 32 * 1024;
/** Number of objects whose keys make the header. */
const HEADER_ITEMS = 1_000;
/** Length limit of column names, which are also in the call that reads on. */
const MAX_NAMES_CHARS = 600;

interface Row {
  text: string;
  /** Offset of the row in bytes. */
  start: number;
}

/** Returns rows of a table. A row of CSV may span lines; without a delimiter a row is a line. */
export async function rows(reader: ArtifactReader, start: number, end: number | undefined): Promise<Selection> {
  const delimiter = await delimiterOf(reader);
  if (delimiter === undefined || start < 0 || (end ?? 0) < 0) return lines(reader, start, end);
  const shown: string[] = [];
  let used = 0;
  let number = 0;
  let stoppedAt: number | undefined;
  for await (const row of eachRow(reader, delimiter)) {
    const isWanted = number >= start && number < (end ?? Number.POSITIVE_INFINITY) && stoppedAt === undefined;
    if (isWanted && !fits(row.text, MAX_SELECTION_CHARS - used)) {
      if (shown.length === 0) return longLine(row.text, row.start, number, reader);
      stoppedAt = number;
    } else if (isWanted) {
      shown.push(row.text);
      used += row.text.length + 1;
    }
    number += 1;
    const isEnough = stoppedAt !== undefined || number > (end ?? Number.POSITIVE_INFINITY);
    if (isEnough && reader.info.size > COUNTED_BYTES) break;
  }
  const isCounted = reader.info.size <= COUNTED_BYTES || number < (end ?? number);
  const total = isCounted ? groupDigits(number) : `about ${groupDigits(reader.info.lines)}`;
  const stop = Math.min(end ?? number, number);
  if (start >= stop) return { text: '', place: `no row of ${total}` };
  return placed(shown, start, start + shown.length, stop, {
    word: 'row',
    total,
    isAll: start === 0 && stop === number,
  });
}

/** Returns some columns of CSV, TSV or a JSON array of objects, as CSV under their names. Row 0 is the header. */
export async function columns(
  reader: ArtifactReader,
  names: readonly (string | number)[],
  start: number,
  end: number | undefined,
): Promise<Selection> {
  if (JSON.stringify(names).length > MAX_NAMES_CHARS) throw viewFailed('These are too many columns; ask for fewer.');
  const { header, records, delimiter, total } = await tableOf(reader);
  const picks = pick(names, header);
  const title = picked(header, picks, delimiter);
  const room = MAX_SELECTION_CHARS - title.length - 1;
  const from = Math.max(1, start);
  const stop = end ?? Number.POSITIVE_INFINITY;
  const shown: string[] = [];
  let used = 0;
  let number = 1;
  let isFull = false;
  for await (const fields of records()) {
    if (number >= from && number < stop && !isFull) {
      const record = picked(fields, picks, delimiter);
      isFull = !fits(record, room - used);
      if (!isFull) shown.push(record);
      used += record.length + 1;
    }
    if ((isFull || number >= stop) && total !== undefined) break;
    number += 1;
  }
  if (isFull && shown.length === 0) {
    throw viewFailed(`Row ${from} of these columns is too long to be shown; read it by "rows".`);
  }
  const next = from + shown.length;
  const all = total ?? groupDigits(number);
  const isLast = !isFull && next >= number;
  if (shown.length === 0) return { text: title, place: `no row of ${all}` };
  return {
    text: [title, ...shown].join('\n'),
    place: `rows ${from}–${next - 1} of ${all}`,
    next: isLast ? undefined : { type: 'columns', columns: names, start: next, end: next + shown.length },
  };
}

function picked(fields: readonly string[], picks: readonly number[], delimiter: string): string {
  return toRecord(
    picks.map((i) => fields[i] ?? ''),
    delimiter,
  );
}

export interface Table {
  header: readonly string[];
  delimiter: string;
  /** Yields the records below the header. */
  records(): AsyncGenerator<string[]>;
  /** Number of rows including the header; undefined if the caller has to count them. */
  total: string | undefined;
}

export async function tableOf(reader: ArtifactReader): Promise<Table> {
  const delimiter = await delimiterOf(reader);
  if (delimiter === undefined) return jsonTable(reader);
  const rowsOf = async function* (): AsyncGenerator<string[]> {
    for await (const row of eachRow(reader, delimiter)) yield fieldsOf(row.text, delimiter);
  };
  const { value: header = [] } = await rowsOf().next();
  const records = async function* (): AsyncGenerator<string[]> {
    const all = rowsOf();
    await all.next();
    yield* all;
  };
  const total = reader.info.size <= COUNTED_BYTES ? undefined : `about ${groupDigits(reader.info.lines)}`;
  return { header: header as string[], delimiter, records, total };
}

export async function delimiterOf(reader: ArtifactReader): Promise<string | undefined> {
  const { mediaType } = reader.info;
  if (/tab-separated|\btsv\b/.test(mediaType)) return '\t';
  const bytes = await reader.read(0, SAMPLE_BYTES);
  const sample = bytes.toString('utf8').split(/\r?\n/);
  const found = detectDelimiter(bytes.length < reader.info.size ? sample.slice(0, -1) : sample);
  return found ?? (/\bcsv\b/.test(mediaType) ? ',' : undefined);
}

/** Yields rows: lines joined while a quoted field is open. Blank lines are no rows. */
async function* eachRow(reader: ArtifactReader, delimiter: string): AsyncGenerator<Row> {
  let open: Row | undefined;
  let openLines = 0;
  for await (const batch of lineBatches(reader)) {
    for (const line of batch) {
      if (!open && line.text.trim() === '') continue;
      const row: Row = open ? { text: `${open.text}\n${line.text}`, start: open.start } : line;
      const isOpen = endsInQuote(line.text, delimiter, open !== undefined);
      openLines = isOpen ? openLines + 1 : 0;
      if (isOpen && openLines < MAX_RECORD_LINES) {
        open = row;
        continue;
      }
      open = undefined;
      yield row;
    }
  }
  if (open) yield open;
}

/** Reads the elements of a root array, or of the longest array in a root object. */
async function jsonTable(reader: ArtifactReader): Promise<Table> {
  const value = (await looksLikeJson(reader)) ? await parseJson(reader) : undefined;
  const lists = Array.isArray(value) ? [value] : isRecord(value) ? Object.values(value).filter(Array.isArray) : [];
  const longest = (lists as unknown[][]).sort((a, b) => b.length - a.length)[0] ?? [];
  const list = longest.filter(isRecord);
  if (list.length === 0) {
    throw viewFailed(
      'This is no CSV, TSV or JSON array of objects, so it has no columns; read it by "lines" or "grep".',
    );
  }
  const keys = new Set<string>();
  for (const item of list.slice(0, HEADER_ITEMS)) for (const key of Object.keys(item)) keys.add(key);
  const header = [...keys];
  const records = async function* (): AsyncGenerator<string[]> {
    for (const item of list) yield header.map((key) => cellOf(item[key]));
  };
  return { header, delimiter: ',', records, total: groupDigits(list.length + 1) };
}

function cellOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

export function pick(names: readonly (string | number)[], header: readonly string[]): number[] {
  return names.map((name) => {
    const index = typeof name === 'number' ? name : header.indexOf(name);
    if (index >= 0 && index < header.length) return index;
    throw viewFailed(
      `There is no column ${shortened(visibleJson(name), 60)}; there are ${header.slice(0, 30).join(', ').slice(0, 600)}.`,
    );
  });
}
