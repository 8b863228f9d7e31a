import { isRecord } from '../../../lib/isRecord.ts';
import { defined, type Json, recordsIn } from '../values.ts';
import { flagsOf, LEGEND, relationsOf } from './capabilities.ts';
import { type SchemaScope, type StreamRow, scopedConnections, withRows } from './schemaRows.ts';

const IDENTITY = ['object', 'name', 'connection_id', 'connector_key', 'display_name', 'primary_key', 'cursor_field'];

/** Returns a stream as the index shows it: its identity, and none of its fields. */
export function indexRow({ stream }: StreamRow): Json {
  return defined({
    ...Object.fromEntries(IDENTITY.map((key) => [key, stream[key]])),
    granted_connections: stream.granted_connections,
  });
}

/** Returns a stream as a scoped call shows it: with flags for its fields, and its relations. */
export function abilityRow({ stream }: StreamRow, scope: SchemaScope): Json {
  const capabilities = isRecord(stream.field_capabilities) ? stream.field_capabilities : {};
  return defined({
    ...Object.fromEntries([...IDENTITY, 'consent_time_field'].map((key) => [key, stream[key]])),
    granted_connections: Array.isArray(stream.granted_connections)
      ? scopedConnections(recordsIn(stream.granted_connections), scope)
      : undefined,
    views: Array.isArray(stream.views)
      ? recordsIn(stream.views).map(({ id, fields }) => defined({ id, fields }))
      : undefined,
    field_capabilities: Object.fromEntries(
      Object.entries(capabilities).map(([field, given]) => [field, flagsOf(given)]),
    ),
    expand_capabilities: relationsOf(stream),
  });
}

/** Bytes of the global index (R2.6). */
const MAX_INDEX_BYTES = 56_000;
const MAX_CONNECTIONS = 50;

/** Returns the global index. Every stream has a row; beyond the budget the rows have names alone. */
export function indexDocument(document: Json, scope: SchemaScope): Record<string, unknown> {
  const { streams: _streams, ...rest } = document;
  const hasConnectors = recordsIn(document.connectors).length > 0;
  const shown = hasConnectors ? rest : document;
  const whole = { ...withRows(withoutExtras(shown), scope, boundedRow), detail: 'compact' };
  if (Buffer.byteLength(JSON.stringify(whole)) <= MAX_INDEX_BYTES) return whole;
  return {
    ...withRows(withoutExtras(shown), scope, ({ name }) => ({ name })),
    detail: 'compact',
    rows_are_names: true,
  };
}

function boundedRow(row: StreamRow): Json {
  const { granted_connections: connections, ...index } = indexRow(row);
  if (!Array.isArray(connections)) return index;
  const more = connections.length - MAX_CONNECTIONS;
  return {
    ...index,
    granted_connections: connections.slice(0, MAX_CONNECTIONS),
    ...(more > 0 && { more_connections: more }),
  };
}

const CONNECTOR = [
  'object',
  'connector_key',
  'connector_id',
  'display_name',
  'connection_id',
  'granted_connections',
  'streams',
];
const SOURCE = ['kind', 'id', 'grant_id', 'connector_id', 'connector_key', 'connection_id', 'display_name'];

/** Keeps of each connector its identity alone: a manifest in it would be larger than the index. */
function withoutExtras(document: Json): Json {
  if (!Array.isArray(document.connectors)) return document;
  const connectors = recordsIn(document.connectors).map((connector) => {
    const source = isRecord(connector.source) ? connector.source : {};
    return defined({
      ...Object.fromEntries(CONNECTOR.map((key) => [key, connector[key]])),
      source: isRecord(connector.source)
        ? defined(Object.fromEntries(SOURCE.map((key) => [key, source[key]])))
        : undefined,
    });
  });
  return { ...document, connectors };
}

/** Returns the document of a scoped call. */
export function scopedDocument(document: Json, scope: SchemaScope): Record<string, unknown> {
  const scoped = withRows(withoutExtras(document), scope, (row) => abilityRow(row, scope));
  return { ...scoped, detail: 'compact', field_capability_legend: LEGEND };
}

/** Bytes of a scoped document with its JSON Schema (R2.6). */
const MAX_FULL_BYTES = 180_000;
const MAX_PROSE_CHARS = 200;

/** Returns the document with the JSON Schema of the stream. Long prose gives way before any ability does. */
export function fullDocument(document: Json, scope: SchemaScope): Record<string, unknown> {
  const full = { ...withRows(document, scope, (row) => fullRow(row, scope)), detail: 'full' };
  if (Buffer.byteLength(JSON.stringify(full)) <= MAX_FULL_BYTES) return full;
  const brief = { ...(shortProse(full) as Record<string, unknown>), prose_shortened: true };
  if (Buffer.byteLength(JSON.stringify(brief)) <= MAX_FULL_BYTES) return brief;
  return { ...scopedDocument(document, scope), json_schema_omitted: 'it is larger than 180,000 bytes' };
}

function fullRow({ stream }: StreamRow, scope: SchemaScope): Json {
  if (!Array.isArray(stream.granted_connections)) return stream;
  return { ...stream, granted_connections: scopedConnections(recordsIn(stream.granted_connections), scope) };
}

function shortProse(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_PROSE_CHARS ? `${value.slice(0, MAX_PROSE_CHARS)}…` : value;
  if (Array.isArray(value)) return value.map(shortProse);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortProse(member)]));
}
