import { compareCodePoints } from '../../catalog/codePointOrder.ts';

/**
 * Values as Python prints them, which the conformance cases pin (M2.9). Iterative, because a server may nest deeper
 * than the stack.
 */

/** Formats `str(value)`: `True`, `None`, `[1, 'a']`. Undefined beyond `limit` characters. */
export function pythonText(value: unknown, limit = Number.POSITIVE_INFINITY): string | undefined {
  let text = '';
  for (const piece of typeof value === 'string' ? [value] : pieces(value, PYTHON_TEXT)) {
    text += piece;
    if (text.length > limit) return undefined;
  }
  return text;
}

const CHUNK_CHARS = 256 * 1024;
/** Depth up to which containers are split, so that a large one is never one string. */
const SPLIT_DEPTH = 2;
const SPLIT_ENTRIES = 100;
const MAX_SPLIT_DEPTH = 6;
/** Recursion depth beyond which an explicit stack is used. */
const MAX_RECURSION = 500;

/** Yields `json.dumps(value, sort_keys=True, ensure_ascii=False)` in pieces: a space after each comma and colon. */
export function* pythonJsonChunks(value: unknown): Generator<string> {
  let chunk = '';
  for (const piece of splitPieces(value, 0)) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARS) continue;
    yield flat(chunk);
    chunk = '';
  }
  if (chunk) yield flat(chunk);
}

/** Flattens a concatenated string, which is a tree of ten times its size until something reads it. */
function flat(text: string): string {
  Number(text);
  return text;
}

function* splitPieces(value: unknown, depth: number): Generator<string> {
  if (typeof value !== 'object' || value === null || !isSplit(value, depth)) {
    yield compact(value, 0);
    return;
  }
  const isArray = Array.isArray(value);
  yield isArray ? '[' : '{';
  let lead = '';
  for (const key of isArray ? value.keys() : sortedKeys(value)) {
    yield isArray ? lead : `${lead}${JSON.stringify(key)}: `;
    yield* splitPieces((value as Record<string | number, unknown>)[key], depth + 1);
    lead = ', ';
  }
  yield isArray ? ']' : '}';
}

function isSplit(value: object, depth: number): boolean {
  if (depth < SPLIT_DEPTH) return true;
  return depth < MAX_SPLIT_DEPTH && Object.keys(value).length > SPLIT_ENTRIES;
}

function compact(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > MAX_RECURSION) return [...pieces(value, PYTHON_JSON)].join('');
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += (text ? ', ' : '') + compact(item, depth + 1);
    return `[${text}]`;
  }
  for (const key of sortedKeys(value)) {
    const item = compact((value as Record<string, unknown>)[key], depth + 1);
    text += `${text ? ', ' : ''}${JSON.stringify(key)}: ${item}`;
  }
  return `{${text}}`;
}

function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let i = 1; i < keys.length; i++) {
    if (compareCodePoints(keys[i - 1] as string, keys[i] as string) > 0) return keys.sort(compareCodePoints);
  }
  return keys;
}

interface Form {
  keys(value: object): string[];
  scalar(value: unknown): string;
}

const PYTHON_TEXT: Form = { keys: Object.keys, scalar: representation };
const PYTHON_JSON: Form = { keys: sortedKeys, scalar: (value) => JSON.stringify(value) ?? 'null' };

/** Container in progress. Only requested members are inspected. */
interface Frame {
  value: Record<string | number, unknown>;
  /** Keys of an object; undefined for an array. */
  keys: string[] | undefined;
  length: number;
  at: number;
}

function* pieces(root: unknown, form: Form): Generator<string> {
  const stack: Frame[] = [];
  const enter = (value: unknown): string => {
    if (typeof value !== 'object' || value === null) return form.scalar(value);
    const keys = Array.isArray(value) ? undefined : form.keys(value);
    const length = keys?.length ?? (value as unknown[]).length;
    stack.push({ value: value as Frame['value'], keys, length, at: 0 });
    return keys ? '{' : '[';
  };
  yield enter(root);
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.at === frame.length) {
      stack.pop();
      yield frame.keys ? '}' : ']';
      continue;
    }
    const key = frame.keys?.[frame.at];
    const lead = frame.at > 0 ? ', ' : '';
    yield key === undefined ? lead : `${lead}${form.scalar(key)}: `;
    frame.at += 1;
    yield enter(frame.value[key ?? frame.at - 1]);
  }
}

function representation(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (typeof value !== 'string') return String(value);
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'";
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}
