import { isRecord } from '../../../lib/isRecord.ts';
import { filled, type Json, recordsIn } from '../values.ts';

/** Stream of a schema document together with the connector that lists it. */
export interface StreamRow {
  stream: Json;
  connector: Json;
  name: string;
  connectorKey: string | undefined;
  displayName: string | undefined;
  connections: readonly Connection[];
}

export interface Connection {
  connectionId: string;
  displayName: string | undefined;
}

const MAX_WRAPPERS = 4;

/** Returns the document of an answer without the envelopes around it, and without the old names of connections. */
export function schemaDocument(body: Json): Record<string, unknown> {
  let document = body;
  for (let depth = 0; depth < MAX_WRAPPERS && isRecord(document.data); depth++) {
    if (Array.isArray(document.connectors) || Array.isArray(document.streams)) break;
    document = document.data;
  }
  const { data: _data, ...plain } = withoutAlias(document) as Record<string, unknown>;
  // The same rows must not be listed twice.
  if (recordsIn(plain.connectors).length > 0) delete plain.streams;
  return plain;
}

function withoutAlias(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutAlias);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).filter(([key]) => key !== 'connector_instance_id');
  return Object.fromEntries(members.map(([key, member]) => [key, withoutAlias(member)]));
}

/** Returns the connectors of a document. An older document has its streams at the top, as if of one connector. */
export function connectorsOf(document: Json): Record<string, unknown>[] {
  const connectors = recordsIn(document.connectors);
  if (connectors.length > 0 || !Array.isArray(document.streams)) return connectors;
  return [{ streams: document.streams }];
}

/** Returns every stream of a document, in its order. */
export function streamRows(document: Json): StreamRow[] {
  return connectorsOf(document).flatMap((connector) =>
    recordsIn(connector.streams).flatMap((stream) => {
      const name = filled(stream.name);
      if (name === undefined) return [];
      const source = isRecord(connector.source) ? connector.source : {};
      return {
        stream,
        connector,
        name,
        connectorKey: keyOf(stream) ?? keyOf(connector) ?? keyOf(source) ?? filled(source.id),
        displayName: filled(stream.display_name) ?? filled(connector.display_name) ?? filled(source.display_name),
        connections: connectionsOf(stream, connector, source),
      };
    }),
  );
}

function keyOf({ connector_key: key, connector_id: id }: Json): string | undefined {
  return filled(key) ?? filled(id);
}

/** Returns the connections of a stream: its own list, its own id, or the list of its connector. */
function connectionsOf(stream: Json, connector: Json, source: Json): Connection[] {
  const listed = recordsIn(stream.granted_connections);
  const own = filled(stream.connection_id);
  const given = listed.length > 0 ? listed : own !== undefined ? [stream] : recordsIn(connector.granted_connections);
  const found = given.length > 0 ? given : [connector, source];
  return found.flatMap(({ connection_id: id, display_name: name }) => {
    const connectionId = filled(id);
    return connectionId === undefined ? [] : { connectionId, displayName: filled(name) };
  });
}

/** Part of the schema that a call asks for. */
export interface SchemaScope {
  stream?: string | undefined;
  connectionId?: string | undefined;
}

/** Whether a row is in the scope. A row whose connections are unknown may be any connection's. */
export function isInScope({ name, connections }: StreamRow, { stream, connectionId }: SchemaScope): boolean {
  if (stream !== undefined && name !== stream) return false;
  if (connectionId === undefined || connections.length === 0) return true;
  return connections.some((one) => one.connectionId === connectionId);
}

/** Returns the document with the rows in scope alone, each as `shown` makes it. */
export function withRows(document: Json, scope: SchemaScope, shown: (row: StreamRow) => Json): Record<string, unknown> {
  const rows = streamRows(document).filter((row) => isInScope(row, scope));
  const scoped = scope.stream !== undefined || scope.connectionId !== undefined;
  const streamsOf = (connector: Json): Json[] => rows.filter((row) => row.connector === connector).map(shown);
  if (recordsIn(document.connectors).length === 0) {
    const [connector] = connectorsOf(document);
    const streams = rows.map(shown);
    return connector === undefined ? { ...document } : { ...document, streams };
  }
  const connectors = recordsIn(document.connectors).flatMap((connector) => {
    const streams = streamsOf(connector);
    if (scoped && streams.length === 0) return [];
    const connections = scopedConnections(recordsIn(connector.granted_connections), scope);
    return {
      ...connector,
      ...(Array.isArray(connector.granted_connections) && { granted_connections: connections }),
      stream_count: streams.length,
      streams,
    };
  });
  return { ...document, connectors, connector_count: connectors.length, stream_count: rows.length };
}

/** Returns the connections in scope. */
export function scopedConnections(connections: readonly Json[], { connectionId }: SchemaScope): readonly Json[] {
  return connectionId === undefined ? connections : connections.filter((one) => one.connection_id === connectionId);
}
