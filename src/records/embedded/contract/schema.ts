import type { ConnectionDeclaration } from '../store/declaration.ts';
import type { Params } from './params.ts';
import { invalid, RequestError } from './requestError.ts';
import { compactStream, fullStream } from './streamForms.ts';
import { connectionRow, type VisibleStream, withinConnection } from './visible.ts';

export const SCHEMA_PARAMS = ['view', 'detail', 'stream', 'connection_id', 'connector_instance_id', 'connector_id'];

/** Row of the schema: a stream with every connection of its connector that shows it with the same fields. */
interface Entry {
  readonly stream: VisibleStream;
  readonly connections: ConnectionDeclaration[];
}

/** Answers the granted streams: compact as an index with flags, or in full for one stream of one connection. */
export function schema(params: Params, visible: readonly VisibleStream[], grantId: string): object {
  const isFull = params.one('detail') === 'full';
  const isCompact = !isFull && params.one('view') === 'compact';
  const name = params.one('stream');
  if (isFull && name === undefined) {
    throw invalid('detail=full needs a stream: schema of one stream, after the compact index', 'detail');
  }
  const within = withinConnection(visible, params.connectionId);
  const streams = name === undefined ? within : within.filter((one) => one.name === name);
  if (isFull && streams.length > 1) throw ambiguous(name as string, streams);
  const connectors = byConnector(streams).map((entries) => connectorRow(entries, { isCompact, all: visible }));
  const isScoped = isCompact || isFull;
  return {
    object: 'schema',
    bearer: { token_kind: 'client', scope: 'grant', grant_id: grantId, client_id: 'waygate' },
    connectors,
    ...(isCompact && { detail: 'compact' }),
    ...(isScoped && {
      connector_count: connectors.length,
      stream_count: connectors.reduce((sum, { stream_count }) => sum + stream_count, 0),
    }),
    links: { self: params.self },
    meta: { count: { kind: 'none' }, warnings: params.warnings },
  };
}

export function byConnector(streams: readonly VisibleStream[]): Entry[][] {
  const connectors = new Map<string, Map<string, Entry>>();
  for (const stream of streams) {
    const { connectorKey } = stream.connection;
    const entries = connectors.get(connectorKey) ?? new Map<string, Entry>();
    connectors.set(connectorKey, entries);
    const key = JSON.stringify([stream.stream.declaration, [...stream.columns.keys()]]);
    const entry = entries.get(key);
    if (entry) entry.connections.push(stream.connection);
    else entries.set(key, { stream, connections: [stream.connection] });
  }
  return [...connectors.values()].map((entries) => [...entries.values()]);
}

export function connectorHead({ connectorKey }: ConnectionDeclaration): object {
  return {
    object: 'connector',
    source: { kind: 'connector', id: connectorKey },
    connector_key: connectorKey,
    connector_id: connectorKey,
  };
}

function connectorRow(
  entries: readonly Entry[],
  { isCompact, all }: { isCompact: boolean; all: readonly VisibleStream[] },
): { stream_count: number; streams: object[] } {
  const [first] = entries as [Entry, ...Entry[]];
  const common = rows(first);
  const streams = entries.map((entry) => {
    const { stream } = entry;
    if (!isCompact) return { ...fullStream(stream, all), granted_connections: rows(entry) };
    const own = JSON.stringify(rows(entry)) === JSON.stringify(common) ? {} : { granted_connections: rows(entry) };
    return { ...compactStream(stream, all), ...own };
  });
  return {
    ...connectorHead(first.stream.connection),
    stream_count: streams.length,
    streams,
    ...(isCompact && { granted_connections: common }),
  };
}

const rows = ({ connections }: Entry): object[] => connections.map(connectionRow);

function ambiguous(name: string, streams: readonly VisibleStream[]): RequestError {
  const message = `The stream "${name}" is in ${streams.length} sources; retry with connection_id for the full schema of one.`;
  return new RequestError(409, 'ambiguous_schema_detail', message, {
    param: 'connection_id',
    available_connections: streams.map(({ connection }) => ({
      connection_id: connection.id,
      connector_key: connection.connectorKey,
      stream: name,
      display_name: connection.displayName,
    })),
    retry_with: 'connection_id',
  });
}
