import { isRecord } from '../../src/lib/isRecord.ts';
import { isSecretValue, secretName } from '../../src/secrets/names.ts';
import { t } from '../l10n.ts';
import { childField, type Entry, type Field, fieldNames, hasField, itemField, jsonText } from './fields.ts';

/**
 * Input of the user before it becomes arguments. An untouched field is `unset` and left out. `fixed` is the only value
 * that a required field can have.
 */
export type Draft =
  | { kind: 'unset' | 'fixed' | 'null' }
  | { kind: 'typed'; entry: Entry; text: string }
  | { kind: 'picked'; value: unknown }
  /** `others`: JSON object with properties that the form does not have. */
  | { kind: 'object'; entries: readonly (readonly [string, Draft])[]; others: string }
  | { kind: 'list'; items: readonly Draft[] };

/** Problem that the form finds itself: a text that is no value. The worker finds all others. */
export interface DraftProblem {
  path: readonly string[];
  message: string;
}

export const UNSET: Draft = { kind: 'unset' };

export function emptyDraft(field: Field): Draft {
  if (field.constant !== undefined) return { kind: 'fixed' };
  return field.kind === 'object' && field.required ? { kind: 'object', entries: [], others: '' } : UNSET;
}

/** Returns the draft that makes a value. A value that does not fit the field becomes JSON. */
export function draftOf(field: Field, value: unknown): Draft {
  if (value === undefined) return UNSET;
  if (value === null) return { kind: 'null' };
  const json: Draft = { kind: 'typed', entry: 'json', text: jsonText(value, 2) };
  switch (field.kind) {
    case 'choice':
      return field.options.some((option) => jsonText(option) === jsonText(value)) ? { kind: 'picked', value } : json;
    case 'typed':
      if (typeof value === 'string' && field.entries.includes('text'))
        return { kind: 'typed', entry: 'text', text: value };
      if (typeof value === 'number' && field.entries.includes('number'))
        return { kind: 'typed', entry: 'number', text: jsonText(value) };
      return json;
    case 'list':
      return Array.isArray(value)
        ? { kind: 'list', items: Array.from(value, (item) => draftOf(itemField(field), item)) }
        : json;
    case 'object':
      return isRecord(value) ? objectDraft(field, value, json) : json;
  }
}

function objectDraft(field: Field, value: Readonly<Record<string, unknown>>, json: Draft): Draft {
  const all = Object.entries(value);
  // Without an entry it would be left out.
  if (all.length === 0 && field.depth > 0) return json;
  const known = all.filter(([name]) => hasField(field, name));
  const others = all.filter(([name]) => !hasField(field, name));
  const missing = fieldNames(field).required.filter((name) => !Object.hasOwn(value, name));
  return {
    kind: 'object',
    entries: [
      ...known.map(([name, member]) => [name, draftOf(childField(field, name), member)] as const),
      // Keeps the form from adding what the arguments did not have.
      ...missing.map((name) => [name, UNSET] as const),
    ],
    others: others.length === 0 ? '' : jsonText(Object.fromEntries(others), 2),
  };
}

/** Returns the draft of one property. */
export function entryOf(field: Field, draft: Draft, name: string): Draft {
  const found = draft.kind === 'object' ? draft.entries.find(([key]) => key === name)?.[1] : undefined;
  return found ?? emptyDraft(childField(field, name));
}

/** Returns whether the user gave a value. */
export function isSet(draft: Draft): boolean {
  if (draft.kind === 'object') return draft.others.trim() !== '' || draft.entries.some(([, entry]) => isSet(entry));
  return draft.kind !== 'unset' && draft.kind !== 'fixed';
}

export interface Reading {
  /** Absent if the field is left out. */
  value?: unknown;
  problems: readonly DraftProblem[];
}

/** Returns the value of a draft, with every text that is no value as a problem. */
export function readDraft(field: Field, draft: Draft, path: readonly string[] = []): Reading {
  const problem = (message: string): Reading => ({ problems: [{ path, message }] });
  switch (draft.kind) {
    case 'unset':
      return { problems: [] };
    case 'fixed':
      return field.constant === undefined ? { problems: [] } : { value: field.constant.value, problems: [] };
    case 'null':
      return { value: null, problems: [] };
    case 'picked':
      return { value: draft.value, problems: [] };
    case 'typed':
      return typedValue(draft.entry, draft.text, problem);
    case 'list':
      return listValue(field, draft.items, path);
    case 'object':
      return objectValue(field, draft, path);
  }
}

function listValue(field: Field, items: readonly Draft[], path: readonly string[]): Reading {
  const item = itemField(field);
  const readings = items.map((draft, index): Reading => {
    const place = [...path, String(index)];
    const reading = readDraft(item, draft, place);
    if (reading.problems.length > 0 || 'value' in reading) return reading;
    return { problems: [{ path: place, message: t`Item ${index + 1} is empty: fill it in, or remove it.` }] };
  });
  return { value: readings.map(({ value }) => value), problems: readings.flatMap(({ problems }) => problems) };
}

function objectValue(field: Field, draft: Draft & { kind: 'object' }, path: readonly string[]): Reading {
  if (!field.required && !isSet(draft)) return { problems: [] };
  const problems: DraftProblem[] = [];
  const members: [string, unknown][] = [];
  const add = (name: string, entry: Draft): void => {
    const reading = readDraft(childField(field, name), entry, [...path, name]);
    problems.push(...reading.problems);
    if ('value' in reading) members.push([name, reading.value]);
  };
  const given = new Set(draft.entries.map(([name]) => name));
  for (const [name, entry] of draft.entries) add(name, entry);
  for (const name of fieldNames(field).required) if (!given.has(name)) add(name, emptyDraft(childField(field, name)));
  if (draft.others.trim() !== '') {
    const others = typedValue('json', draft.others, (message) => ({
      problems: [{ path: [...path, OTHERS], message }],
    }));
    problems.push(...others.problems);
    if (isRecord(others.value)) members.push(...Object.entries(others.value));
    else if (others.problems.length === 0)
      problems.push({ path: [...path, OTHERS], message: t`Write a JSON object: {"name": value}.` });
  }
  // `fromEntries` makes `__proto__` a member like any other.
  return { value: Object.fromEntries(members), problems };
}

/** Last key of the path of an object's other properties. A problem of the worker never has it. */
export const OTHERS = '\u0000others';

function typedValue(entry: Entry, text: string, problem: (message: string) => Reading): Reading {
  if (entry === 'text') return { value: text, problems: [] };
  if (entry === 'number' && !/^\s*-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\s*$/.test(text))
    return problem(t`Write a number, such as 12 or -0.5.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return problem(t`This is no JSON: ${(error as Error).message}.`);
  }
  const inexact = inexactNumber(text);
  if (inexact !== undefined)
    return problem(t`${inexact} cannot be sent exactly: it is too large or has too many digits.`);
  return { value, problems: [] };
}

/** Returns the first number of a JSON text that JavaScript would change. */
function inexactNumber(json: string): string | undefined {
  const numbers = json.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? [];
  return numbers.find((text) => {
    const value = Number(text);
    return (
      !Number.isFinite(value) || (/^-?\d+$/.test(text) && jsonText(value) !== text && BigInt(text) !== BigInt(value))
    );
  });
}

/** Returns a draft without secrets, for the state that the editor keeps in a file. */
export function withoutSecrets(field: Field, draft: Draft, name = field.name): Draft {
  switch (draft.kind) {
    case 'object':
      return {
        ...draft,
        entries: draft.entries.map(([key, entry]) => [key, withoutSecrets(childField(field, key), entry, key)]),
        others: holdsSecret(draft.others) ? '' : draft.others,
      };
    case 'list':
      return field.secret
        ? UNSET
        : { ...draft, items: draft.items.map((item) => withoutSecrets(itemField(field), item, name)) };
    case 'typed':
      if (field.secret || isNamedSecret(name, draft.text)) return UNSET;
      return draft.entry === 'json' && holdsSecret(draft.text) ? UNSET : draft;
    case 'picked':
      return field.secret ? UNSET : draft;
    default:
      return draft;
  }
}

function isNamedSecret(name: string, text: string): boolean {
  const found = secretName(name);
  return found !== undefined && isSecretValue(found, text, 'setting');
}

/** Returns whether a JSON text, which may be unfinished, names a secret. */
function holdsSecret(json: string): boolean {
  return (json.match(/[\w-]+/g) ?? []).some((word) => secretName(word) !== undefined);
}

/** Returns a well-formed draft of the kept state, or undefined. */
export function parseDraft(kept: unknown): Draft | undefined {
  if (!isRecord(kept)) return undefined;
  const { kind, entry, text, value, entries, others, items } = kept;
  switch (kind) {
    case 'unset':
    case 'fixed':
    case 'null':
      return { kind };
    case 'typed':
      return (entry === 'text' || entry === 'number' || entry === 'json') && typeof text === 'string'
        ? { kind, entry, text }
        : undefined;
    case 'picked':
      return value === undefined ? undefined : { kind, value };
    case 'list': {
      const drafts = Array.isArray(items) ? items.map(parseDraft) : [undefined];
      return drafts.every((draft) => draft !== undefined) ? { kind, items: drafts } : undefined;
    }
    case 'object': {
      if (!Array.isArray(entries) || typeof others !== 'string') return undefined;
      const pairs = entries.map((pair) =>
        Array.isArray(pair) ? ([pair[0], parseDraft(pair[1])] as const) : undefined,
      );
      const isWhole = (pair: unknown): pair is readonly [string, Draft] =>
        Array.isArray(pair) && typeof pair[0] === 'string' && pair[1] !== undefined;
      return pairs.every(isWhole) ? { kind, entries: pairs, others } : undefined;
    }
    default:
      return undefined;
  }
}
