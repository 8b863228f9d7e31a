import { visibleText } from '../../src/text/visibleText.ts';
import { t } from '../l10n.ts';
import { type Field, jsonText, type Schema } from './fields.ts';

/** Words about a field. All text of a schema is foreign and shown as text. */

const MAX_PATTERN_CHARS = 80;
const MAX_DEFAULT_CHARS = 60;
const MAX_DESCRIPTION_CHARS = 2_000;

/** Returns foreign text with hidden characters as escapes, and no longer than a limit. */
export function shown(text: unknown, limit = MAX_DESCRIPTION_CHARS): string {
  const whole = visibleText(typeof text === 'string' ? text.slice(0, 2 * limit) : jsonText(text).slice(0, 2 * limit));
  return whole.length <= limit ? whole : `${whole.slice(0, limit)}…`;
}

/** Returns the type and limits, which stand beside the label: `whole number, 1 to 100`. */
export function typeWords(field: Field): string {
  return [
    ...(field.kind === 'choice' ? [] : [kindWords(field)]),
    ...limitWords(field.schema),
    formatWords(field.schema),
  ]
    .filter((words) => words !== '')
    .join(', ');
}

function kindWords({ kind, entries, schema, nullable }: Field): string {
  if (kind === 'object') return nullable ? t`object or null` : '';
  if (kind === 'list') return nullable ? t`list or null` : t`list`;
  const words = entries.map((entry) => (entry === 'number' ? numberWord(schema) : entry === 'text' ? t`text` : 'JSON'));
  return [...words, ...(nullable ? ['null'] : [])].join(t` or `);
}

function numberWord({ type }: Schema): string {
  const isWhole = type === 'integer' || (Array.isArray(type) && type.includes('integer') && !type.includes('number'));
  return isWhole ? t`whole number` : t`number`;
}

function limitWords(schema: Schema): string[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  return [
    range(minimum, maximum),
    ...(typeof exclusiveMinimum === 'number' ? [t`more than ${exclusiveMinimum}`] : []),
    ...(typeof exclusiveMaximum === 'number' ? [t`less than ${exclusiveMaximum}`] : []),
    ...(typeof multipleOf === 'number' ? [t`multiple of ${multipleOf}`] : []),
    range(schema.minLength, schema.maxLength, 'characters'),
    range(schema.minItems, schema.maxItems, 'items'),
  ];
}

/** Bounds that say nothing about a number, such as those of a 64-bit integer. */
const isBound = (bound: unknown): bound is number => typeof bound === 'number' && Math.abs(bound) < 2 ** 53 - 1;

function range(from: unknown, to: unknown, unit: keyof typeof UNITS | '' = ''): string {
  const least = isBound(from) && !(unit !== '' && from <= 0) ? from : undefined;
  const of = (amount: string): string => (unit === '' ? amount : UNITS[unit](amount));
  if (least !== undefined && isBound(to)) return of(least === to ? String(to) : t`${least} to ${to}`);
  if (least !== undefined) return of(t`at least ${least}`);
  return isBound(to) ? of(t`at most ${to}`) : '';
}

/** Names what an amount counts: `1 to 9 characters`. */
const UNITS = {
  characters: (amount: string): string => (isOne(amount) ? t`${amount} character` : t`${amount} characters`),
  items: (amount: string): string => (isOne(amount) ? t`${amount} item` : t`${amount} items`),
};

const isOne = (amount: string): boolean => /\b1$/.test(amount);

function formatWords({ format, pattern }: Schema): string {
  const words = typeof format === 'string' && format !== 'password' ? [shown(format, 40)] : [];
  if (typeof pattern === 'string') words.push(t`pattern ${shown(pattern, MAX_PATTERN_CHARS)}`);
  return words.join(', ');
}

/** Returns the default in words, which the server uses when the argument is left out; undefined if there is none. */
export function defaultWords({ schema }: Field): string | undefined {
  return 'default' in schema ? shown(schema.default, MAX_DEFAULT_CHARS) : undefined;
}

export function exampleWords({ schema }: Field): string | undefined {
  const example = Array.isArray(schema.examples) ? schema.examples[0] : schema.example;
  return example === undefined ? undefined : shown(example, MAX_DEFAULT_CHARS);
}

/** Returns the name of a choice. A text that looks like another value stands in quotes. */
export function optionWords(value: unknown): string {
  if (typeof value !== 'string') return shown(value, 200);
  return value.trim() === '' || isJson(value) ? jsonText(value) : shown(value, 200);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
