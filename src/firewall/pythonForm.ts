import { compareCodePoints } from '../catalog/codePointOrder.ts';

/**
 * Values as the specification's first implementation prints them: the forms that its cases pin (001). Iterative, since
 * a server may nest deeper than a stack is high.
 */

/** `str(value)`: `True`, `None`, `[1, 'a']`. Undefined when that would take more than `limit` characters. */
export function pythonText(value: unknown, limit = Number.POSITIVE_INFINITY): string | undefined {
  let text = '';
  for (const piece of typeof value === 'string' ? [value] : pieces(value, PYTHON_TEXT)) {
    text += piece;
    if (text.length > limit) return undefined;
  }
  return text;
}

/** `json.dumps(value, sort_keys=True, ensure_ascii=False)`: a blank behind each comma and colon. */
export function pythonJson(value: unknown): string {
  return [...pythonJsonChunks(value)].join('');
}

const CHUNK_CHARS = 256 * 1024;
/** Containers up to here are gone through one by one, so that a large one is never one string. */
const SPLIT_DEPTH = 2;
const SPLIT_ENTRIES = 100;
const MAX_SPLIT_DEPTH = 6;
/** Beyond, a stack of our own takes over. */
const MAX_RECURSION = 500;

/** The same in pieces, made as they are asked for. */
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

/** A string put together from many is a tree of them, ten times its size, until something reads it. */
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
  entries(value: object): [string, unknown][];
  scalar(value: unknown): string;
}

const PYTHON_TEXT: Form = { entries: Object.entries, scalar: representation };
const PYTHON_JSON: Form = {
  entries: (value) => sortedKeys(value).map((key) => [key, (value as Record<string, unknown>)[key]]),
  scalar: (value) => JSON.stringify(value) ?? 'null',
};

type Step = { text: string } | { value: unknown };

function* pieces(root: unknown, form: Form): Generator<string> {
  const work: Step[] = [{ value: root }];
  for (let step = work.pop(); step !== undefined; step = work.pop()) {
    if ('text' in step) yield step.text;
    else if (typeof step.value !== 'object' || step.value === null) yield form.scalar(step.value);
    else pushContainer(step.value, form, work);
  }
}

/** What is in the container goes on the stack in reverse, so that it comes off in order. */
function pushContainer(value: object, form: Form, work: Step[]): void {
  const isArray = Array.isArray(value);
  const entries = isArray ? value.map((item): [undefined, unknown] => [undefined, item]) : form.entries(value);
  work.push({ text: isArray ? ']' : '}' });
  for (let i = entries.length - 1; i >= 0; i--) {
    const [key, item] = entries[i] as [string | undefined, unknown];
    const lead = (i > 0 ? ', ' : '') + (key === undefined ? '' : `${form.scalar(key)}: `);
    work.push({ value: item }, { text: lead });
  }
  work.push({ text: isArray ? '[' : '{' });
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
