import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { toRecord } from './delimited.ts';
import { pick, tableOf } from './table.ts';
import { viewFailed } from './viewFailed.ts';

/** Page of a table for the user's view. Row 1 is the first one below the header. */
export interface PageQuery {
  /** All columns without it. */
  columns?: readonly (string | number)[];
  start?: number;
  /** First row that is not on the page. */
  end?: number;
  /** Column to sort by. Numbers sort as numbers. */
  sort?: string | number;
  descending?: boolean;
  /** Text that some column of a row contains, in any case. */
  contains?: string;
}

export interface TablePage {
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** Number of the rows that match. */
  total: number;
  text: string;
}

const PAGE_ROWS = 100;
const MAX_PAGE_ROWS = 1_000;
const MAX_CELL_CHARS = 2_000;
/** Rows that are sorted at most: their keys are in memory. */
const MAX_SORTED = 500_000;

/** Reads a page of CSV, TSV or a JSON array of objects. Reads a sorted table twice, so that only its keys are in memory. */
export async function tablePage(reader: ArtifactReader, query: PageQuery): Promise<TablePage> {
  const { header, records } = await tableOf(reader);
  const picks = pick(query.columns ?? header.map((_, i) => i), header);
  const contains = query.contains?.toLowerCase();
  const matches = (fields: readonly string[]): boolean =>
    contains === undefined || contains === '' || fields.some((field) => field.toLowerCase().includes(contains));
  const first = Math.max(1, query.start ?? 1);
  const last = Math.min(query.end ?? first + PAGE_ROWS, first + MAX_PAGE_ROWS);
  const [by] = query.sort === undefined ? [] : pick([query.sort], header);
  const places = by === undefined ? undefined : await sortedPlaces(records(), matches, by, query.descending === true);
  const wanted = places && new Map(places.slice(first - 1, last - 1).map((place, i) => [place, i]));
  const rows: string[][] = [];
  let total = 0;
  for await (const fields of records()) {
    if (!matches(fields)) continue;
    total += 1;
    const at = wanted ? wanted.get(total) : total >= first && total < last ? total - first : undefined;
    if (at !== undefined) rows[at] = picks.map((i) => (fields[i] ?? '').slice(0, MAX_CELL_CHARS));
  }
  const columns = picks.map((i) => header[i] as string);
  return { columns, rows, total, text: [columns, ...rows].map((row) => toRecord(row, ',')).join('\n') };
}

/** Returns the numbers of the matching rows, from 1, in the order of a column. */
async function sortedPlaces(
  records: AsyncGenerator<string[]>,
  matches: (fields: readonly string[]) => boolean,
  by: number,
  descending: boolean,
): Promise<number[]> {
  const keys: string[] = [];
  for await (const fields of records) {
    if (matches(fields)) keys.push((fields[by] ?? '').slice(0, MAX_CELL_CHARS));
    if (keys.length > MAX_SORTED) throw viewFailed(`Only ${MAX_SORTED} rows can be sorted; filter the table first.`);
  }
  const numbers = keys.map((key) => (key.trim() === '' ? Number.NaN : Number(key)));
  const compare = (a: number, b: number): number => {
    const [x, y] = [numbers[a] as number, numbers[b] as number];
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return (keys[a] as string) < (keys[b] as string) ? -1 : (keys[a] as string) > (keys[b] as string) ? 1 : 0;
  };
  const order = keys.map((_, i) => i).sort((a, b) => (descending ? compare(b, a) : compare(a, b)) || a - b);
  return order.map((i) => i + 1);
}
