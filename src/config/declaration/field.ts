import type { Node } from 'jsonc-parser';
import { meant } from '../../text/nearest.ts';
import type { ProblemKind } from '../gatewayConfig.ts';

/**
 * Field of the declaration of waygate.json. A field knows its form, bounds, default and documentation. Its reader, type
 * (`Infer`), JSON Schema and messages follow from these.
 */
export interface Field<T, P extends Presence = Presence> {
  readonly schema: JsonSchema;
  /** Value if the key is absent; `undefined` leaves the key out. */
  readonly defaultValue: T | undefined;
  readonly required: boolean;
  /** Returns the value, or `undefined` after reporting an error. Messages name the place by `path`. */
  read(node: Node, path: string, reader: Reader): T | undefined;
  /** Exists for the type checker alone. */
  readonly presence?: P;
}

/** `present`: the key has a default or is required, so every value has it. */
type Presence = 'present' | 'optional';
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Text that names a server: by its name, or by the namespace of its tools before a colon. */
export type ServerReference = 'server' | 'namespace';

export interface Reader {
  /** Reports a problem; a wrong value, unless `kind` says otherwise. */
  report(message: string, node: Node, kind?: ProblemKind): void;
  /** Receives each reference to a server. */
  refers?(kind: ServerReference, name: string, node: Node): void;
  /** Replaces the references in a text; throws an error with the message to report. */
  resolve?(text: string, secretsAllowed: boolean): string;
  /** Set if references stay unresolved; the content of strings is not checked then. */
  unresolved?: boolean;
}

export type Infer<F> = F extends Field<infer T, Presence> ? T : never;
export type Shape = Readonly<Record<string, Field<unknown>>>;
type PresentKeys<S extends Shape> = { [K in keyof S]: S[K] extends Field<unknown, 'present'> ? K : never }[keyof S];
/** Type of an object whose keys a table declares. */
export type ObjectOf<S extends Shape> = { readonly [K in PresentKeys<S>]: Infer<S[K]> } & {
  readonly [K in Exclude<keyof S, PresentKeys<S>>]?: Infer<S[K]>;
};

export interface Options {
  /** Documentation of the key in Markdown, for editors and the reference. */
  doc?: string;
  default?: unknown;
  required?: true;
  /** Further keywords of the JSON Schema, such as `defaultSnippets`. */
  schema?: JsonSchema;
}
export type PresenceOf<O> = O extends { default: unknown } | { required: true } ? 'present' : 'optional';

export function field<T, O extends Options>(
  options: O,
  schema: JsonSchema,
  read: Field<T>['read'],
): Field<T, PresenceOf<O>> {
  const { doc, default: defaultValue, required = false, schema: more } = options;
  return {
    schema: {
      ...schema,
      ...(defaultValue !== undefined && defaultValue !== null && { default: defaultValue }),
      ...(doc !== undefined && { markdownDescription: doc }),
      ...more,
    },
    defaultValue: defaultValue as T | undefined,
    required,
    read,
  };
}

export function must(
  be: string,
  node: Node,
  path: string,
  { report }: Reader,
  known: readonly string[] = [],
): undefined {
  const kind = { code: 'wrong_value', ...(typeof node.value === 'string' && meant(node.value, known)) } as const;
  report(`"${path}" must be ${be}${/[.?]$/.test(be) ? '' : '.'}`, node, kind);
}

interface NumberOptions extends Options {
  min?: number;
  /** Exclusive lower bound. */
  above?: number;
  max?: number;
  whole?: true;
  /** Allows `null`, which means no limit. */
  nullable?: true;
  /** Accepts digits in quotes, as templates and other programs write them. */
  lenient?: true;
  /** Ends the message about a wrong value. */
  hint?: string;
}

export function number<const O extends NumberOptions>(
  options: O,
): Field<O extends { nullable: true } ? number | null : number, PresenceOf<O>> {
  const { min, above, max, whole, nullable, lenient, hint } = options;
  const types = [whole ? 'integer' : 'number', ...(nullable ? ['null'] : []), ...(lenient ? ['string'] : [])];
  const schema = {
    type: types.length > 1 ? types : types[0],
    ...(lenient && { pattern: DIGITS.source }),
    ...(min !== undefined && { minimum: min }),
    ...(above !== undefined && { exclusiveMinimum: above }),
    ...(max !== undefined && { maximum: max }),
  };
  const fits = (value: unknown): value is number =>
    typeof value === 'number' &&
    Number.isFinite(value) &&
    (!whole || Number.isInteger(value)) &&
    value >= (min ?? Number.NEGATIVE_INFINITY) &&
    value > (above ?? Number.NEGATIVE_INFINITY) &&
    value <= (max ?? Number.POSITIVE_INFINITY);
  const description = `${whole ? 'a whole number' : 'a number'}${rangeText(options)}${hint === undefined ? '' : `; ${hint}`}`;
  type T = O extends { nullable: true } ? number | null : number;
  return field<T, O>(options, schema, (node, path, reader) => {
    if (nullable && node.type === 'null') return null as T;
    const value = lenient && isDigits(node.value) ? Number(node.value) : node.value;
    return fits(value) ? (value as T) : must(description, node, path, reader);
  });
}

function rangeText({ min, above, max }: NumberOptions): string {
  if (above !== undefined) return ` above ${above}${max === undefined ? '' : `, at most ${max}`}`;
  if (min === undefined) return '';
  return max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`;
}

const DIGITS = /^\s*\d{1,15}(\.\d{1,9})?\s*$/;

function isDigits(value: unknown): boolean {
  return typeof value === 'string' && DIGITS.test(value);
}

const SPELLED: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);
/** Matches these words in any case. A pattern of a JSON Schema has no flags. */
const SPELLED_PATTERN = `^\\s*(${[...SPELLED.keys()]
  .map((word) => word.replaceAll(/[a-z]/g, (char) => `[${char}${char.toUpperCase()}]`))
  .join('|')})\\s*$`;

/**
 * Declares true or false. `lenient` accepts `"yes"`, `"off"` and the like, as templates and other programs write them.
 */
export function flag<const O extends Options & { lenient?: true }>(options: O): Field<boolean, PresenceOf<O>> {
  const schema = options.lenient ? { type: ['boolean', 'string'], pattern: SPELLED_PATTERN } : { type: 'boolean' };
  return field<boolean, O>(options, schema, (node, path, reader) => {
    if (node.type === 'boolean') return node.value as boolean;
    const isSpelled = options.lenient && node.type === 'string';
    const spelled = isSpelled ? SPELLED.get(node.value.trim().toLowerCase()) : undefined;
    return spelled ?? must('true or false', node, path, reader);
  });
}

export function oneOf<const V extends string, const O extends Options>(
  values: readonly V[],
  options: O,
): Field<V, PresenceOf<O>> {
  const quoted = values.map((value) => `"${value}"`);
  const description = [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter((part) => part !== '').join(' or ');
  return field<V, O>(
    options,
    { enum: values },
    (node, path, reader) =>
      values.find((value) => value === node.value) ?? must(description, node, path, reader, values),
  );
}

interface TextOptions extends Options {
  /** Refuses blank strings. */
  filled?: true;
  /** Form of the string before references are replaced. */
  form?: { pattern: RegExp; description: string };
  /** Allows `${secret:NAME}` and `${input:ID}`. */
  secrets?: true;
  /** Returns a description of a valid value if this one is not; sees references replaced. */
  check?(value: string): string | undefined;
  /** Words for the editor to propose in place of one that `check` refuses. */
  known?: readonly string[];
  /** Accepts numbers and booleans as strings. */
  scalar?: true;
  refersTo?: ServerReference;
}

export function text<const O extends TextOptions>(options: O): Field<string, PresenceOf<O>> {
  const { filled, form, secrets = false, check, known, scalar, refersTo } = options;
  const schema = {
    type: scalar ? ['string', 'number', 'boolean'] : 'string',
    ...((filled || form) && { pattern: form?.pattern.source ?? '\\S' }),
    not: { type: 'string', pattern: '\\u0000' },
  };
  return field<string, O>(options, schema, (node, path, reader) => {
    if (scalar && (node.type === 'number' || node.type === 'boolean')) return String(node.value);
    if (node.type !== 'string') return must('a string', node, path, reader);
    const written = node.value as string;
    const flaw =
      filled && written.trim() === '' ? 'be empty' : written.includes('\0') ? 'have a NUL character' : undefined;
    if (flaw !== undefined) return void reader.report(`"${path}" must not ${flaw}.`, node);
    if (form && !form.pattern.test(written)) return must(form.description, node, path, reader);
    let value = written;
    try {
      value = reader.resolve?.(written, secrets) ?? written;
    } catch (error) {
      reader.report(`"${path}": ${(error as Error).message}`, node, { code: 'reference' });
      return undefined;
    }
    if (refersTo) reader.refers?.(refersTo, value, node);
    const wrong = reader.unresolved ? undefined : check?.(value);
    return wrong === undefined ? value : must(wrong, node, path, reader, known);
  });
}

/** Declares a string, a number or a boolean, kept in its type. */
export function scalar<const O extends Options>(options: O): Field<string | number | boolean, PresenceOf<O>> {
  return field<string | number | boolean, O>(
    options,
    { type: ['string', 'number', 'boolean'] },
    (node, path, reader) =>
      /^(string|number|boolean)$/.test(node.type)
        ? node.value
        : must('a string, a number, true or false', node, path, reader),
  );
}
