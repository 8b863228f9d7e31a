import { isRecord, parseRecord } from '../../lib/isRecord.ts';
import type { JsonObject } from '../json.ts';
import { resolvePointer } from './schemaProfile.ts';

/** The five repairs (G6.7). No rule renames, guesses or drops anything (G6.8). */
export const REPAIR_RULES = {
  parse_stringified_object: { reads: 'arguments sent as a string that holds a JSON object', as: 'the object' },
  str_to_integer: { reads: 'a whole number as a string, where the schema requires `integer`', as: 'the number' },
  str_to_number: { reads: 'a number as a string, where the schema requires `number`', as: 'the number' },
  str_to_boolean: { reads: '`"true"` or `"false"`, where the schema requires `boolean`', as: 'the boolean' },
  str_to_null: { reads: '`"null"`, where the schema requires `null` and allows no string', as: '`null`' },
} as const;

export type RepairRule = keyof typeof REPAIR_RULES;

export interface ArgRepair {
  /** `$.count`; `$` for the arguments as a whole. */
  path: string;
  rule: RepairRule;
}

export interface RepairedArgs {
  args: unknown;
  repairs: readonly ArgRepair[];
}

/** Fields to visit at most. No model writes more. */
const MAX_FIELDS = 10_000;

/** Repairs fields at every depth, by the type that the schema asks for there. Copies only changed parts. */
export function repairArgs(args: unknown, schema: unknown): RepairedArgs {
  const repairs: ArgRepair[] = [];
  let root = args;
  if (typeof args === 'string') {
    const parsed = parseRecord(args.replace(/^\ufeff/, '').trim());
    if (parsed === undefined) return { args, repairs };
    root = parsed;
    repairs.push({ path: '$', rule: 'parse_stringified_object' });
  }
  if (!isRecord(root) || !isRecord(schema)) return { args: root, repairs };
  return { args: repairFields(root, schema, repairs), repairs };
}

interface Place {
  value: unknown;
  schema: unknown;
  path: string;
  put(repaired: unknown): void;
}

/** Works without recursion and copies a container only if something in it is repaired. */
function repairFields(root: JsonObject, rootSchema: JsonObject, repairs: ArgRepair[]): unknown {
  let result: unknown = root;
  const copies = new Map<object, JsonObject | unknown[]>();
  const work: Place[] = [{ value: root, schema: rootSchema, path: '$', put: (value) => (result = value) }];
  for (let seen = 0; seen < work.length && seen < MAX_FIELDS; seen++) {
    const { value, schema, path, put } = work[seen] as Place;
    const target = followed(schema, rootSchema);
    if (target === undefined) continue;
    if (typeof value === 'string') {
      const repair = repairText(value, target);
      if (repair === undefined) continue;
      put(repair.value);
      repairs.push({ path, rule: repair.rule });
    } else if (typeof value === 'object' && value !== null) {
      const change = (key: string | number, repaired: unknown): void => {
        let copy = copies.get(value);
        if (copy === undefined) {
          copy = Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
          copies.set(value, copy);
          put(copy);
        }
        Object.defineProperty(copy, key, { value: repaired, enumerable: true, writable: true, configurable: true });
      };
      for (const child of childrenOf(value, target, path)) work.push({ ...child, put: (v) => change(child.key, v) });
    }
  }
  return result;
}

function* childrenOf(
  value: object,
  schema: JsonObject,
  path: string,
): Generator<{ key: string | number; value: unknown; schema: unknown; path: string }> {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!isRecord(items)) return;
    for (let i = 0; i < value.length; i++) yield { key: i, value: value[i], schema: items, path: `${path}[${i}]` };
    return;
  }
  const { properties } = schema;
  if (!isRecord(properties)) return;
  for (const [key, field] of Object.entries(value)) {
    if (Object.hasOwn(properties, key)) yield { key, value: field, schema: properties[key], path: `${path}.${key}` };
  }
}

function repairText(text: string, schema: JsonObject): { value: unknown; rule: RepairRule } | undefined {
  const { type } = schema;
  const types = Array.isArray(type) ? type : [type];
  // A field that allows strings keeps its string.
  if (types.includes('string')) return undefined;
  const trimmed = text.trim();
  if (types.includes('integer') && /^-?(?:0|[1-9]\d*)$/.test(trimmed)) {
    const value = Number(trimmed);
    // A larger number would lose digits.
    if (Number.isSafeInteger(value)) return { value: value === 0 ? 0 : value, rule: 'str_to_integer' };
  }
  if (types.includes('number') && /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed)) {
    const value = Number(trimmed);
    if (Number.isFinite(value)) return { value, rule: 'str_to_number' };
  }
  if (types.includes('boolean') && (text === 'true' || text === 'false')) {
    return { value: text === 'true', rule: 'str_to_boolean' };
  }
  if (types.includes('null') && text === 'null') return { value: null, rule: 'str_to_null' };
  return undefined;
}

function followed(schema: unknown, root: JsonObject): JsonObject | undefined {
  const seen = new Set<unknown>();
  let target = schema;
  while (isRecord(target) && typeof target.$ref === 'string' && !seen.has(target)) {
    seen.add(target);
    target = resolvePointer(root, target.$ref);
  }
  return isRecord(target) ? target : undefined;
}
