import type { ErrorObject } from 'ajv';
import { groupBy } from '../../catalog/cluster.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { nearest } from '../../text/nearest.ts';
import { quoted, shortened } from '../../text/porcelain.ts';
import { dotted, type JsonObject, type JsonPath } from '../json.ts';
import { alternatives, describeSchema, kindOf } from './describeSchema.ts';
import { resolvePointer } from './schemaProfile.ts';

/** Error in the arguments, with enough detail to correct it. Never contains a value of the arguments. */
export interface ArgumentProblem {
  /** Keys and indices from the root of the arguments. */
  path: JsonPath;
  /** Place of the argument itself: for a missing or unknown one its own, where `path` is that of its object. */
  place: JsonPath;
  message: string;
  /** Key or value that was most likely meant. Never applied. */
  suggestion?: string;
  /** JSON pointer to the part of the schema that decides. */
  schemaAt: string;
}

/** A comparison takes some 5 µs, and a hostile schema has thousands of candidates for each of hundreds of errors. */
const MAX_COMPARISONS = 1_500;
const MAX_WORD = 40;
/** Keys of a value to search for a misspelled one. */
const MAX_GIVEN = 50;

/** Returns every error, the shallowest first. The branches of a failed alternative become one error. */
export function explainErrors(errors: readonly ErrorObject[], schema: unknown, args: unknown): ArgumentProblem[] {
  const relevant = dropBranches(errors, args);
  const ordered = (relevant.length > 0 ? relevant : [...errors])
    .map((error) => ({ error, path: pathOf(error) }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const guess = new Guess();
  const problems = new Map<string, ArgumentProblem>();
  for (const { error, path } of ordered) {
    const problem = explain(error, path, { schema, args, guess });
    problems.set(`${JSON.stringify(problem.path)}${problem.message}`, problem);
  }
  return [...problems.values()];
}

interface Context {
  schema: unknown;
  args: unknown;
  guess: Guess;
}

/**
 * Reduces the errors of a failed `anyOf` or `oneOf`, which ajv reports for every branch. If only one branch wants this
 * kind of value, its errors replace the alternative; otherwise only the alternative's error remains.
 */
function dropBranches(errors: readonly ErrorObject[], args: unknown): ErrorObject[] {
  let kept = errors.filter((error) => error.keyword !== 'if');
  for (const choice of errors) {
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || !kept.includes(choice)) continue;
    const prefix = `${choice.schemaPath}/`;
    const under = kept.filter((error) => error !== choice && isWithin(error, choice, prefix));
    if (under.length === 0) continue;
    const branches = groupBy(under, (error) => branchOf(error, prefix));
    const fitting = [...branches.values()].filter((branch) =>
      branch.every((error) => !wantsAnotherKind(error, choice)),
    );
    const meant = fitting.length === 1 && typeof valueAt(args, pathOf(choice)) === 'object' ? fitting[0] : undefined;
    const dropped = new Set(meant ? [choice, ...under.filter((error) => !meant.includes(error))] : under);
    kept = kept.filter((error) => !dropped.has(error));
  }
  return kept;
}

/**
 * Whether an error belongs to a branch: at its place or below. A `$ref` in the branch leads the schema path elsewhere.
 */
function isWithin(error: ErrorObject, choice: ErrorObject, prefix: string): boolean {
  if (error.schemaPath.startsWith(prefix)) return true;
  const deeper = error.instancePath === choice.instancePath || error.instancePath.startsWith(`${choice.instancePath}/`);
  const ownPath = choice.schemaPath.slice(0, choice.schemaPath.lastIndexOf('/'));
  return deeper && !error.schemaPath.startsWith(`${ownPath}/`) && error.instancePath !== '';
}

function branchOf(error: ErrorObject, prefix: string): string {
  if (error.schemaPath.startsWith(prefix)) return error.schemaPath.slice(prefix.length).split('/')[0] as string;
  return error.schemaPath.slice(0, error.schemaPath.lastIndexOf('/'));
}

function wantsAnotherKind(error: ErrorObject, choice: ErrorObject): boolean {
  return error.instancePath === choice.instancePath && ['type', 'const', 'enum'].includes(error.keyword);
}

function explain(error: ErrorObject, path: JsonPath, { schema, args, guess }: Context): ArgumentProblem {
  const schemaAt = error.schemaPath.slice(0, Math.max(1, error.schemaPath.lastIndexOf('/')));
  const value = valueAt(args, path);
  const parent = resolvePointer(schema, schemaAt);
  const description = describeError(error, isRecord(parent) ? parent : {}, value, schema, guess);
  const place = path.length === 0 ? '' : `${shortened(dotted(path), 100)} `;
  const subject = description.own ? '' : place || 'the arguments ';
  const at = description.own && path.length > 0 ? ` (in ${shortened(dotted(path), 100)})` : '';
  const hint = description.suggestion === undefined ? '' : `; did you mean ${quoted(description.suggestion)}?`;
  const own = ownKey(error);
  return {
    path,
    place: own === undefined ? path : [...path, own],
    message: `${subject}${description.text}${at}${hint}`,
    ...(description.suggestion === undefined ? {} : { suggestion: description.suggestion }),
    schemaAt,
  };
}

/** Returns the key that an error of an object is about. */
function ownKey({ params }: ErrorObject): string | undefined {
  const key = params.missingProperty ?? params.additionalProperty ?? params.unevaluatedProperty ?? params.propertyName;
  return key === undefined ? undefined : String(key);
}

interface Description {
  text: string;
  suggestion?: string | undefined;
  /** Whether the text names its own subject. */
  own?: boolean;
}

function describeError(
  error: ErrorObject,
  parent: JsonObject,
  value: unknown,
  root: unknown,
  guess: Guess,
): Description {
  const params = error.params as JsonObject;
  const properties = isRecord(parent.properties) ? parent.properties : {};
  switch (error.keyword) {
    case 'required': {
      const missing = String(params.missingProperty);
      const given = guess.keysOf(value).filter((key) => !Object.hasOwn(properties, key));
      const wrong = guess.closest(missing, given);
      const meant = Object.hasOwn(properties, missing) ? `: ${describeSchema(properties[missing], root)}` : '';
      const [unknown] = given;
      const instead = unknown === undefined ? '' : `; ${quoted(unknown)} is unknown`;
      const hint = wrong === undefined ? instead : `; you gave ${quoted(wrong)}`;
      return { text: `${quoted(missing)} is missing${meant}${hint}`, own: true };
    }
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const extra = String(params.additionalProperty ?? params.unevaluatedProperty);
      const names = Object.keys(properties);
      const given = isRecord(value) ? value : {};
      const suggestion = guess.closest(
        extra,
        names.filter((name) => !Object.hasOwn(given, name)),
      );
      const takes = suggestion === undefined && names.length > 0 ? `; it takes ${listed(names)}` : '';
      return { text: `${quoted(extra)} is not an argument${takes}`, suggestion, own: true };
    }
    case 'propertyNames':
      return { text: `${quoted(String(params.propertyName))} is not an allowed name`, own: true };
    case 'type':
      return { text: `must be ${describeSchema({ type: params.type }, root)}, not ${kindOf(value)}` };
    case 'enum': {
      const allowed = Array.isArray(params.allowedValues) ? params.allowedValues : [];
      const names = allowed.filter((option): option is string => typeof option === 'string');
      return { text: `must be ${alternatives(allowed)}`, suggestion: guess.value(value, names) };
    }
    case 'const':
      return { text: `must be exactly ${alternatives([params.allowedValue])}` };
    case 'format':
    case 'pattern':
      return { text: `must be ${describeSchema({ type: 'string', [error.keyword]: params[error.keyword] }, root)}` };
    case 'anyOf':
    case 'oneOf': {
      if (Array.isArray(params.passingSchemas)) return { text: 'matches more than one of its alternatives' };
      const branches = parent[error.keyword];
      const options = Array.isArray(branches)
        ? [...new Set(branches.map((branch) => describeSchema(branch, root)))]
        : [];
      return {
        text: options.length > 0 ? `must be ${options.slice(0, 6).join(', or ')}` : 'matches none of its alternatives',
      };
    }
    case 'not':
      return { text: 'has a forbidden form' };
    case 'false schema':
      return { text: 'is not allowed' };
    case 'uniqueItems':
      return { text: `must not repeat an item: numbers ${params.j} and ${params.i} are the same` };
    case 'dependentRequired':
    case 'dependencies':
      return {
        text: `${quoted(String(params.missingProperty))} is required together with ${quoted(String(params.property))}`,
        own: true,
      };
    case 'minLength':
      return { text: `must have at least ${params.limit} characters` };
    case 'maxLength':
      return { text: `must have at most ${params.limit} characters` };
    case 'minItems':
      return { text: `must have at least ${params.limit} items` };
    case 'maxItems':
      return { text: `must have at most ${params.limit} items` };
    case 'minimum':
      return { text: `must be at least ${params.limit}` };
    case 'maximum':
      return { text: `must be at most ${params.limit}` };
    case 'exclusiveMinimum':
      return { text: `must be more than ${params.limit}` };
    case 'exclusiveMaximum':
      return { text: `must be less than ${params.limit}` };
    case 'multipleOf':
      return { text: `must be a multiple of ${params.multipleOf}` };
    default:
      return { text: error.message ?? 'is not valid' };
  }
}

/** Finds the nearest known names, with a bounded number of comparisons for all errors together. */
class Guess {
  #left = MAX_COMPARISONS;
  readonly #keys = new WeakMap<object, readonly string[]>();

  /** Returns the first keys of a value. `Object.keys` always lists all keys, so the list is cached. */
  keysOf(value: unknown): readonly string[] {
    if (!isRecord(value)) return [];
    const keys = this.#keys.get(value) ?? Object.keys(value).slice(0, MAX_GIVEN);
    this.#keys.set(value, keys);
    return keys;
  }

  value(value: unknown, names: readonly string[]): string | undefined {
    return typeof value === 'string' ? this.closest(value.trim(), names) : undefined;
  }

  closest(word: string, known: readonly string[]): string | undefined {
    if (word.length > MAX_WORD) return undefined;
    const folded = fold(word);
    const candidates = known.slice(0, this.#left).filter((name) => name.length <= MAX_WORD);
    this.#left -= candidates.length;
    return candidates.find((name) => fold(name) === folded) ?? nearest(word, candidates);
  }
}

/** Treats `issueId`, `issue_id` and `issue-id` as one word. */
function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_.-]/g, '');
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 12).map((name) => shortened(name, 40));
  return `${shown.join(', ')}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ''}`;
}

export function pathOf(error: Pick<ErrorObject, 'instancePath'>): JsonPath {
  if (error.instancePath === '') return [];
  return error.instancePath
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the value at a path. */
function valueAt(root: unknown, path: JsonPath): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

function comparePaths(a: JsonPath, b: JsonPath): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i] as string | number, b[i] as string | number];
    if (x === y) continue;
    const numbers = [Number(x), Number(y)] as const;
    if (!Number.isNaN(numbers[0]) && !Number.isNaN(numbers[1])) return numbers[0] - numbers[1];
    return String(x) < String(y) ? -1 : 1;
  }
  return a.length - b.length;
}
