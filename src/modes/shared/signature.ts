import { countTokens } from '../../catalog/tokenizer/tokens.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { leftOutNote } from '../../lib/leftOut.ts';
import { count, oneLine } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';

/** Returns the arguments of a tool for a model, one line each: `name: type, required. Description.` */

const DESCRIPTION_CHARS = 160;
/** Limit of a line, for a type with thousands of members. */
const LINE_CHARS = 2_000;
const MAX_CHOICES = 12;
/** Depth below which a type is shown as `object`. The JSON form has the whole type. */
const MAX_DEPTH = 3;

/** Limits of a short signature. */
const SIGNATURE_TOKENS = 40;
export const SIGNATURE_CHARS = 300;
const PLAIN_NAME = /^[\w.$-]{1,64}$/;

type Schema = Record<string, unknown>;

/** Returns how many arguments a schema has, in words that follow the id of the tool. */
export function argumentsInWords(schema: unknown): string {
  const note = isRecord(schema) ? leftOutNote(schema) : undefined;
  if (note !== undefined) return `takes arguments that are too many to keep (${note.replace(/\.$/, '')})`;
  const { length } = signatureOf(schema);
  return length === 0 ? 'takes no arguments' : count(length, 'argument');
}

export function signatureOf(schema: unknown): string[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(schema.properties)
    .sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)))
    .map(([name, property]) => argumentLine(name, property, required.has(name)));
}

/**
 * Returns the arguments of a tool on one line, as many as fit: `(path: string, head?: number)`; undefined where the
 * schema does not say.
 */
export function shortSignature(schema: unknown): string | undefined {
  if (!isRecord(schema) || leftOutNote(schema) !== undefined) return undefined;
  const known = signatures.get(schema) ?? madeSignature(schema);
  signatures.set(schema, known);
  return known;
}

/** Signatures of schemas in use: counting their tokens takes longer than a search. */
const signatures = new WeakMap<Schema, string>();

function madeSignature(schema: Schema): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  properties.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const shown: string[] = [];
  let [tokens, chars] = [SIGNATURE_TOKENS, SIGNATURE_CHARS - 10];
  for (const [name, property] of properties) {
    const plain = PLAIN_NAME.test(name) ? name : visibleJson(name);
    const argument = oneLine(`${plain}${required.has(name) ? '' : '?'}: ${typeOf(property, MAX_DEPTH)}`, LINE_CHARS);
    tokens -= countTokens(`${argument}, `);
    chars -= argument.length + 2;
    if (tokens < 0 || chars < 0) return `(${[...shown, '…'].join(', ')})`;
    shown.push(argument);
  }
  return `(${shown.join(', ')})`;
}

/** Returns all arguments of a tool on one line, with their defaults: `id: string, limit?: integer = 20`. */
export function wholeSignature(schema: unknown): string {
  if (!isRecord(schema) || !isRecord(schema.properties)) return '';
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const properties = Object.entries(schema.properties);
  properties.sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  const shown = properties.map(([name, property]) => {
    const plain = PLAIN_NAME.test(name) ? name : visibleJson(name);
    const usual = isRecord(property) && 'default' in property ? ` = ${visibleJson(property.default)}` : '';
    return `${plain}${required.has(name) ? '' : '?'}: ${typeOf(property, MAX_DEPTH)}${usual}`;
  });
  return oneLine(shown.join(', '), LINE_CHARS);
}

function argumentLine(name: string, schema: unknown, required: boolean): string {
  const about = isRecord(schema) ? schema : {};
  const extras = [
    required ? 'required' : 'optional',
    ...('default' in about ? [`default ${oneLine(visibleJson(about.default), 60)}`] : []),
  ];
  const description = typeof about.description === 'string' ? oneLine(about.description, DESCRIPTION_CHARS) : '';
  // Names and types are the server's as well, and none of them may begin a line of its own.
  const line = `- ${name}: ${typeOf(schema, 0)} (${extras.join(', ')})${description ? ` ${description}` : ''}`;
  return oneLine(line, LINE_CHARS);
}

function typeOf(schema: unknown, depth: number): string {
  if (!isRecord(schema)) return 'any';
  if (Array.isArray(schema.enum)) return choices(schema.enum);
  if ('const' in schema) return visibleJson(schema.const);
  for (const union of ['anyOf', 'oneOf']) {
    const options = schema[union];
    if (Array.isArray(options)) return [...new Set(options.map((option) => typeOf(option, depth + 1)))].join(' | ');
  }
  const type = schema.type;
  if (Array.isArray(type)) return type.join(' | ');
  if (type === 'array') return `${typeOf(schema.items, depth + 1)}[]`;
  if (isRecord(schema.properties) && depth < MAX_DEPTH) return objectType(schema, depth);
  return typeof type === 'string' ? type : 'any';
}

function objectType(schema: Schema, depth: number): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields = Object.entries(schema.properties as Schema).map(
    ([name, property]) => `${name}${required.has(name) ? '' : '?'}: ${typeOf(property, depth + 1)}`,
  );
  return `{${fields.join(', ')}}`;
}

function choices(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_CHOICES).map((value) => visibleJson(value));
  return values.length > MAX_CHOICES
    ? `${shown.join(' | ')} | … ${values.length - MAX_CHOICES} more`
    : shown.join(' | ');
}
