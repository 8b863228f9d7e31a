import type { RecordStore } from '../store/recordStore.ts';
import type { Row } from '../store/sqlite.ts';
import type { Params } from './params.ts';
import { origin } from './recordBody.ts';
import { RequestError } from './requestError.ts';
import { byConnector, connectorHead } from './schema.ts';
import { fullStream } from './streamForms.ts';
import type { VisibleStream } from './visible.ts';

/** Answers one row per stream and connection, with the number of granted records. */
export function streamList({ reader }: RecordStore, params: Params, visible: readonly VisibleStream[]): object {
  const data = visible.map((stream) => {
    const { sql, values } = stream.scope;
    const select = 'count(*) AS total, max(r.emitted) AS latest';
    const { total, latest } = reader.get(`SELECT ${select} FROM ${stream.table} r WHERE ${sql}`, ...values) as Row;
    return {
      object: 'stream',
      name: stream.name,
      record_count: total,
      last_updated: latest,
      ...origin(stream),
      freshness: { status: 'unknown', ...(latest !== null && { captured_at: latest }) },
    };
  });
  return {
    object: 'list',
    has_more: false,
    data,
    links: { self: params.self, next: null },
    meta: { count: { kind: 'none' }, warnings: params.warnings },
  };
}

export function streamDetail(params: Params, name: string, visible: readonly VisibleStream[]): object {
  const stream = visible.find((one) => one.name === name);
  if (!stream) throw new RequestError(404, 'not_found', `Stream '${name}' not found`);
  return {
    ...fullStream(stream, visible),
    links: { self: params.self },
    meta: { count: { kind: 'none' }, warnings: params.warnings },
  };
}

export function connectorList(visible: readonly VisibleStream[]): object {
  const data = byConnector(visible).map((entries) => ({
    ...connectorHead((entries[0] as (typeof entries)[number]).stream.connection),
    stream_count: entries.length,
    streams: entries.map(({ stream }) => ({ object: 'stream', name: stream.name })),
  }));
  return { object: 'list', data };
}
