import { groupDigits } from '../../ops/porcelain.ts';
import type { ArtifactReader } from '../artifactReader.ts';
import { detectDelimiter, endsInQuote, fieldsOf, MAX_RECORD_LINES, toRecord } from '../delimited.ts';
import { isObject } from '../resultParts.ts';
import { looksLikeJson, parseJson } from './json.ts';
import { lineBatches } from './lineBatches.ts';
import { lines, longLine, placed } from './positional.ts';
import { fits, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

/** Rows are counted to the end only as long as that is quick; beyond, the lines are. */
const COUNTED_BYTES = 8 * 1024 * 1024;
const SAMPLE_BYTES = 32 * 1024;

interface Row {
  text: string;
  /** Where it begins, in bytes. */
  start: number;
}

/** Rows of a table: a row of CSV may span lines. Where there is no delimiter a row is a line. */
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

/** Some columns of CSV, TSV or a JSON array of objects, as CSV under their names. Row 0 is the header. */
export async function columns(
  reader: ArtifactReader,
  names: readonly (string | number)[],
  start: number,
  end: number | undefined,
): Promise<Selection> {
  const delimiter = await delimiterOf(reader);
  const table = delimiter === undefined ? await jsonTable(reader) : undefined;
  if (delimiter === undefined && !table) {
    throw viewFailed(
      'This is no CSV, TSV or JSON array of objects, so it has no columns; read it by "lines" or "grep".',
    );
  }
  const separator = delimiter ?? ',';
  let header: string[] | undefined = table?.header;
  let picks: number[] | undefined = header && pick(names, header);
  const shown: string[] = [];
  let used = 0;
  let number = 0;
  let isFull = false;
  const from = Math.max(1, start);
  for await (const fields of table ? table.rows() : fieldRows(reader, separator)) {
    if (!header || !picks) {
      header = fields;
      picks = pick(names, header);
    } else if (number >= from && number < (end ?? Number.POSITIVE_INFINITY) && !isFull) {
      const text = toRecord(
        picks.map((i) => fields[i] ?? ''),
        separator,
      );
      isFull = !fits(text, MAX_SELECTION_CHARS - 500 - used);
      if (!isFull) shown.push(text);
      used += text.length + 1;
    }
    number += 1;
    if ((isFull || number > (end ?? Number.POSITIVE_INFINITY)) && reader.info.size > COUNTED_BYTES) break;
  }
  if (isFull && shown.length === 0)
    throw viewFailed(`Row ${from} of these columns is too long to be shown; read it by "rows".`);
  const title = toRecord(
    (picks ?? []).map((i) => header?.[i] ?? ''),
    separator,
  );
  const next = from + shown.length;
  const total = reader.info.size <= COUNTED_BYTES ? groupDigits(number) : `about ${groupDigits(reader.info.lines)}`;
  const isLast = !isFull && next >= number;
  return {
    text: [title, ...shown].join('\n'),
    place: shown.length > 0 ? `rows ${from}–${next - 1} of ${total}` : `no row of ${total}`,
    next:
      isLast || shown.length === 0
        ? undefined
        : { type: 'columns', columns: names, start: next, end: next + shown.length },
  };
}

export async function delimiterOf(reader: ArtifactReader): Promise<string | undefined> {
  const { mediaType } = reader.info;
  if (/tab-separated|\btsv\b/.test(mediaType)) return '\t';
  const bytes = await reader.read(0, SAMPLE_BYTES);
  const sample = bytes.toString('utf8').split(/\r?\n/);
  const found = detectDelimiter(bytes.length < reader.info.size ? sample.slice(0, -1) : sample);
  return found ?? (/\bcsv\b/.test(mediaType) ? ',' : undefined);
}

/** Lines joined while a quoted field is open. Blank lines are no rows. */
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

async function* fieldRows(reader: ArtifactReader, delimiter: string): AsyncGenerator<string[]> {
  for await (const row of eachRow(reader, delimiter)) yield fieldsOf(row.text, delimiter);
}

interface JsonTable {
  header: string[];
  rows(): AsyncGenerator<string[]>;
}

/** The elements of a root array, or of the one array that a root object holds; the first row stands for the header. */
async function jsonTable(reader: ArtifactReader): Promise<JsonTable | undefined> {
  if (!(await looksLikeJson(reader))) return undefined;
  const value = await parseJson(reader);
  const lists = Array.isArray(value) ? [value] : isObject(value) ? Object.values(value).filter(Array.isArray) : [];
  const list = (lists as unknown[][]).sort((a, b) => b.length - a.length)[0]?.filter(isObject);
  if (!list || list.length === 0) return undefined;
  const keys = new Set<string>();
  for (const item of list.slice(0, 1_000)) for (const key of Object.keys(item)) keys.add(key);
  const header = [...keys];
  return {
    header,
    async *rows() {
      yield header;
      for (const item of list) {
        yield header.map((key) => {
          const cell = item[key];
          return typeof cell === 'string' ? cell : cell === undefined ? '' : JSON.stringify(cell);
        });
      }
    },
  };
}

function pick(names: readonly (string | number)[], header: readonly string[]): number[] {
  return names.map((name) => {
    const index = typeof name === 'number' ? name : header.indexOf(name);
    if (index >= 0 && index < header.length) return index;
    throw viewFailed(
      `There is no column ${JSON.stringify(name)}; there are ${header.slice(0, 30).join(', ').slice(0, 600)}.`,
    );
  });
}
