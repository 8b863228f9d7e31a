import { canonicalJson, canonicalString } from '../../catalog/canonicalJson.ts';
import { isDestructive } from '../../catalog/destructive.ts';

type Json = Readonly<Record<string, unknown>>;

/** Kinds of change, the gravest first. */
export const DRIFT_KINDS = ['breaking', 'hint lowered', 'words', 'harmless'] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

export interface Drift {
  readonly kinds: readonly DriftKind[];
  /** Differences that are not in words, one line each. */
  readonly notes: readonly string[];
}

/** Classifies the difference between two versions of an item. */
export function driftOf(before: unknown, after: unknown): Drift {
  try {
    return compare(before, after);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { kinds: DRIFT_KINDS.slice(0, 3), notes: ['it is nested too deeply to be compared'] };
  }
}

function compare(before: unknown, after: unknown): Drift {
  const notes: { kind: DriftKind; note: string }[] = [];
  const [a, b] = [record(before), record(after)];
  compareSchemas(a.inputSchema ?? argumentsSchema(a), b.inputSchema ?? argumentsSchema(b), '', (kind, note) =>
    notes.push({ kind, note }),
  );
  for (const note of loweredHints(before, after)) notes.push({ kind: 'hint lowered', note });
  const kinds = new Set(notes.map(({ kind }) => kind));
  // A difference that is nothing else counts as one of words.
  const isOther = kinds.size === 0 && words(before, () => true) !== words(after, () => true);
  if (isOther || words(before, isWording) !== words(after, isWording)) kinds.add('words');
  return {
    kinds: kinds.size === 0 ? ['harmless'] : DRIFT_KINDS.filter((kind) => kinds.has(kind)),
    notes: notes.map(({ note }) => note),
  };
}

/** Returns the hints of a tool that promise more than before, in sentences. */
export function loweredHints(before: unknown, after: unknown): string[] {
  const [a, b] = [hints(before), hints(after)];
  const lowered: string[] = [];
  if (a.readOnlyHint !== true && b.readOnlyHint === true) lowered.push('it now says that it only reads');
  if (a.destructiveHint === true && b.destructiveHint !== true)
    lowered.push('it no longer says that it is destructive');
  else if (isDestructive(record(before)) && !isDestructive(record(after)))
    lowered.push('it no longer counts as destructive');
  return lowered;
}

/** Returns the names of the arguments, at any depth, that only the later version has. */
export function addedArguments(before: unknown, after: unknown): string[] {
  const known = argumentNames(before);
  return [...argumentNames(after)].filter((name) => !known.has(name));
}

/** Iterative, so that no nesting is too deep. */
function argumentNames(item: unknown): ReadonlySet<string> {
  const { inputSchema, ...rest } = record(item);
  const names = new Set<string>();
  const work: unknown[] = [inputSchema ?? argumentsSchema(rest)];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    for (const name of Object.keys(record(record(next).properties))) names.add(name);
    if (typeof next === 'object' && next !== null) work.push(...Object.values(next).filter(Boolean));
  }
  return names;
}

/** Reports what a caller of the earlier version would notice. */
function compareSchemas(
  before: unknown,
  after: unknown,
  at: string,
  report: (kind: DriftKind, note: string) => void,
): void {
  const [a, b] = [record(before), record(after)];
  const [old, now] = [record(a.properties), record(b.properties)];
  for (const name of Object.keys(old)) {
    if (!Object.hasOwn(now, name)) report('breaking', `argument ${at}${name} removed`);
    else compareSchemas(old[name], now[name], `${at}${name}.`, report);
  }
  const required = (schema: Json): unknown[] => (Array.isArray(schema.required) ? schema.required : []);
  for (const name of required(b)) {
    if (!required(a).includes(name)) report('breaking', `argument ${at}${String(name)} is now required`);
  }
  const place = at === '' ? 'the arguments' : `argument ${at.slice(0, -1)}`;
  if (narrows(typesOf(a.type), typesOf(b.type))) {
    report('breaking', `${place}: the type ${list(typesOf(a.type))} became ${list(typesOf(b.type))}`);
  }
  if (narrows(valuesOf(a.enum), valuesOf(b.enum))) report('breaking', `${place}: fewer values are allowed`);
  for (const limit of LIMITS.filter((one) => isTighter(one, a[one], b[one]))) {
    report('breaking', `${place}: ${limit} is now ${canonicalJson(b[limit])}`);
  }
  for (const choice of ['anyOf', 'oneOf', 'allOf'] as const) {
    const [from, to] = [itemsIn(a[choice]), itemsIn(b[choice])];
    if (choice === 'allOf' ? to.length > from.length : to.length > 0 && (from.length === 0 || to.length < from.length))
      report('breaking', `${place}: ${choice} is narrower`);
    else for (const [index, one] of to.entries()) if (index < from.length) compareSchemas(from[index], one, at, report);
  }
  for (const shared of ['$defs', 'definitions'] as const) {
    const defined = record(b[shared]);
    for (const [name, one] of Object.entries(record(a[shared]))) compareSchemas(one, defined[name], at, report);
  }
  if (a.items !== undefined || b.items !== undefined) compareSchemas(a.items, b.items, `${at}items.`, report);
}

/** Keywords that reject values. */
const LIMITS = [
  ...['const', 'pattern', 'format', 'multipleOf', 'additionalProperties', 'uniqueItems', '$ref', 'not'],
  ...['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'],
  ...['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'],
];

function isTighter(limit: string, before: unknown, after: unknown): boolean {
  if (after === undefined || canonicalJson(before) === canonicalJson(after)) return false;
  // `true` and an empty schema allow everything, and so does `uniqueItems: false`.
  if (limit === 'additionalProperties') return after === false;
  if (limit === 'uniqueItems') return after === true;
  if (typeof before !== 'number' || typeof after !== 'number') return true;
  return /^max|Max/.test(limit) ? after < before : /^min|Min/.test(limit) ? after > before : true;
}

const itemsIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Reports whether something that the earlier set allows is missing in the later one. No set allows everything. */
function narrows(before: readonly string[] | undefined, after: readonly string[] | undefined): boolean {
  if (!after) return false;
  return (
    !before || before.some((value) => !after.includes(value) && !(value === 'integer' && after.includes('number')))
  );
}

const typesOf = (type: unknown): string[] | undefined =>
  typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : undefined;
const valuesOf = (values: unknown): string[] | undefined =>
  Array.isArray(values) ? values.map((value) => JSON.stringify(value)) : undefined;
const list = (types: readonly string[] | undefined): string => types?.join(' or ') ?? 'any';

/** Arguments of a prompt in the form of a schema. */
function argumentsSchema({ arguments: all }: Json): Json {
  if (!Array.isArray(all)) return {};
  const named = all.map(record).filter(({ name }) => typeof name === 'string');
  return {
    properties: Object.fromEntries(named.map(({ name }) => [name, {}])),
    required: named.filter(({ required }) => required === true).map(({ name }) => name),
  };
}

/** Members whose plain values are no words. An argument may have such a name, and then its value is an object. */
const NO_WORDS: ReadonlySet<string> = new Set(['type', 'required', 'readOnlyHint', 'destructiveHint', ...LIMITS]);
const isWording = (key: string, value: unknown): boolean =>
  !NO_WORDS.has(key) || (typeof value === 'object' && !Array.isArray(value));

/** Returns the chosen values of an item, without white space at their ends and runs of it. Others never look the same. */
function words(value: unknown, counts: (key: string, value: unknown) => boolean, name = '', isItem = true): string {
  const key = canonicalString(name);
  if (typeof value === 'string') return `${key}=${canonicalString(value.replace(/\s+/g, ' ').trim())}\n`;
  if (value === null || typeof value !== 'object') return `${key}=${String(value)}\n`;
  if (Array.isArray(value)) {
    const items = value.map((item) => words(item, counts, '', false));
    // The order of required names and of enum values means nothing.
    return `${key}[${(name === 'required' || name === 'enum' ? items.sort() : items).join('')}]`;
  }
  const entries = Object.entries(value).filter(
    // No pin covers the `_meta` of the item itself; deeper down it is a name like any other.
    ([one, member]) => !(isItem && one === '_meta') && counts(one, member),
  );
  return `${key}{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([one, member]) => words(member, counts, one, false))
    .join('')}}`;
}

function hints(tool: unknown): Json {
  return record(record(tool).annotations);
}

function record(value: unknown): Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {};
}
