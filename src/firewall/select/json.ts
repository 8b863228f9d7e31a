import { FunctionExpressionType, JSONPathEnvironment, type JSONValue } from 'json-p3';
import { RE2JS } from 're2js';
import { compareCodePoints } from '../../catalog/codePointOrder.ts';
import { count, groupDigits } from '../../ops/porcelain.ts';
import type { ArtifactReader } from '../artifactReader.ts';
import { MAX_JSON_BYTES } from './jsonLimit.ts';
import { fits, fittingPrefix, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { TimeBoxError, timeBoxed } from './timeBox.ts';
import { viewFailed } from './viewFailed.ts';

/** A query answers within this or not at all: the worker serves others too. */
const QUERY_MS = 250;
const MAX_QUERY_CHARS = 400;
const MAX_NODES = 10_000;

/** 000 §4.2: pretty JSON of the named top-level keys; empty when it is no JSON object. */
export async function jsonKeys(reader: ArtifactReader, keys: readonly string[]): Promise<Selection> {
  if (!(await looksLikeJson(reader))) return { text: '' };
  let value: unknown;
  try {
    value = await parseJson(reader);
  } catch (error) {
    if (reader.info.size > MAX_JSON_BYTES) throw error;
    return { text: '' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { text: '' };
  const all = Object.entries(value);
  const chosen = all.filter(([key]) => keys.includes(key));
  const text = prettySorted(Object.fromEntries(chosen));
  if (fits(text, MAX_SELECTION_CHARS)) return { text };
  const [key = ''] = chosen.map(([name]) => name);
  return cutJson(text, { type: 'json_path', path: `$[${JSON.stringify(key)}][0:10]` });
}

/** The values that an RFC 9535 query finds, one per line. */
export async function jsonPath(reader: ArtifactReader, path: string, start: number): Promise<Selection> {
  if (path.length > MAX_QUERY_CHARS) throw viewFailed(`The path is longer than ${MAX_QUERY_CHARS} characters.`);
  const value = await parseJson(reader);
  const values = query(path, value as JSONValue);
  const [only] = values;
  if (values.length === 1 && start === 0) {
    const text = JSON.stringify(only, null, 2);
    if (fits(text, MAX_SELECTION_CHARS)) return { text, place: 'the only match' };
    return cutJson(text, Array.isArray(only) ? { type: 'json_path', path: `${path}[*]` } : undefined);
  }
  const shown: string[] = [];
  let used = 0;
  for (const found of values.slice(start)) {
    const line = JSON.stringify(found);
    if (!fits(line, MAX_SELECTION_CHARS - used)) break;
    shown.push(line);
    used += line.length + 1;
  }
  const all = values.length === MAX_NODES ? `${groupDigits(MAX_NODES)} or more` : groupDigits(values.length);
  if (values.length <= start) return { text: '', place: values.length === 0 ? 'no match' : `no match beyond ${all}` };
  if (shown.length === 0) {
    const long = JSON.stringify(values[start]);
    return {
      ...cutJson(long, { type: 'json_path', path, start: start + 1 }),
      place: `the beginning of match ${start} of ${all}`,
    };
  }
  const end = start + shown.length;
  return {
    text: shown.join('\n'),
    place: `matches ${start}–${end - 1} of ${all}`,
    next: end < values.length ? { type: 'json_path', path, start: end } : undefined,
  };
}

export async function looksLikeJson(reader: ArtifactReader): Promise<boolean> {
  return /^\s*[{[]/.test((await reader.read(0, 1024)).toString('utf8').replace(/^\ufeff/, ''));
}

/** Throws VIEW_FAILED. */
export async function parseJson(reader: ArtifactReader): Promise<unknown> {
  const { size } = reader.info;
  if (size > MAX_JSON_BYTES) {
    throw viewFailed(
      `This is ${count(size, 'byte')}; JSON beyond ${groupDigits(MAX_JSON_BYTES)} bytes is not parsed: use "grep" or "range".`,
    );
  }
  try {
    return JSON.parse((await reader.read(0, size)).toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw viewFailed(`This is not JSON (${(error as Error).message.slice(0, 120)}); read it by "lines" or "grep".`);
  }
}

function query(path: string, value: JSONValue): JSONValue[] {
  let compiled: ReturnType<JSONPathEnvironment['compile']>;
  try {
    compiled = ENVIRONMENT.compile(path);
  } catch (error) {
    throw viewFailed(`The path is no JSONPath (RFC 9535): ${(error as Error).message.slice(0, 160)}.`);
  }
  try {
    return timeBoxed(QUERY_MS, () => {
      const values: JSONValue[] = [];
      for (const node of compiled.lazyQuery(value)) {
        values.push(node.value);
        if (values.length === MAX_NODES) break;
      }
      return values;
    });
  } catch (error) {
    const why = error instanceof TimeBoxError ? error.message : (error as Error).message.slice(0, 160);
    throw viewFailed(`The query was ended (${why}); ask for less at a time, without ".." or nested filters.`);
  }
}

/** The functions of RFC 9535 that take a pattern, in linear time: those of the library backtrack. */
function patternFunction(isWhole: boolean): Parameters<JSONPathEnvironment['functionRegister']['set']>[1] {
  let last: { pattern: string; compiled: RE2JS | undefined } | undefined;
  return {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call(text: unknown, pattern: unknown): boolean {
      if (typeof text !== 'string' || typeof pattern !== 'string') return false;
      if (last?.pattern !== pattern) last = { pattern, compiled: compilePattern(pattern) };
      const matcher = last.compiled?.matcher(text);
      return matcher ? (isWhole ? matcher.matches() : matcher.find()) : false;
    },
  };
}

function compilePattern(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch {
    return undefined;
  }
}

const ENVIRONMENT = new JSONPathEnvironment({ maxRecursionDepth: 500 });
ENVIRONMENT.functionRegister.set('match', patternFunction(true));
ENVIRONMENT.functionRegister.set('search', patternFunction(false));

function cutJson(text: string, next: Selection['next']): Selection {
  const shown = fittingPrefix(text, MAX_SELECTION_CHARS);
  return { text: shown, place: `the first ${groupDigits(shown.length)} of ${count(text.length, 'character')}`, next };
}

function prettySorted(value: unknown): string {
  try {
    return JSON.stringify(sortDeep(value), null, 2);
  } catch {
    throw viewFailed('This JSON nests too deep to be shown; read it by "range".');
  }
}

function sortDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortDeep);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => compareCodePoints(a, b));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortDeep(item)]));
}
