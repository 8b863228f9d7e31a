import { isRecord } from '../../src/lib/isRecord.ts';
import { type Draft, draftOf } from '../../webview/try/drafts.ts';
import { childField, type Field, fieldNames, itemField } from '../../webview/try/fields.ts';

/** Fills a form as a user would who reads what stands beside the fields. */

const TEXTS: Readonly<Record<string, string>> = {
  date: '2026-11-19',
  time: '12:00:00Z',
  'date-time': '2026-11-19T12:00:00Z',
  email: 'ada@example.org',
  uri: 'https://example.org/a',
  url: 'https://example.org/a',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
};

export function filledForm(field: Field): Draft {
  switch (field.kind) {
    case 'choice':
      return field.options.length > 0 ? { kind: 'picked', value: field.options[0] } : { kind: 'null' };
    case 'list': {
      const { minItems } = field.schema;
      const length = typeof minItems === 'number' ? Math.max(1, minItems) : 1;
      return { kind: 'list', items: Array.from({ length }, () => filledForm(itemField(field))) };
    }
    case 'object': {
      const { required, optional } = fieldNames(field);
      const names = field.depth < 3 ? [...required, ...optional] : required;
      return { kind: 'object', entries: names.map((name) => [name, filledForm(childField(field, name))]), others: '' };
    }
    case 'typed':
      return typed(field);
  }
}

function typed(field: Field): Draft {
  const { schema, entries, options } = field;
  if (schema.default !== undefined && schema.default !== null) return draftOf(field, schema.default);
  const value = entries.includes('text')
    ? (options.find((option) => typeof option === 'string') ?? textFor(schema))
    : entries.includes('number')
      ? numberFor(schema)
      : jsonFor(schema);
  return draftOf(field, value);
}

function textFor({ format, minLength, maxLength }: Field['schema']): string {
  const text = (typeof format === 'string' && Object.hasOwn(TEXTS, format) && TEXTS[format]) || 'a text';
  const least = typeof minLength === 'number' ? minLength : 0;
  return text.padEnd(least, 'x').slice(0, typeof maxLength === 'number' ? maxLength : undefined);
}

function numberFor({ minimum, exclusiveMinimum }: Field['schema']): number {
  if (typeof minimum === 'number') return Math.max(minimum, 1);
  return typeof exclusiveMinimum === 'number' ? Math.max(exclusiveMinimum + 1, 1) : 1;
}

function jsonFor(schema: Field['schema']): unknown {
  if (schema.type === 'array') return [];
  const branches = [schema.anyOf, schema.oneOf].find((all) => Array.isArray(all)) as unknown[] | undefined;
  const first = branches?.find((branch) => isRecord(branch));
  if (isRecord(first)) return jsonFor(first);
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const names = Array.isArray(schema.required) ? schema.required.map(String) : [];
  const members = names.map((name): [string, unknown] => {
    const property = isRecord(properties[name]) ? (properties[name] as Field['schema']) : {};
    if ('const' in property) return [name, property.const];
    if (Array.isArray(property.enum)) return [name, property.enum[0]];
    if (property.type === 'string') return [name, textFor(property)];
    if (property.type === 'number' || property.type === 'integer') return [name, numberFor(property)];
    return [name, property.type === 'boolean' ? true : jsonFor(property)];
  });
  return Object.fromEntries(members);
}
