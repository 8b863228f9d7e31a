import type { LongText } from '../../text/longText.ts';
import { count } from '../../text/porcelain.ts';
import { endsInQuote, fieldsOf, toRecords } from '../select/delimited.ts';
import { type Digest, type DigestSource, size } from './digestSource.ts';
import type { TextKind } from './kinds.ts';
import { cutLine, eachLine, takeLines } from './lines.ts';

const MAX_ROW_CHARS = 400;
/** Number of rows that show the content of the cells. */
const MAX_ROWS = 24;
const NAMES: Readonly<Record<string, string>> = { ',': 'CSV', '\t': 'TSV', ';': 'CSV (";")', '|': 'table ("|")' };

type TableKind = Extract<TextKind, { kind: 'table' }>;

/** Makes the digest of a table: the header, the number of rows, and the first of them. */
export async function tableDigest(source: DigestSource, kind: TableKind): Promise<Digest> {
  const delimiter = kind.form === 'delimited' ? kind.delimiter : undefined;
  const lines = source.sample.split(/\r?\n/);
  const records = delimiter === undefined ? lines : toRecords(lines, delimiter);
  const header = records.find((record) => record.trim() !== '') ?? '';
  const columns = columnsOf(header, kind);
  const rows = await countRows(source.text, delimiter, source.turn);
  // Rows below the header, and below the rule of a markdown table.
  const data = rows - (kind.form === 'markdown' ? 2 : 1);
  const title = `${NAMES[delimiter ?? ''] ?? 'Table'}, ${size(source.text)}: ${count(data, 'row')} of ${count(columns.length, 'column')}`;
  const shown = takeLines(
    records
      .filter((record) => record.trim() !== '')
      .slice(0, MAX_ROWS)
      .map((record) => cutLine(record, MAX_ROW_CHARS)),
    source.room,
  );
  const next = shown.length;
  const views: Digest['views'] = [
    { type: 'rows', start: next, end: next + 40 },
    ...(delimiter === undefined
      ? [{ type: 'grep', pattern: '(?i)keyword', limit: 20 }]
      : [{ type: 'columns', columns: columns.slice(0, 3), start: 1, end: 101 }]),
    { type: 'tail', lines: 20 },
  ];
  return { title, body: shown.join('\n'), views };
}

function columnsOf(header: string, kind: TableKind): string[] {
  if (kind.form === 'delimited') return fieldsOf(header, kind.delimiter);
  const cells =
    kind.form === 'markdown' ? header.replace(/^\s*\||\|\s*$/g, '').split('|') : header.trim().split(/ {2,}|\t+/);
  return cells.map((cell) => cell.trim());
}

/** Counts non-empty lines that begin a record. */
async function countRows(text: LongText, delimiter: string | undefined, turn: () => Promise<void>): Promise<number> {
  let rows = 0;
  let open = false;
  await eachLine(text, turn, (line) => {
    if (!open && line.trim() !== '') rows += 1;
    if (delimiter !== undefined) open = endsInQuote(line, delimiter, open);
  });
  return rows;
}
