import type { FieldDeclaration } from './declaration.ts';
import type { SQLInputValue } from './sqlite.ts';

/** Longest text of a field. The rest of a longer one is cut, and the cut is marked. */
const MAX_FIELD_CHARS = 64 * 1024;

/** Returns the column of a value. A value of another type than the declared one is kept as null. */
export function stored(value: unknown, { type }: FieldDeclaration): SQLInputValue {
  if (value === undefined || value === null) return null;
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? Number(value) : null;
    case 'integer':
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? value : null;
    case 'date-time':
      return isoTime(value) ?? null;
    case 'string':
      return bounded(typeof value === 'string' ? value : JSON.stringify(value));
    default:
      return boundedJson(value);
  }
}

/** Returns the value of a column. */
export function shown(value: unknown, { type }: FieldDeclaration): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'boolean') return value === 1;
  if (type === 'array' || type === 'object') return JSON.parse(String(value));
  return value;
}

const LOCAL_TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/;

/** Returns a time as ISO 8601 in UTC with milliseconds, so that texts compare as times do. */
export function isoTime(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  // A time without a zone is taken for UTC, so that no answer depends on the machine.
  const time = new Date(typeof value === 'string' ? value.replace(LOCAL_TIME, '$1T$2Z') : value);
  const year = time.getUTCFullYear();
  return year >= 0 && year <= 9999 ? time.toISOString() : undefined;
}

function bounded(text: string): string {
  return text.length <= MAX_FIELD_CHARS ? text : `${text.slice(0, MAX_FIELD_CHARS)}… (${text.length} characters)`;
}

function boundedJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length <= MAX_FIELD_CHARS ? json : JSON.stringify({ omitted: `${json.length} characters of JSON` });
}
