import type { Node } from 'jsonc-parser';

/**
 * Building blocks of the declaration of waygate.json. A field knows its form, bounds, default and documentation; its
 * reader, its type (`Infer`), its JSON Schema and its messages follow.
 */
export interface Field<T, P extends Presence = Presence> {
  readonly schema: JsonSchema;
  /** Value where the key is absent; `undefined` leaves the key out. */
  readonly standard: T | undefined;
  readonly required: boolean;
  /** Returns the value, or `undefined` after reporting why there is none. `path` is how messages name the place. */
  read(node: Node, path: string, reader: Reader): T | undefined;
  /** Exists for the type checker alone. */
  readonly presence?: P;
}

/** `present`: the key has a default or is required, so it is in every value that was read. */
type Presence = 'present' | 'optional';
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Reader {
  report(message: string, node: Node): void;
  /** Replaces the references in a text; throws an error with the message to report. */
  resolve?(text: string, secretsAllowed: boolean): string;
  /** References are not followed, so the content of texts is not checked. */
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
  /** What the editor and the documentation say of the key, in Markdown. */
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
  const { doc, default: standard, required = false, schema: more } = options;
  return {
    schema: {
      ...schema,
      ...(standard !== undefined && standard !== null && { default: standard }),
      ...(doc !== undefined && { markdownDescription: doc }),
      ...more,
    },
    standard: standard as T | undefined,
    required,
    read,
  };
}

export function must(be: string, node: Node, path: string, { report }: Reader): undefined {
  report(`"${path}" must be ${be}.`, node);
}

interface NumberOptions extends Options {
  min?: number;
  /** Exclusive lower bound. */
  above?: number;
  max?: number;
  whole?: true;
  /** `null` stands for none. */
  nullable?: true;
  /** Digits in quotes count, as templates and other programs write them. */
  lenient?: true;
  /** Ends the message about a wrong value. */
  hint?: string;
}

export function number<const O extends NumberOptions>(
  options: O,
): Field<O extends { nullable: true } ? number | null : number, PresenceOf<O>> {
  const { min, above, max, whole, nullable, lenient, hint } = options;
  const type = whole ? 'integer' : 'number';
  const schema = {
    type: nullable ? [type, 'null'] : type,
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
  const words = `${whole ? 'a whole number' : 'a number'}${rangeWords(options)}${hint === undefined ? '' : `; ${hint}`}`;
  type T = O extends { nullable: true } ? number | null : number;
  return field<T, O>(options, schema, (node, path, reader) => {
    if (nullable && node.type === 'null') return null as T;
    const value = lenient && isDigits(node.value) ? Number(node.value) : node.value;
    return fits(value) ? (value as T) : must(words, node, path, reader);
  });
}

function rangeWords({ min, above, max }: NumberOptions): string {
  if (above !== undefined) return ` above ${above}${max === undefined ? '' : `, at most ${max}`}`;
  if (min === undefined) return '';
  return max === undefined ? ` of at least ${min}` : ` from ${min} to ${max}`;
}

function isDigits(value: unknown): boolean {
  return typeof value === 'string' && /^\s*\d{1,15}(\.\d{1,9})?\s*$/.test(value);
}

const SPELLED: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

/** `lenient` takes `"yes"`, `"off"` and the like, as templates and other programs write them. */
export function flag<const O extends Options & { lenient?: true }>(options: O): Field<boolean, PresenceOf<O>> {
  return field<boolean, O>(options, { type: 'boolean' }, (node, path, reader) => {
    if (node.type === 'boolean') return node.value as boolean;
    const spelled = options.lenient ? SPELLED.get(String(node.value).trim().toLowerCase()) : undefined;
    return spelled ?? must('true or false', node, path, reader);
  });
}

export function oneOf<const V extends string, const O extends Options>(
  values: readonly V[],
  options: O,
): Field<V, PresenceOf<O>> {
  const quoted = values.map((value) => `"${value}"`);
  const words = [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter((part) => part !== '').join(' or ');
  return field<V, O>(
    options,
    { enum: values },
    (node, path, reader) => values.find((value) => value === node.value) ?? must(words, node, path, reader),
  );
}

interface TextOptions extends Options {
  /** Blank texts are refused. */
  filled?: true;
  /** Form of the text as it is written. */
  form?: { pattern: RegExp; words: string };
  /** `${secret:NAME}` and `${input:ID}` may stand here. */
  secrets?: true;
  /** Returns what a value must be, when it is something else; sees references replaced. */
  check?(value: string): string | undefined;
  /** Numbers and booleans count as their text. */
  scalar?: true;
}

export function text<const O extends TextOptions>(options: O): Field<string, PresenceOf<O>> {
  const { filled, form, secrets = false, check, scalar } = options;
  const schema = {
    type: scalar ? ['string', 'number', 'boolean'] : 'string',
    ...(filled && { minLength: 1 }),
    ...(form && { pattern: form.pattern.source }),
  };
  return field<string, O>(options, schema, (node, path, reader) => {
    if (scalar && (node.type === 'number' || node.type === 'boolean')) return String(node.value);
    if (node.type !== 'string') return must('a text', node, path, reader);
    const written = node.value as string;
    const flaw =
      filled && written.trim() === '' ? 'be empty' : written.includes('\0') ? 'have a NUL character' : undefined;
    if (flaw !== undefined) return void reader.report(`"${path}" must not ${flaw}.`, node);
    if (form && !form.pattern.test(written)) return must(form.words, node, path, reader);
    let value = written;
    try {
      value = reader.resolve?.(written, secrets) ?? written;
    } catch (error) {
      reader.report(`"${path}": ${(error as Error).message}`, node);
      return undefined;
    }
    const wrong = reader.unresolved ? undefined : check?.(value);
    return wrong === undefined ? value : must(wrong, node, path, reader);
  });
}

/** A text, a number or a truth value, as it is written. */
export function scalar<const O extends Options>(options: O): Field<string | number | boolean, PresenceOf<O>> {
  return field<string | number | boolean, O>(
    options,
    { type: ['string', 'number', 'boolean'] },
    (node, path, reader) =>
      /^(string|number|boolean)$/.test(node.type)
        ? node.value
        : must('a text, a number, true or false', node, path, reader),
  );
}
