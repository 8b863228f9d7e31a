import { isRecord } from '../../../../lib/isRecord.ts';
import type { FieldDeclaration, FieldType, StreamDeclaration } from '../../store/declaration.ts';

/** Rows at the beginning that decide about the fields. */
export const SAMPLE_ROWS = 2_000;
/** Field for what does not fit the declared fields. */
export const REST_FIELD = 'more';
/** Number of the row, for rows without an id of their own. */
export const ROW_FIELD = 'row';

const MAX_FIELDS = 64;
const MAX_SEARCHED = 16;
const MAX_GROUPED = 8;
/** Values of a field that is worth groups. */
const MAX_GROUPS = 200;
const MAX_GROUP_CHARS = 64;

const ID_NAMES = ['id', '_id', 'uuid', 'key'];
const TIME_NAMES = ['at', 'timestamp', 'time', 'ts', 'created_at', 'createdAt', 'date', 'updated_at', 'updatedAt'];
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

interface Seen {
  type: FieldType;
  values: Set<unknown>;
  count: number;
  chars: number;
}

/** Returns the stream that fits a sample of rows: typed fields, an id and a time where the rows have them. */
export function inferStream(name: string, rows: Iterable<Record<string, unknown>>): StreamDeclaration {
  const seen = new Map<string, Seen>();
  let total = 0;
  for (const row of rows) {
    total += 1;
    for (const [field, value] of Object.entries(row)) {
      if (value === null || value === undefined) continue;
      const known = seen.get(field);
      if (known) note(known, value);
      else if (seen.size < MAX_FIELDS && field !== REST_FIELD && field !== ROW_FIELD) {
        const first: Seen = { type: typeOf(value), values: new Set(), count: 0, chars: 0 };
        seen.set(field, first);
        note(first, value);
      }
    }
    if (total >= SAMPLE_ROWS) break;
  }
  const primaryKey = ID_NAMES.find((id) => isKey(seen.get(id), total)) ?? ROW_FIELD;
  const times = [...seen].filter(([, { type }]) => type === 'date-time').map(([field]) => field);
  const timeField =
    TIME_NAMES.find((field) => times.includes(field)) ?? times.find((field) => /at$/i.test(field)) ?? times[0];
  return {
    name,
    semantics: 'mutable_state',
    primaryKey,
    ...(timeField !== undefined && { timeField }),
    fields: {
      ...(primaryKey === ROW_FIELD && { [ROW_FIELD]: { type: 'integer' } as const }),
      ...declared(seen, primaryKey),
      [REST_FIELD]: { type: 'object' },
    },
  };
}

function declared(seen: ReadonlyMap<string, Seen>, primaryKey: string): Record<string, FieldDeclaration> {
  let searched = 0;
  let grouped = 0;
  const fields = [...seen].map(([name, { type, values, chars, count }]): [string, FieldDeclaration] => {
    if (name === primaryKey) return [name, { type }];
    const isLexical = type === 'string' && searched++ < MAX_SEARCHED;
    const isGroup =
      type === 'boolean' || (type === 'string' && values.size <= MAX_GROUPS && chars / count <= MAX_GROUP_CHARS);
    const takesGroups = isGroup && grouped++ < MAX_GROUPED;
    return [name, { type, ...(isLexical && { lexical: true }), ...(takesGroups && { groupBy: true, distinct: true }) }];
  });
  return Object.fromEntries(fields);
}

function note(seen: Seen, value: unknown): void {
  seen.count += 1;
  seen.type = joined(seen.type, typeOf(value));
  if (typeof value === 'string') seen.chars += value.length;
  // Every value of the sample is kept: groups need to know whether there are too many, and an id needs all.
  if (seen.values.size < SAMPLE_ROWS) seen.values.add(value);
}

function typeOf(value: unknown): FieldType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return TIME.test(value) ? 'date-time' : 'string';
  return Array.isArray(value) ? 'array' : 'object';
}

function joined(a: FieldType, b: FieldType): FieldType {
  if (a === b) return a;
  const both = [a, b];
  if (both.every((type) => type === 'integer' || type === 'number')) return 'number';
  if (both.every((type) => type === 'array' || type === 'object')) return 'object';
  return 'string';
}

function isKey(seen: Seen | undefined, total: number): boolean {
  if (!seen || seen.count < total || seen.values.size < total) return false;
  return seen.type === 'string' || seen.type === 'integer' || seen.type === 'date-time';
}

/** Returns the data of a row: declared fields of their type, and the rest as one object. */
export function fitted(
  row: Record<string, unknown>,
  number: number,
  { fields, primaryKey }: StreamDeclaration,
): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue;
    const type = name === REST_FIELD || name === ROW_FIELD ? undefined : fields[name]?.type;
    if (type !== undefined && fits(value, type)) data[name] = value;
    else rest[name] = value;
  }
  if (primaryKey === ROW_FIELD) data[ROW_FIELD] = number;
  if (Object.keys(rest).length > 0) data[REST_FIELD] = rest;
  return data;
}

function fits(value: unknown, type: FieldType): boolean {
  const own = typeOf(value);
  if (own === type || type === 'string') return true;
  if (type === 'number') return own === 'integer';
  return type === 'object' && (Array.isArray(value) || isRecord(value));
}
