import { resolvePointer } from '../../src/calls/validation/schemaProfile.ts';
import { isRecord } from '../../src/lib/isRecord.ts';
import { secretName } from '../../src/secrets/names.ts';

/**
 * Fields of a form, made from the input schema of a tool. The schema is foreign: nothing in it is taken for valid.
 * Children are made when they are asked for, so that a recursive or huge schema costs what is shown of it.
 */

/** Ways to type a value. */
export type Entry = 'text' | 'number' | 'json';

export type Schema = Readonly<Record<string, unknown>>;

export interface Field {
  /** Name of the property; for an item of a list that of the list; empty for the arguments as a whole. */
  readonly name: string;
  /** `choice`: few values, all known. `typed`: a value that the user types. */
  readonly kind: 'object' | 'list' | 'choice' | 'typed';
  readonly required: boolean;
  readonly nullable: boolean;
  /** The value is not shown and not kept. */
  readonly secret: boolean;
  /** Possible ways to type the value, the likeliest first. */
  readonly entries: readonly Entry[];
  /** Values to choose from; of a typed field suggestions. Null is never one of them. */
  readonly options: readonly unknown[];
  /** Single value that a required field can have. */
  readonly constant?: { readonly value: unknown };
  /** Schema after its references were followed; empty if it is no schema. */
  readonly schema: Schema;
  readonly depth: number;
  readonly root: unknown;
  /** References that led here, by which a recursion is found. */
  readonly refs: readonly string[];
}

/** Deepest level of objects and lists with fields of their own; values below are JSON. */
export const MAX_DEPTH = 4;
/** More values are suggestions of a text field. */
export const MAX_CHOICES = 100;
const MAX_STEPS = 32;

/** Returns the field of the arguments as a whole. */
export function argumentsField(schema: unknown): Field {
  const place = { name: '', required: true, secret: false, depth: 0, root: schema, refs: ['#'] };
  const field = fieldOf(schema, place);
  return { ...field, kind: 'object' };
}

/** Returns the names of an object's fields, the required ones first. */
export function fieldNames({ schema }: Field): { required: readonly string[]; optional: readonly string[] } {
  const required = requiredNames(schema);
  const known = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  const named = new Set(known);
  return {
    required: [...known.filter((name) => required.has(name)), ...[...required].filter((name) => !named.has(name))],
    optional: known.filter((name) => !required.has(name)),
  };
}

/** Returns whether an object has a field of this name. */
export function hasField({ schema }: Field, name: string): boolean {
  return (isRecord(schema.properties) && Object.hasOwn(schema.properties, name)) || requiredNames(schema).has(name);
}

/** Returns whether the form asks for properties that the schema does not name. */
export function takesOthers(field: Field): boolean {
  const { additionalProperties: others, patternProperties, properties } = field.schema;
  if (others === false) return false;
  if (others === true || isRecord(others) || isRecord(patternProperties)) return true;
  return field.depth === 0 && !(isRecord(properties) && Object.keys(properties).length > 0);
}

export function childField(field: Field, name: string): Field {
  const { properties } = field.schema;
  const schema = isRecord(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const required = requiredNames(field.schema).has(name);
  return fieldOf(schema, { ...below(field), name, required, secret: field.secret || isSecret(name) });
}

export function itemField(field: Field): Field {
  return fieldOf(field.schema.items, { ...below(field), name: field.name, required: true, secret: field.secret });
}

interface Place {
  name: string;
  required: boolean;
  secret: boolean;
  depth: number;
  root: unknown;
  refs: readonly string[];
}

function below({ depth, root, refs }: Field): Pick<Place, 'depth' | 'root' | 'refs'> {
  return { depth: depth + 1, root, refs };
}

function isSecret(name: string): boolean {
  const weight = secretName(name)?.weight;
  return weight === 'strong' || weight === 'key';
}

/** Sets of required names by their list: a schema may have ten thousand. */
const REQUIRED = new WeakMap<object, ReadonlySet<string>>();
const NO_NAMES: ReadonlySet<string> = new Set();

function requiredNames({ required }: Schema): ReadonlySet<string> {
  if (!Array.isArray(required)) return NO_NAMES;
  const names = REQUIRED.get(required) ?? new Set(required.filter((name) => typeof name === 'string'));
  REQUIRED.set(required, names);
  return names;
}

function fieldOf(given: unknown, place: Place): Field {
  const { schema, refs, nullable, open } = resolved(given, place.root, place.refs);
  const secret = place.secret || schema.format === 'password' || schema.writeOnly === true;
  const common = { ...place, schema, refs, secret, entries: [], options: [] };
  const json = { ...common, kind: 'typed', nullable, entries: ['json'] } as const;
  if (open) return json;
  const values = optionsOf(schema);
  if (values !== undefined) return choice({ ...common, nullable }, values);
  const branches = branchesOf(schema);
  const types = typesOf(schema);
  const only = types.length === 1 ? types[0] : undefined;
  const isNullable = nullable || types.includes('null') || schema.nullable === true;
  const typed = { ...json, nullable: isNullable };
  const shaped = types.filter((type) => type !== 'null');
  const deep = place.depth > MAX_DEPTH;
  if (shaped.length === 1 && shaped[0] === 'object') {
    const isForm = !deep && (place.depth === 0 || fieldCount(schema) > 0) && !hidesFields(schema, branches);
    return isForm ? { ...common, kind: 'object', nullable: isNullable } : typed;
  }
  if (branches.length > 0 && shaped.length === 0)
    return typedBy(
      typed,
      branches.flatMap((branch) => branchEntries(branch, place, refs)),
      branches,
    );
  if (shaped.length === 1 && shaped[0] === 'array') {
    const isForm = !deep && isRecord(schema.items) && !Array.isArray(schema.prefixItems);
    return isForm ? { ...common, kind: 'list', nullable: isNullable } : typed;
  }
  if (shaped.length === 1 && shaped[0] === 'boolean') return choice({ ...common, nullable: isNullable }, [true, false]);
  if (only === 'null') return choice({ ...common, nullable: true }, []);
  return typedBy(typed, shaped.map(entryOf), []);
}

/** Follows local references, and unwraps alternatives of which only one is not null. */
function resolved(
  given: unknown,
  root: unknown,
  above: readonly string[],
): { schema: Schema; refs: readonly string[]; nullable: boolean; open: boolean } {
  const refs = [...above];
  let schema = given;
  let nullable = false;
  for (let step = 0; step < MAX_STEPS; step++) {
    if (!isRecord(schema)) return { schema: {}, refs, nullable, open: true };
    const { $ref, ...own } = schema;
    if (typeof $ref === 'string') {
      const target = refs.includes($ref) ? undefined : resolvePointer(root, $ref);
      if (!isRecord(target)) return { schema: own, refs, nullable, open: true };
      refs.push($ref);
      schema = { ...target, ...own };
      continue;
    }
    const single = onlyBranch(schema);
    if (single === undefined) return { schema, refs, nullable, open: false };
    nullable ||= single.nullable;
    schema = single.schema;
  }
  return { schema: {}, refs, nullable, open: true };
}

/** Returns the schema joined with its only alternative, or undefined if it has none or several. */
function onlyBranch(schema: Schema): { schema: Schema; nullable: boolean } | undefined {
  for (const key of ['allOf', 'anyOf', 'oneOf']) {
    const all = schema[key];
    if (!Array.isArray(all)) continue;
    const some = key === 'allOf' ? all : all.filter((branch) => !isNull(branch));
    const [branch] = some;
    if (some.length !== 1 || !isRecord(branch)) continue;
    const { [key]: _, ...rest } = schema;
    return { schema: { ...branch, ...rest }, nullable: some.length < all.length };
  }
  return undefined;
}

function isNull(schema: unknown): boolean {
  return isRecord(schema) && (schema.type === 'null' || ('const' in schema && schema.const === null));
}

/** Returns the values of `const`, of `enum`, or of alternatives that have nothing but those. */
function optionsOf(schema: Schema): readonly unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  if (Array.isArray(schema.enum)) return schema.enum;
  const branches = branchesOf(schema);
  const values = branches.map((branch) => (isRecord(branch) && branch !== schema ? ownOptions(branch) : undefined));
  return branches.length > 0 && values.every((value) => value !== undefined) ? values.flat() : undefined;
}

function ownOptions(branch: Schema): readonly unknown[] | undefined {
  if ('const' in branch) return [branch.const];
  if (Array.isArray(branch.enum)) return branch.enum;
  return branch.type === 'null' ? [null] : undefined;
}

function branchesOf(schema: Schema): readonly unknown[] {
  const branches = Array.isArray(schema.anyOf) ? schema.anyOf : schema.oneOf;
  return Array.isArray(branches) ? branches : [];
}

type Common = Omit<Field, 'kind' | 'nullable'> & { nullable: boolean };

function choice(field: Common, values: readonly unknown[]): Field {
  const options = distinct(values.filter((value) => value !== null));
  const nullable = field.nullable || options.length < values.length;
  if (options.length === 0 && !nullable) return { ...field, kind: 'typed', entries: ['json'] };
  if (options.length > MAX_CHOICES) {
    const entries = [...new Set(options.map((value) => entryOf(typeof value)))];
    return { ...field, nullable, options, kind: 'typed', entries };
  }
  const isConstant = options.length === 1 && !nullable && 'const' in field.schema && field.required;
  return { ...field, nullable, options, kind: 'choice', ...(isConstant && { constant: { value: options[0] } }) };
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [jsonText(value), value])).values()];
}

/** Returns the JSON of a value; the value may be circular or no JSON when a test made it. */
export function jsonText(value: unknown, space?: number): string {
  try {
    return JSON.stringify(value, undefined, space) ?? 'null';
  } catch {
    return 'null';
  }
}

/** Returns the types of a schema, also where only its other keywords reveal them. */
function typesOf(schema: Schema): string[] {
  const { type } = schema;
  const named = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === 'string');
  if (named.length > 0) return [...new Set(named)];
  if (isRecord(schema.properties)) return ['object'];
  return isRecord(schema.items) ? ['array'] : [];
}

function fieldCount(schema: Schema): number {
  const properties = isRecord(schema.properties) ? Object.keys(schema.properties).length : 0;
  return properties + requiredNames(schema).size;
}

/** Alternatives have properties, and the object itself has none that the form could ask for. */
function hidesFields(schema: Schema, branches: readonly unknown[]): boolean {
  return fieldCount(schema) === 0 && branches.length > 0;
}

function branchEntries(branch: unknown, { root }: Place, refs: readonly string[]): Entry[] {
  const { schema, open } = resolved(branch, root, refs);
  const types = typesOf(schema).filter((type) => type !== 'null');
  return open || types.length === 0 ? ['json'] : types.map(entryOf);
}

const ENTRIES: Readonly<Record<string, Entry>> = { string: 'text', number: 'number', integer: 'number' };
const ENTRY_ORDER: readonly Entry[] = ['text', 'number', 'json'];

function entryOf(type: string): Entry {
  return Object.hasOwn(ENTRIES, type) ? (ENTRIES[type] as Entry) : 'json';
}

function typedBy(field: Field, found: readonly Entry[], branches: readonly unknown[]): Field {
  const entries = ENTRY_ORDER.filter((entry) => found.includes(entry));
  const options = distinct(
    branches
      .flatMap((branch) => (isRecord(branch) ? (ownOptions(branch) ?? []) : []))
      .filter((value) => value !== null),
  );
  const nullable = field.nullable || branches.some(isNull);
  return { ...field, nullable, options, entries: entries.length > 0 ? entries : ['json'] };
}
