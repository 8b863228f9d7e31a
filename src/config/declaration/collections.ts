import { getNodeValue, type Node } from 'jsonc-parser';
import { didYouMean, meant } from '../../text/nearest.ts';
import { visibleJson } from '../../text/visibleText.ts';
import type { ProblemKind } from '../gatewayConfig.ts';
import { members } from '../jsonNodes.ts';
import {
  type Field,
  field,
  type JsonSchema,
  must,
  type ObjectOf,
  type Options,
  type PresenceOf,
  type Reader,
  type ServerReference,
  type Shape,
} from './field.ts';

interface ListOptions extends Options {
  nullable?: true;
  /** An empty object counts as an empty list. */
  lenient?: true;
}

export function list<T, const O extends ListOptions>(
  item: Field<T>,
  options: O,
): Field<O extends { nullable: true } ? readonly T[] | null : readonly T[], PresenceOf<O>> {
  type L = O extends { nullable: true } ? readonly T[] | null : readonly T[];
  const types = ['array', ...(options.nullable ? ['null'] : []), ...(options.lenient ? ['object'] : [])];
  const schema = {
    type: types.length > 1 ? types : 'array',
    items: item.schema,
    ...(options.lenient && { maxProperties: 0 }),
  };
  return field<L, O>(options, schema, (node, path, reader) => {
    if (options.nullable && node.type === 'null') return null as L;
    if (options.lenient && node.type === 'object' && members(node).length === 0) return [] as readonly T[] as L;
    if (node.type !== 'array') return must('a list', node, path, reader);
    const items = (node.children ?? []).map((child, index) => item.read(child, `${path}[${index}]`, reader));
    return items.filter((value) => value !== undefined) as readonly T[] as L;
  });
}

interface RecordOptions extends Options {
  keys?: { pattern: RegExp; description: string };
  /** Servers that the keys name. */
  refersTo?: ServerReference;
}

/** Declares an object whose keys the user chooses. */
export function record<T, const O extends RecordOptions>(
  item: Field<T>,
  options: O,
): Field<Readonly<Record<string, T>>, PresenceOf<O>> {
  const { keys, refersTo } = options;
  return field<Readonly<Record<string, T>>, O>(
    options,
    {
      type: 'object',
      ...(keys && { propertyNames: { pattern: keys.pattern.source } }),
      additionalProperties: item.schema,
    },
    (node, path, reader) => {
      if (node.type !== 'object') return must('an object', node, path, reader);
      const entries = distinctMembers(node, path, reader).map(([key, value]) => {
        const at = joined(path, key.value);
        if (keys && !keys.pattern.test(key.value)) reader.report(`"${at}" needs ${keys.description}.`, key);
        if (refersTo) reader.refers?.(refersTo, key.value, key);
        return [key.value as string, item.read(value, at, reader)] as const;
      });
      return Object.fromEntries(
        entries.filter((entry): entry is readonly [string, NonNullable<T>] => entry[1] !== undefined),
      );
    },
  );
}

/** Declares an object that is passed on unchanged. */
export function anyObject<const O extends Options>(
  options: O,
): Field<Readonly<Record<string, unknown>>, PresenceOf<O>> {
  return field<Readonly<Record<string, unknown>>, O>(options, { type: 'object' }, (node, path, reader) =>
    node.type === 'object' ? getNodeValue(node) : must('an object', node, path, reader),
  );
}

/** Declares an object with the keys of `shape`. Any other key is an error that names the nearest known one. */
export function object<S extends Shape, const O extends Options>(
  shape: S,
  options: O & { check?(value: ObjectOf<S>): string | undefined },
): Field<ObjectOf<S>, PresenceOf<O>> {
  return field<ObjectOf<S>, O>(options, objectSchema(shape), (node, path, reader) => {
    if (node.type !== 'object') return must('an object', node, path, reader);
    const values: Record<string, unknown> = defaultsOf(shape);
    const written = new Set<string>();
    for (const [key, value] of distinctMembers(node, path, reader)) {
      written.add(key.value);
      const own = Object.hasOwn(shape, key.value) ? shape[key.value] : undefined;
      const at = joined(path, key.value);
      if (!own) reader.report(...unknownKey(at, key, Object.keys(shape)));
      else values[key.value] = own.read(value, at, reader) ?? own.defaultValue;
    }
    const missing = Object.keys(shape).filter((key) => shape[key]?.required && !written.has(key));
    for (const key of missing) reader.report(`"${joined(path, key)}" is missing; add it.`, node, { code: 'missing' });
    const isWhole = Object.entries(shape).every(([key, { required }]) => !required || values[key] !== undefined);
    if (!isWhole) return undefined;
    const value = definedOf(values) as ObjectOf<S>;
    const flaw = options.check?.(value);
    return flaw === undefined ? value : void reader.report(flaw, node);
  });
}

export function objectSchema(shape: Shape): JsonSchema {
  const required = Object.keys(shape).filter((key) => shape[key]?.required);
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(Object.entries(shape).map(([key, { schema }]) => [key, schema])),
  };
}

/** Returns the defaults of the keys of `shape`. */
export function defaultsOf<S extends Shape>(shape: S): ObjectOf<S> {
  const values = Object.entries(shape).map(([key, { defaultValue }]) => [key, defaultValue] as const);
  return definedOf(Object.fromEntries(values)) as ObjectOf<S>;
}

function definedOf(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** Returns the name and value nodes of an object. Reports a duplicate name; its first value counts. */
export function distinctMembers(node: Node, path: string, { report }: Pick<Reader, 'report'>): [Node, Node][] {
  const seen = new Set<string>();
  return members(node).filter(([key]) => {
    if (seen.has(key.value)) {
      report(`"${joined(path, key.value)}" is written twice; remove one.`, key, { code: 'duplicate' });
    } else return seen.add(key.value);
    return false;
  });
}

/** Returns the report of an unknown key. */
export function unknownKey(
  path: string,
  key: Node,
  known: readonly string[],
  otherwise = `known keys are ${known.join(', ')}.`,
): [message: string, key: Node, kind: ProblemKind] {
  const message = `"${path}" is not a key; ${didYouMean(key.value, known, otherwise)}`;
  return [message, key, { code: 'unknown_key', ...meant(key.value, known) }];
}

const MAX_KEY = 64;

/** Returns the path of a key as messages name it: `policy.rules[0].action`, `servers["my server"].url`. */
export function joined(path: string, key: string): string {
  const short = key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}…` : key;
  // A terminal shows it: control characters must not reach it.
  if (path === '') return visibleJson(short).slice(1, -1);
  return /^[\w$*:@/#-]+$/.test(short) ? `${path}.${short}` : `${path}[${visibleJson(short)}]`;
}
