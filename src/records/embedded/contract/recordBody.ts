import type { Row } from '../store/sqlite.ts';
import type { Params } from './params.ts';
import { invalid } from './requestError.ts';
import { connectionRow, type VisibleStream } from './visible.ts';

/** Returns the fields that a request selects: those it names, those of its view, or all that are granted. */
export function selectedFields(stream: VisibleStream, params: Params): string[] {
  const fields = params.list('fields');
  const view = params.one('view');
  if (view !== undefined) {
    if (fields.length > 0) throw invalid('view and fields cannot be combined', 'view');
    const declared = stream.stream.declaration.views?.find(({ id }) => id === view);
    if (!declared) throw invalid(`Unknown view '${view}' on '${stream.name}'`, 'view');
    return declared.fields.filter((name) => stream.columns.has(name));
  }
  if (fields.length === 0) return [...stream.columns.keys()];
  for (const name of fields) stream.column(name);
  return [...stream.columns.keys()].filter((name) => fields.includes(name));
}

export function recordBody(stream: VisibleStream, row: Row, fields: Iterable<string>): Record<string, unknown> {
  return {
    object: 'record',
    id: row.key,
    stream: stream.name,
    data: stream.data(row, fields),
    emitted_at: row.emitted,
    ...origin(stream),
  };
}

/** Members that say which connection a record is from, with the former name of its id. */
export function origin({ connection }: VisibleStream): object {
  return { ...connectionRow(connection), connector_instance_id: connection.id };
}
