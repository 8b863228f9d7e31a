import type { RecordStore } from '../store/recordStore.ts';
import { expanded, expansions, joinColumns } from './expand.ts';
import type { Params } from './params.ts';
import { recordBody, selectedFields } from './recordBody.ts';
import { RequestError } from './requestError.ts';
import { connectionRow, type VisibleStream } from './visible.ts';

export const RECORD_PARAMS = ['fields', 'expand', 'expand_limit', 'connection_id', 'connector_instance_id'];

/** Answers one record. An id that several connections have needs a connection. */
export function getRecord(
  { reader }: RecordStore,
  params: Params,
  { key, streams, all }: { key: string; streams: readonly VisibleStream[]; all: readonly VisibleStream[] },
): object {
  const asked = streams.map((stream) => ({
    stream,
    fields: selectedFields(stream, params),
    wanted: expansions(stream, params, all),
  }));
  const found = asked.flatMap(({ stream, fields, wanted }) => {
    const { sql, values } = stream.scope;
    const select = `SELECT ${stream.selected(fields)}${joinColumns(stream, wanted)} FROM ${stream.table} r`;
    const row = reader.get(`${select} WHERE ${sql} AND r.key = ?`, ...values, key);
    return row ? [{ stream, fields, wanted, row }] : [];
  });
  const [only] = found;
  if (!only) throw new RequestError(404, 'not_found', 'Record not found');
  if (found.length > 1) {
    throw new RequestError(
      409,
      'ambiguous_connection',
      `Record '${key}' is in more than one connection. Retry with \`connection_id\`.`,
      {
        available_connections: found.map(({ stream }) => connectionRow(stream.connection)),
        retry_with: 'connection_id',
      },
    );
  }
  const { stream, fields, wanted, row } = only;
  return {
    connector_key: stream.connection.connectorKey,
    ...recordBody(stream, row, fields),
    ...expanded(reader, row, wanted),
    links: { self: params.self },
    meta: { count: { kind: 'none' }, warnings: params.warnings },
  };
}
