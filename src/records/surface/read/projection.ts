import { isRecord } from '../../../lib/isRecord.ts';
import type { Json } from '../values.ts';

/** Members of a record that identify it, and stay whatever `fields` says (R3.4). */
const ENVELOPE: readonly string[] = [
  'object',
  'id',
  'record_key',
  'stream',
  'emitted_at',
  'deleted',
  'deleted_at',
  'connection_id',
  'connector_key',
  'connector_id',
  'display_name',
  'grant_id',
  'links',
  'meta',
];

/** Returns the members of a payload that the fields name; a path such as `author.name` keeps its first member. */
export function projected(payload: Json, fields: readonly string[]): Json {
  const kept = Object.entries(payload).filter(([key]) =>
    fields.some((field) => field === key || field.startsWith(`${key}.`) || field.startsWith(`${key}[`)),
  );
  return Object.fromEntries(kept);
}

/**
 * Narrows a record to the fields. The provider does this too; a provider that ignores the argument must not widen what
 * the caller gets.
 */
export function projectedRecord(record: Json, fields: readonly string[] | undefined, expands: boolean): Json {
  if (fields === undefined || fields.length === 0) return record;
  return {
    ...Object.fromEntries(Object.entries(record).filter(([key]) => ENVELOPE.includes(key))),
    ...(isRecord(record.data) && { data: projected(record.data, fields) }),
    ...(expands && isRecord(record.expanded) && { expanded: record.expanded }),
  };
}
