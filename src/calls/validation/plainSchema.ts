import { isRecord } from '../../lib/isRecord.ts';

const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isNumber: Check = (value) => typeof value === 'number';
const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isAny: Check = () => true;
const isList = (value: unknown, check: Check): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(check);

/** Values of the keywords that both dialects define alike. */
const PLAIN: ReadonlyMap<string, Check> = new Map([
  ['type', (value: unknown) => TYPES.has(value)],
  ['title', isText],
  ['description', isText],
  ['default', isAny],
  ['const', isAny],
  ['examples', (value: unknown) => Array.isArray(value)],
  ['enum', (value: unknown) => isList(value, isText) && new Set(value as string[]).size === (value as string[]).length],
  ['required', (value: unknown) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['readOnly', isFlag],
]);
const MAX_LEVELS = 32;

/**
 * Returns whether a schema uses only keywords with the same rules in both dialects, all with valid values. Most schemas
 * do, and need no meta-schema, whose validator takes some 30 ms to build.
 */
export function isPlainSchema(schema: unknown, levels = MAX_LEVELS): boolean {
  if (typeof schema === 'boolean') return levels < MAX_LEVELS;
  if (!isRecord(schema) || levels === 0) return false;
  const isInner: Check = (inner) => isPlainSchema(inner, levels - 1);
  return Object.entries(schema).every(([key, value]) => {
    switch (key) {
      case 'properties':
        return isRecord(value) && Object.values(value).every(isInner);
      case 'items':
      case 'additionalProperties':
        return isInner(value);
      case 'anyOf':
      case 'oneOf':
      case 'allOf':
        return isList(value, isInner);
      default:
        return PLAIN.get(key)?.(value) === true;
    }
  });
}
