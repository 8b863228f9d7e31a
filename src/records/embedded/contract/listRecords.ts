import type { RecordStore } from '../store/recordStore.ts';
import type { Row } from '../store/sqlite.ts';
import { listChanges } from './changes.ts';
import { type Order, pageCursor, readPageCursor } from './cursors.ts';
import { expanded, expansions, joinColumns } from './expand.ts';
import { conditionOf } from './filters.ts';
import type { Params } from './params.ts';
import { recordBody, selectedFields } from './recordBody.ts';
import { invalid, RequestError } from './requestError.ts';
import { connectionRow, type VisibleStream } from './visible.ts';

export const LIST_PARAMS = [
  'limit',
  'cursor',
  'order',
  'sort',
  'count',
  'window',
  'fields',
  'view',
  'filter',
  'expand',
  'expand_limit',
  'changes_since',
  'connection_id',
  'connector_instance_id',
];

interface Page {
  readonly data: object[];
  readonly nextCursor?: string | undefined;
  readonly hasMore: boolean;
}

/** Answers a list of records: of one connection in pages, of several one after the other and without a cursor. */
export function listRecords(
  store: RecordStore,
  params: Params,
  streams: readonly VisibleStream[],
  all: readonly VisibleStream[],
): object {
  const order = orderOf(params, streams[0] as VisibleStream);
  const limit = params.pageLimit;
  const countKind = params.one('count') ?? 'none';
  if (!['none', 'estimated', 'exact'].includes(countKind)) {
    throw invalid('count must be one of none, estimated, exact', 'count');
  }
  const window = params.one('window');
  if (window !== undefined && window !== 'exact') throw invalid('window must be exact', 'window');
  const since = params.one('changes_since');
  const isFanIn = streams.length > 1;
  if (isFanIn && since !== undefined) throw severalConnections('changes_since', streams);
  const cursor = params.one('cursor');
  if (since === undefined && cursor !== undefined) {
    readPageCursor(cursor, order);
    if (isFanIn) throw severalConnections('cursor', streams);
  }
  const changes = since === undefined ? undefined : listChanges(store, params, streams[0] as VisibleStream, since);
  const pages: readonly Page[] = changes
    ? [changes]
    : streams.map((stream) => page(store, params, stream, { all, order, limit, cursor }));
  const hasMore = pages.some((one) => one.hasMore);
  if (isFanIn && hasMore) {
    params.warnings.push({
      code: 'partial_results',
      param: 'connection_id',
      message: 'There are more records, and several connections have no common cursor. Name a connection_id to page.',
    });
  }
  const nextCursor = isFanIn ? undefined : pages[0]?.nextCursor;
  const totals = countKind === 'none' && window === undefined ? undefined : totalsOf(store, params, streams);
  return {
    object: 'list',
    has_more: hasMore,
    data: pages.flatMap(({ data }) => data),
    ...(nextCursor !== undefined && { next_cursor: nextCursor }),
    ...(changes && { next_changes_since: changes.nextChangesSince }),
    url: params.path,
    links: { self: params.self, next: params.next(nextCursor) },
    meta: {
      count: totals && countKind !== 'none' ? { kind: 'exact', value: totals.total } : { kind: 'none' },
      ...(totals && window !== undefined && { window: totals }),
      warnings: params.warnings,
    },
  };
}

function page(
  { reader }: RecordStore,
  params: Params,
  stream: VisibleStream,
  given: { all: readonly VisibleStream[]; order: Order; limit: number; cursor: string | undefined },
): Page {
  const { all, order, limit, cursor } = given;
  const fields = selectedFields(stream, params);
  const wanted = expansions(stream, params, all);
  const { sql, values } = conditionOf(stream, params.filters);
  const place = cursor === undefined ? undefined : readPageCursor(cursor, order);
  const sign = order === 'asc' ? '>' : '<';
  const rows = reader.all(
    `SELECT ${stream.selected(fields)}${joinColumns(stream, wanted)} FROM ${stream.table} r
     WHERE ${sql}${place ? ` AND (r.at, r.key) ${sign} (?, ?)` : ''} ORDER BY r.at ${order}, r.key ${order} LIMIT ?`,
    ...values,
    ...(place ? [place.at, place.key] : []),
    limit + 1,
  );
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  const last = shown.at(-1) as Row;
  return {
    data: shown.map((row) => ({ ...recordBody(stream, row, fields), ...expanded(reader, row, wanted) })),
    hasMore,
    nextCursor: hasMore ? pageCursor(order, { at: String(last.at), key: String(last.key) }) : undefined,
  };
}

/** Order of a page: by `order`, or by `sort` with the time field. Both must agree. */
function orderOf(params: Params, { timeField, name }: VisibleStream): Order {
  const given = params.one('order')?.toLowerCase();
  if (given !== undefined && given !== 'asc' && given !== 'desc') throw invalid('order must be asc or desc', 'order');
  const sort = params.one('sort');
  if (sort === undefined) return given ?? 'desc';
  const sorted = sort.startsWith('-') ? 'desc' : 'asc';
  const field = sort.replace(/^[-+]/, '');
  if (field !== timeField) throw invalidSort(`'${name}' cannot be sorted by '${field}'; see /v1/schema.`);
  if (given !== undefined && given !== sorted) throw invalidSort('sort and order disagree.');
  return sorted;
}

const invalidSort = (message: string): RequestError =>
  new RequestError(400, 'invalid_sort', message, { param: 'sort' });

function totalsOf(
  { reader }: RecordStore,
  params: Params,
  streams: readonly VisibleStream[],
): { total: number; earliest_at: string | null; latest_at: string | null } {
  const rows = streams.map((stream) => {
    const { sql, values } = conditionOf(stream, params.filters);
    const select = "count(*) AS total, min(nullif(r.at, '')) AS earliest, max(nullif(r.at, '')) AS latest";
    return reader.get(`SELECT ${select} FROM ${stream.table} r WHERE ${sql}`, ...values) as Row;
  });
  const times = rows.flatMap(({ earliest, latest }) => [earliest, latest]).filter((at) => typeof at === 'string');
  return {
    total: rows.reduce((sum, { total }) => sum + Number(total), 0),
    earliest_at: times.length > 0 ? times.reduce((a, b) => (a < b ? a : b)) : null,
    latest_at: times.length > 0 ? times.reduce((a, b) => (a > b ? a : b)) : null,
  };
}

function severalConnections(param: string, streams: readonly VisibleStream[]): RequestError {
  const message = `\`${param}\` is not supported across several connections. Retry with \`connection_id\`.`;
  return new RequestError(400, 'invalid_argument', message, {
    param,
    available_connections: streams.map(({ connection }) => connectionRow(connection)),
    retry_with: 'connection_id',
  });
}
