import { oneLine } from '../../../text/porcelain.ts';
import { visibleJson } from '../../../text/visibleText.ts';
import { cutBytes, inBraces, inQuotes } from '../boundedText.ts';
import { filled, type Json, recordsIn, textsIn } from '../values.ts';
import { warningLines } from '../warnings.ts';
import { abilitiesOf, LEGEND, relationsOf } from './capabilities.ts';
import { isInScope, type SchemaScope, type StreamRow, streamRows } from './schemaRows.ts';

const MAX_ROWS = 50;
const MAX_CONNECTIONS = 8;
const MAX_FIELDS = 16;
/** Fields that are named without their flags. */
const MAX_NAMED_FIELDS = 100;
const MAX_PER_KIND = 12;
const MAX_RELATIONS = 12;
const MAX_JSON_SCHEMA_BYTES = 4_000;

/** Text of the index: every granted stream, and no field (R2.2). */
export function indexText(document: Json, scope: SchemaScope): string {
  const rows = streamRows(document).filter((row) => isInScope(row, scope));
  const isCapped = rows.length > MAX_ROWS;
  return [
    header(document, rows),
    ...(isCapped ? streamIndex(rows) : []),
    ...rows.slice(0, MAX_ROWS).map(rowLine),
    ...(isCapped ? [`more_streams=${rows.length - MAX_ROWS}; stream_index has all names`] : []),
    ...warningLines(document),
    rows.length === 0
      ? `No stream is granted${scope.connectionId === undefined ? '' : ' in this connection'}.`
      : 'Next: schema(stream) or schema(stream, connection_id) shows fields and abilities.',
  ].join('\n');
}

/** Text of a scoped call: what a reader needs for the next read (R2.4). */
export function scopedText(document: Json, scope: SchemaScope, withJsonSchema: boolean): string {
  const rows = streamRows(document).filter((row) => isInScope(row, scope));
  const named = scope.stream === undefined ? '' : ` named ${inQuotes(scope.stream, 80)}`;
  const { connectionId } = scope;
  if (rows.length === 0) {
    const where = connectionId === undefined ? '' : ` in the connection ${inQuotes(connectionId, 80)}`;
    return `${header(document, rows)}\nNo granted stream${named}${where}; call schema for the index.`;
  }
  const legend = Object.entries(LEGEND).map(([flag, meaning]) => `${flag}=${visibleJson(meaning)}`);
  return [
    header(document, rows),
    `field_capability_legend ${legend.join(' ')}`,
    ...(connectionId === undefined ? [] : [`schema_scope connection_id=${inQuotes(connectionId)}`]),
    ...rows
      .slice(0, MAX_ROWS)
      .flatMap((row) => [
        rowLine(row),
        ...abilityLines(row.stream).map((line) => `  ${line}`),
        ...(withJsonSchema ? jsonSchemaLines(row.stream) : []),
      ]),
    ...(rows.length > MAX_ROWS ? [`more_streams=${rows.length - MAX_ROWS}; name a connection_id`] : []),
    ...warningLines(document),
  ].join('\n');
}

function header(document: Json, rows: readonly StreamRow[]): string {
  const connectors = new Set(rows.map(({ connector }) => connector)).size;
  const members = (document.package as Json | undefined)?.member_count;
  return `schema: connectors=${connectors} streams=${rows.length}${typeof members === 'number' ? ` grants=${members}` : ''}`;
}

function streamIndex(rows: readonly StreamRow[]): string[] {
  const byKey = new Map<string | undefined, string[]>();
  for (const { connectorKey, name } of rows) {
    const names = byKey.get(connectorKey) ?? [];
    names.push(/^[\w.:/-]+$/.test(name) ? name : inQuotes(name));
    byKey.set(connectorKey, names);
  }
  return [...byKey].map(
    ([key, names]) =>
      `stream_index connector_key=${inQuotes(key)} stream_count=${names.length} streams=${[...new Set(names)].join('|')}`,
  );
}

function rowLine({ name, connectorKey, displayName, connections }: StreamRow): string {
  const shown = connections
    .slice(0, MAX_CONNECTIONS)
    .map((one) => `{connection_id:${inBraces(one.connectionId, 200)},display_name:${inBraces(one.displayName)}}`);
  const more = connections.length - MAX_CONNECTIONS;
  const listed = [...shown, ...(more > 0 ? [`more:${more}`] : [])].join('|');
  return `stream name=${inQuotes(name)} connector_key=${inQuotes(connectorKey)} display_name=${inQuotes(displayName, 80)} connections=${listed || 'null'}`;
}

function abilityLines(stream: Json): string[] {
  const { fields, lexical, semantic, aggregations, isSilent } = abilitiesOf(stream);
  const cursor = filled(stream.cursor_field);
  const keys = textsIn(stream.primary_key);
  const named = fields.slice(0, MAX_FIELDS).map(([name, flags]) => `${inBraces(name)}[${oneLine(flags, 160)}]`);
  const others = fields.slice(MAX_FIELDS);
  const views = recordsIn(stream.views).flatMap(({ id }) => filled(id) ?? []);
  return [
    `primary_key=${keys.length > 0 ? keys.map((key) => inBraces(key)).join('|') : 'null'} cursor_field=${inBraces(cursor)}`,
    `fields=${[...named, ...(others.length > 0 ? [`more:${others.length}`] : [])].join(';') || 'null'}`,
    ...(others.length > 0
      ? [
          `more_fields=${listed(
            others.map(([name]) => name),
            MAX_NAMED_FIELDS,
          )}`,
        ]
      : []),
    `projection=fields${views.length > 0 ? ` view=${listed(views, MAX_PER_KIND)}` : ''}`,
    `sort=${cursor === undefined ? 'unknown' : `${inBraces(cursor)}|-${inBraces(cursor)}`} count=none|estimated|exact`,
    `expand=${relationsOf(stream).slice(0, MAX_RELATIONS).map(relation).join('|') || 'none'}`,
    `search=lexical:${listed(lexical, MAX_PER_KIND)};semantic:${listed(semantic, MAX_PER_KIND)}`,
    `aggregations=${aggregations.map(([kind, names]) => `${kind}=${listed(names, MAX_PER_KIND)}`).join(';') || 'count'}`,
    ...(isSilent
      ? [
          'note: the provider names these fields and none of their abilities; filter, expand and aggregate may be refused.',
        ]
      : []),
  ];
}

function listed(names: readonly string[], limit: number): string {
  const more = names.length - limit;
  const shown = names.slice(0, limit).map((name) => inBraces(name));
  return [...shown, ...(more > 0 ? [`more:${more}`] : [])].join('|') || 'none';
}

function relation({ name, target_stream, stream, cardinality, default_limit, max_limit, usable }: Json): string {
  const parts = [
    `stream:${inBraces(target_stream ?? stream)}`,
    `cardinality:${inBraces(cardinality)}`,
    ...(default_limit === undefined ? [] : [`default_limit:${inBraces(default_limit)}`]),
    ...(max_limit === undefined ? [] : [`max_limit:${inBraces(max_limit)}`]),
    ...(usable === false ? ['usable:false'] : []),
  ];
  return `${inBraces(name)}{${parts.join(',')}}`;
}

function jsonSchemaLines({ schema }: Json): string[] {
  if (schema === undefined) return [];
  return [`  json_schema=${cutBytes(visibleJson(schema), MAX_JSON_SCHEMA_BYTES)}`];
}
