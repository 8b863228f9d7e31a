import { isRecord } from '../../lib/isRecord.ts';
import { quoted } from '../../text/porcelain.ts';
import type { Query } from '../provider/recordQuery.ts';
import { Refusal } from './answers.ts';

const OPERATORS: readonly string[] = ['gte', 'gt', 'lte', 'lt'];

/** Returns the parameters of a typed filter, such as `filter[sent_at][gte]`. Throws `invalid_filter`. */
export function filterParams(filter: unknown): Query {
  if (filter === undefined) return [];
  const wrong = (why: string): Refusal =>
    new Refusal('invalid_filter', `"filter" ${why}; write it as {"field": value} or {"field": {"gte": value}}.`, {
      param: 'filter',
    });
  if (!isRecord(filter)) throw wrong('must be an object');
  const fields = Object.entries(filter);
  if (fields.length === 0) throw wrong('is empty');
  return fields.flatMap(([field, condition]): [string, string][] => {
    if (field === '' || /[[\]]/.test(field)) throw wrong(`has the key ${quoted(field)}, which is no field name`);
    if (isScalar(condition)) return [[`filter[${field}]`, String(condition)]];
    const bounds = isRecord(condition) ? Object.entries(condition) : [];
    if (bounds.length === 0) throw wrong(`has no value for ${quoted(field)}`);
    return bounds.map(([operator, value]) => {
      if (!OPERATORS.includes(operator)) {
        throw wrong(`has the operator ${quoted(operator)}; there are ${OPERATORS.join(', ')}`);
      }
      if (!isScalar(value)) throw wrong(`compares ${quoted(field)} with something else than one value`);
      return [`filter[${field}][${operator}]`, String(value)];
    });
  });
}

function isScalar(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

/** Returns the parameters of `expand_limit`. Throws `invalid_expand`. */
export function expandLimitParams(limits: unknown): Query {
  if (limits === undefined) return [];
  const wrong = (why: string): Refusal =>
    new Refusal('invalid_expand', `"expand_limit" ${why}; write it as {"relation": number}.`, {
      param: 'expand_limit',
    });
  if (!isRecord(limits)) throw wrong('must be an object');
  return Object.entries(limits).map(([relation, limit]): [string, string] => {
    if (relation === '' || /[[\]]/.test(relation)) throw wrong(`has the key ${quoted(relation)}`);
    if (!Number.isInteger(limit) || (limit as number) < 1) throw wrong(`needs a positive integer for "${relation}"`);
    return [`expand_limit[${relation}]`, String(limit)];
  });
}

/** Returns a parameter if it has a value. */
export function param(key: string, value: unknown): Query {
  return value === undefined || value === '' ? [] : [[key, String(value)]];
}

/** Returns a parameter that repeats its key for each item. */
export function listParam(key: string, values: readonly string[] | undefined): Query {
  return (values ?? []).map((value) => [key, value]);
}
