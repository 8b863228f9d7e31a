import type { RecordStore } from '../store/recordStore.ts';
import { bookmark, changesCursor, expired, readBookmark, readChangesCursor } from './cursors.ts';
import { conditionOf } from './filters.ts';
import type { Params } from './params.ts';
import { origin, recordBody, selectedFields } from './recordBody.ts';
import { invalid } from './requestError.ts';
import type { VisibleStream } from './visible.ts';

interface Changes {
  readonly data: object[];
  readonly hasMore: boolean;
  readonly nextCursor?: string;
  readonly nextChangesSince: string;
}

/** Answers what was written or removed since a bookmark, oldest change first. */
export function listChanges(store: RecordStore, params: Params, stream: VisibleStream, since: string): Changes {
  if (params.all('expand').length > 0) throw invalid('expand and changes_since cannot be combined', 'expand');
  const from = since === 'beginning' ? 0 : readBookmark(since, store.id);
  const cursor = params.one('cursor');
  const { after, head } =
    cursor === undefined ? { after: from, head: store.head } : readChangesCursor(cursor, store.id);
  const floor = Number(store.reader.get('SELECT value FROM meta WHERE name = ?', `floor${stream.id}`)?.value ?? 0);
  if (since !== 'beginning' && from < floor) throw expired();
  const limit = params.pageLimit;
  const fields = selectedFields(stream, params);
  const { sql, values } = conditionOf(stream, params.filters);
  const rows = store.reader.all(
    `SELECT ${stream.selected(fields)} FROM ${stream.table} r WHERE r.seq > ? AND r.seq <= ? AND ${sql} ORDER BY r.seq LIMIT ?`,
    after,
    head,
    ...values,
    limit + 1,
  );
  // A reader from the beginning has nothing that could be removed.
  const graves = since === 'beginning' ? [] : gravesOf(store, stream, { after, head, limit });
  const found = [
    ...rows.map((row) => ({ seq: Number(row.seq), body: recordBody(stream, row, fields) })),
    ...graves,
  ].sort((a, b) => a.seq - b.seq);
  const shown = found.slice(0, limit);
  const hasMore = found.length > limit;
  const last = shown.at(-1);
  return {
    data: shown.map(({ body }) => body),
    hasMore,
    ...(hasMore && last && { nextCursor: changesCursor(store.id, { after: last.seq, head }) }),
    nextChangesSince: bookmark(store.id, head),
  };
}

function gravesOf(
  { reader }: RecordStore,
  stream: VisibleStream,
  { after, head, limit }: { after: number; head: number; limit: number },
): { seq: number; body: Record<string, unknown> }[] {
  const rows = reader.all(
    `SELECT seq, key, deleted FROM tombstones r WHERE r.stream = ? AND r.seq > ? AND r.seq <= ? AND ${stream.scope.sql} ORDER BY r.seq LIMIT ?`,
    stream.id,
    after,
    head,
    ...stream.scope.values,
    limit + 1,
  );
  return rows.map(({ seq, key, deleted }) => ({
    seq: Number(seq),
    body: {
      object: 'record',
      id: key,
      stream: stream.name,
      deleted: true,
      deleted_at: deleted,
      emitted_at: deleted,
      ...origin(stream),
    },
  }));
}
