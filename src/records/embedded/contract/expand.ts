import type { RelationDeclaration } from '../store/declaration.ts';
import type { Database, Row } from '../store/sqlite.ts';
import type { Params } from './params.ts';
import { recordBody } from './recordBody.ts';
import { RequestError } from './requestError.ts';
import type { VisibleStream } from './visible.ts';

interface Expansion {
  readonly relation: RelationDeclaration;
  readonly target: VisibleStream;
  readonly limit: number;
}

/** Returns whether the grant shows both ends of a relation, and the field that joins them. */
export function relationTarget(
  stream: VisibleStream,
  { stream: name, cardinality, foreignKey }: RelationDeclaration,
  all: readonly VisibleStream[],
): VisibleStream | undefined {
  const target = all.find((one) => one.name === name && one.connection.id === stream.connection.id);
  const joined = cardinality === 'has_many' ? target : stream;
  return joined?.columns.has(foreignKey) ? target : undefined;
}

/** Returns what a request wants expanded. Throws `invalid_expand` for an undeclared relation or a bad limit. */
export function expansions(stream: VisibleStream, params: Params, all: readonly VisibleStream[]): Expansion[] {
  const names = params.list('expand');
  for (const name of params.expandLimits.keys()) {
    if (!names.includes(name)) throw invalidExpand(`expand_limit names '${name}', which is not expanded`);
  }
  return names.map((name) => {
    const relation = stream.stream.declaration.relations?.find((one) => one.name === name);
    if (!relation) throw invalidExpand(`Unsupported expand relation '${name}' on '${stream.name}'`);
    const target = relationTarget(stream, relation, all);
    if (!target) {
      throw new RequestError(403, 'insufficient_scope', `The grant does not cover '${relation.stream}' for expand`);
    }
    const given = params.expandLimits.get(name);
    if (given !== undefined && !/^[1-9]\d{0,5}$/.test(given))
      throw invalidExpand(`expand_limit[${name}] takes a count`);
    const limit = Math.min(given === undefined ? relation.defaultLimit : Number(given), relation.maxLimit);
    return { relation, target, limit };
  });
}

/** Columns that `expanded` reads from a record beside its fields. */
export function joinColumns(stream: VisibleStream, wanted: readonly Expansion[]): string {
  const own = wanted.filter(({ relation }) => relation.cardinality === 'has_one');
  return own.map(({ relation }) => `, r.${stream.column(relation.foreignKey)} AS join_${relation.name}`).join('');
}

/** Reads the related records of one record. */
export function expanded(db: Database, row: Row, wanted: readonly Expansion[]): { expanded?: object } {
  if (wanted.length === 0) return {};
  const members = wanted.map(({ relation, target, limit }) => {
    const fields = [...target.columns.keys()];
    const select = `SELECT ${target.selected(fields)} FROM ${target.table} r WHERE ${target.scope.sql}`;
    const { values } = target.scope;
    if (relation.cardinality === 'has_one') {
      const key = row[`join_${relation.name}`];
      const other = typeof key === 'string' ? db.get(`${select} AND r.key = ?`, ...values, key) : undefined;
      return [relation.name, other ? recordBody(target, other, fields) : null];
    }
    const rows = db.all(
      `${select} AND r.${target.column(relation.foreignKey)} = ? ORDER BY r.at, r.key LIMIT ?`,
      ...values,
      String(row.key),
      limit + 1,
    );
    const data = rows.slice(0, limit).map((other) => recordBody(target, other, fields));
    return [relation.name, { object: 'list', has_more: rows.length > limit, data }];
  });
  return { expanded: Object.fromEntries(members) };
}

const invalidExpand = (message: string): RequestError =>
  new RequestError(400, 'invalid_expand', message, { param: 'expand' });
