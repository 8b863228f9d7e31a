import { Script } from 'node:vm';
import { FunctionExpressionType, JSONPathEnvironment, type JSONValue } from 'json-p3';
import { RE2JS } from 're2js';
import { groupDigits } from '../../text/porcelain.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { cutJson, parseJson } from './json.ts';
import { fits, MAX_SELECTION_CHARS, type Selection } from './selection.ts';
import { viewFailed } from './viewFailed.ts';

/** Time limit of a query, because the worker serves others too. */
const QUERY_MS = 250;
const MAX_QUERY_CHARS = 400;
const MAX_NODES = 10_000;

/** Returns the values that an RFC 9535 query finds, one per line. */
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

/** Returns a pattern function of RFC 9535 in linear time; those of the library backtrack. */
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

class TimeBoxError extends Error {
  override readonly name = 'TimeBoxError';
}

interface Box {
  run: () => unknown;
  result: unknown;
}

const CALL = new Script('box => { box.result = box.run(); }').runInThisContext() as (box: Box) => void;
const KEY = Symbol.for('waygate.timeBox');
const ENTER = new Script(`(({ call, box }) => call(box))(globalThis[Symbol.for('waygate.timeBox')])`);

/**
 * Runs synchronous code with a time limit, which only V8 itself can enforce. For our code over foreign queries; the
 * code must leave nothing half-done.
 */
function timeBoxed<T>(ms: number, run: () => T): T {
  const box: Box = { run, result: undefined };
  const store = globalThis as unknown as Record<symbol, unknown>;
  store[KEY] = { call: CALL, box };
  try {
    ENTER.runInThisContext({ timeout: ms });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TimeBoxError(`took longer than ${ms} ms`);
    }
    throw error;
  } finally {
    delete store[KEY];
  }
  return box.result as T;
}
