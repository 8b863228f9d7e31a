import { isRecord } from '../../lib/isRecord.ts';
import { shortened } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import type { JsonObject } from '../json.ts';
import { FORMAT_EXAMPLES } from './formats.ts';
import { resolvePointer } from './schemaProfile.ts';

/** Describes schemas in plain words, for a model that has to write a valid value. */

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};
const MAX_OPTIONS = 8;
const MAX_TEXT = 60;

export function describeSchema(schema: unknown, root: unknown): string {
  if (!isRecord(schema)) return 'any value';
  const target = followed(schema, root);
  if (Array.isArray(target.enum)) return alternatives(target.enum);
  if ('const' in target) return alternatives([target.const]);
  const { type } = target;
  const types = Array.isArray(type) ? type : [type];
  const words = types.map((one) => kindWithDetail(String(one), target));
  if (type !== undefined) return words.join(' or ');
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = target[keyword];
    // Describes a single level: the schema fragment shows deeper ones.
    if (Array.isArray(branches)) {
      const options = branches.map((branch) =>
        isRecord(branch) && (branch.type || branch.enum) ? describeSchema(branch, root) : 'another form',
      );
      return [...new Set(options)].slice(0, 4).join(' or ');
    }
  }
  return isRecord(target.properties) ? 'an object' : 'any value';
}

function kindWithDetail(type: string, schema: JsonObject): string {
  const kind = KINDS[type] ?? 'any value';
  if (type === 'string' && typeof schema.format === 'string') {
    const example = FORMAT_EXAMPLES[schema.format];
    return `${kind} of format ${shortened(schema.format, MAX_TEXT)}${example ? `, like ${example}` : ''}`;
  }
  if (type === 'string' && typeof schema.pattern === 'string')
    return `${kind} that matches ${shortened(schema.pattern, MAX_TEXT)}`;
  if (type === 'array' && isRecord(schema.items) && typeof schema.items.type === 'string') {
    return `${kind} of ${{ string: 'strings', object: 'objects', array: 'lists', boolean: 'booleans' }[schema.items.type] ?? 'numbers'}`;
  }
  return kind;
}

/** Returns `"open"` or `one of "open", "closed"`; cuts long lists. */
export function alternatives(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_OPTIONS).map((value) => shortened(visibleJson(value), MAX_TEXT));
  const more = values.length > shown.length ? ` (and ${values.length - shown.length} more)` : '';
  if (shown.length === 1) return `${shown[0]}${more}`;
  return `one of ${shown.join(', ')}${more}`;
}

/** Returns the kind of a value in words, never its content. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a whole number' : 'a number with a fraction';
  return KINDS[typeof value] ?? typeof value;
}

function followed(schema: JsonObject, root: unknown): JsonObject {
  const seen = new Set<unknown>();
  let target = schema;
  while (typeof target.$ref === 'string' && !seen.has(target)) {
    seen.add(target);
    const next = resolvePointer(root, target.$ref);
    if (!isRecord(next)) break;
    target = next;
  }
  return target;
}
