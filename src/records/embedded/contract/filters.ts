import {
  type FieldDeclaration,
  isNumeric,
  isScalar,
  RANGE_OPERATORS,
  type RangeOperator,
} from '../store/declaration.ts';
import type { SQLInputValue } from '../store/sqlite.ts';
import { isoTime } from '../store/values.ts';
import type { FilterParam } from './params.ts';
import { invalid } from './requestError.ts';
import type { Condition, VisibleStream } from './visible.ts';

const SIGNS: Readonly<Record<RangeOperator, string>> = { gte: '>=', gt: '>', lte: '<=', lt: '<' };

/** Returns the scope of a stream together with the filters of a request, all of which must hold. */
export function conditionOf(stream: VisibleStream, filters: readonly FilterParam[]): Condition {
  const parts = [stream.scope, ...filters.map((filter) => one(stream, filter))];
  return { sql: parts.map(({ sql }) => sql).join(' AND '), values: parts.flatMap(({ values }) => values) };
}

function one(stream: VisibleStream, { field: name, operator, value }: FilterParam): Condition {
  const column = stream.column(name);
  const field = stream.field(name);
  if (operator === undefined) {
    if (!isScalar(field)) throw invalid(`Filters are not supported on '${name}'`, 'filter');
    return { sql: `r.${column} = ?`, values: [comparable(name, field, value)] };
  }
  if (!isRange(operator)) throw invalid(`Unsupported filter operator '${operator}' on '${name}'`, 'filter');
  if (!stream.canRange(name)) throw invalid(`Range filters are not supported on '${name}'`, 'filter');
  const limit = [comparable(name, field, value)];
  // Every index ends with the time of the order, so a range of it is found without reading rows.
  if (name === stream.timeField) return { sql: `r.at > '' AND r.at ${SIGNS[operator]} ?`, values: limit };
  return { sql: `r.${column} ${SIGNS[operator]} ?`, values: limit };
}

function isRange(operator: string): operator is RangeOperator {
  return (RANGE_OPERATORS as readonly string[]).includes(operator);
}

/** Returns a value of a request in the form of the column. */
function comparable(name: string, field: FieldDeclaration, value: string): SQLInputValue {
  if (isNumeric(field)) {
    const number = Number(value);
    if (value.trim() === '' || !Number.isFinite(number)) throw invalid(`'${name}' takes a number`, 'filter');
    return number;
  }
  if (field.type === 'boolean') {
    if (value !== 'true' && value !== 'false') throw invalid(`'${name}' takes true or false`, 'filter');
    return Number(value === 'true');
  }
  if (field.type !== 'date-time') return value;
  const time = isoTime(value);
  if (time === undefined) throw invalid(`'${name}' takes a time such as 2026-04-10T00:00:00Z`, 'filter');
  return time;
}
