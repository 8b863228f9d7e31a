import { GatewayError } from '../../errors/gatewayError.ts';
import { nearest } from '../../text/nearest.ts';
import { count, shortened } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import type { ArtifactReader } from '../artifacts/artifactReader.ts';
import { jsonKeys, looksLikeJson } from './json.ts';
import { head, lines, range, tail } from './positional.ts';
import type { Selection } from './selection.ts';
import { columns, delimiterOf, rows } from './table.ts';

/** The selectors of `tool_view` (G11.2). */

export type SelectorInput = Readonly<Record<string, unknown>>;

type FieldType = 'integer' | 'count' | 'text' | 'texts' | 'names' | 'flag';

interface SelectorKind {
  /** Example that a model may copy. */
  example: string;
  fields: Readonly<Record<string, FieldType>>;
  required?: readonly string[];
  select(reader: ArtifactReader, given: Given): Promise<Selection>;
}

const DEFAULT_HEAD_CHARS = 500;
const DEFAULT_TAIL_LINES = 50;
const DEFAULT_MATCHES = 30;
const MAX_CONTEXT = 20;
const MAX_MATCHES = 500;

/** Selectors by type. Two need a library and load it on first use, so that a worker starts without it. */
const KINDS: Readonly<Record<string, SelectorKind>> = {
  head: {
    example: '{"type": "head", "chars": 2000}',
    fields: { chars: 'integer' },
    select: (reader, given) => head(reader, given.number('chars', DEFAULT_HEAD_CHARS)),
  },
  tail: {
    example: '{"type": "tail", "lines": 50}',
    fields: { lines: 'count' },
    select: (reader, given) => tail(reader, given.number('lines', DEFAULT_TAIL_LINES)),
  },
  lines: {
    example: '{"type": "lines", "start": 0, "end": 80}',
    fields: { start: 'integer', end: 'integer' },
    select: (reader, given) => lines(reader, given.number('start', 0), given.optionalNumber('end')),
  },
  range: {
    example: '{"type": "range", "start": 0, "end": 6000}',
    fields: { start: 'integer', end: 'integer' },
    select: (reader, given) => range(reader, given.number('start', 0), given.number('end', Number.MAX_SAFE_INTEGER)),
  },
  rows: {
    example: '{"type": "rows", "start": 0, "end": 20}',
    fields: { start: 'integer', end: 'integer' },
    select: (reader, given) => rows(reader, given.number('start', 0), given.optionalNumber('end')),
  },
  columns: {
    example: '{"type": "columns", "columns": ["name"], "start": 1, "end": 50}',
    fields: { columns: 'names', start: 'count', end: 'count' },
    required: ['columns'],
    select: (reader, given) =>
      columns(reader, given.names('columns'), given.number('start', 1), given.optionalNumber('end')),
  },
  grep: {
    example: '{"type": "grep", "pattern": "(?i)error", "context": 2, "limit": 20}',
    fields: { pattern: 'text', ignore_case: 'flag', context: 'count', limit: 'count', start: 'count', offset: 'count' },
    required: ['pattern'],
    select: async (reader, given) =>
      (await import('./grep.ts')).grep(reader, {
        pattern: given.text('pattern'),
        ignoreCase: given.flag('ignore_case'),
        context: Math.min(given.number('context', 0), MAX_CONTEXT),
        limit: Math.min(Math.max(given.number('limit', DEFAULT_MATCHES), 1), MAX_MATCHES),
        start: given.number('start', 0),
        offset: given.number('offset', 0),
      }),
  },
  json_keys: {
    example: '{"type": "json_keys", "keys": ["items"]}',
    fields: { keys: 'texts' },
    select: (reader, given) => jsonKeys(reader, given.texts('keys')),
  },
  json_path: {
    example: '{"type": "json_path", "path": "$.items[?@.state == \'open\'].title"}',
    fields: { path: 'text', start: 'count' },
    required: ['path'],
    select: async (reader, given) =>
      (await import('./jsonPath.ts')).jsonPath(reader, given.text('path'), given.number('start', 0)),
  },
  info: { example: '{"type": "info"}', fields: {}, select: (reader) => info(reader) },
};

export const SELECTOR_TYPES: readonly string[] = Object.keys(KINDS);
export function integerFieldsOf(type: string): string[] {
  const fields = Object.hasOwn(KINDS, type) ? KINDS[type]?.fields : undefined;
  return Object.entries(fields ?? {}).flatMap(([name, kind]) => (kind === 'integer' || kind === 'count' ? [name] : []));
}

export const SELECTOR_EXAMPLES: readonly string[] = Object.values(KINDS).map(({ example }) => example);

/** Throws VIEW_FAILED for a selector that does not fit, and ARGS_INVALID for a value of the wrong type (G11.4). */
export async function select(reader: ArtifactReader, selector: SelectorInput): Promise<Selection> {
  const kind = selectorOf(selector);
  // A picture or an archive has no text: describe it.
  return (await isText(reader)) ? kind.select(reader, new Given(selector)) : info(reader);
}

const SNIFFED_BYTES = 4_096;
const BINARY_TYPES = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:gzip|zip|pdf|wasm)\b)/;

/** Returns whether the artifact is text. Content that came as text counts as text, NULs included. */
export async function isText(reader: ArtifactReader): Promise<boolean> {
  const { mediaType } = reader.info;
  if (mediaType.startsWith('text/')) return true;
  return !BINARY_TYPES.test(mediaType) && !(await reader.read(0, SNIFFED_BYTES)).includes(0);
}

function selectorOf(selector: SelectorInput): SelectorKind {
  const type = selector.type;
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind) throw notKnown(type);
  for (const [name, value] of Object.entries(selector)) {
    if (name === 'type') continue;
    const expected = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
    if (!expected) throw unfit(`The selector "${type}" has no "${name.slice(0, 40)}"`, kind);
    if (value !== null && !FIELD_TYPES[expected].fits(value)) {
      throw new GatewayError(
        'ARGS_INVALID',
        `"${name}" of the selector must be ${FIELD_TYPES[expected].words}: ${kind.example}.`,
        {
          details: { path: ['selector', name] },
        },
      );
    }
  }
  const missing = kind.required?.find((name) => selector[name] === undefined || selector[name] === null);
  if (missing !== undefined) throw unfit(`The selector "${type}" needs "${missing}"`, kind);
  return kind;
}

function notKnown(type: unknown): GatewayError {
  const suggestion = typeof type === 'string' ? nearest(type, Object.keys(KINDS)) : undefined;
  const what =
    type === undefined ? 'The selector has no "type"' : `There is no selector ${shortened(visibleJson(type), 60)}`;
  const hint = suggestion ? `; did you mean "${suggestion}"?` : '.';
  return new GatewayError('VIEW_FAILED', `${what}${hint} Use one of those in details.`, {
    details: { selectors: SELECTOR_EXAMPLES },
  });
}

function unfit(what: string, { example }: SelectorKind): GatewayError {
  return new GatewayError('VIEW_FAILED', `${what}; it is written ${example}.`, {
    details: { selectors: SELECTOR_EXAMPLES },
  });
}

const FIELD_TYPES: Readonly<Record<FieldType, { words: string; fits(value: unknown): boolean }>> = {
  integer: { words: 'a whole number', fits: (value) => Number.isSafeInteger(value) },
  count: { words: 'a whole number, 0 or more', fits: (value) => Number.isSafeInteger(value) && (value as number) >= 0 },
  text: { words: 'a string', fits: (value) => typeof value === 'string' },
  texts: { words: 'a list of strings', fits: (value) => isListOf(value, ['string']) },
  names: { words: 'a list of column names or numbers', fits: (value) => isListOf(value, ['string', 'number']) },
  flag: { words: 'true or false', fits: (value) => typeof value === 'boolean' },
};

function isListOf(value: unknown, types: readonly string[]): boolean {
  return Array.isArray(value) && value.length <= 1_000 && value.every((item) => types.includes(typeof item));
}

/** Values of a checked selector. */
class Given {
  readonly #selector: SelectorInput;

  constructor(selector: SelectorInput) {
    this.#selector = selector;
  }

  number(name: string, fallback: number): number {
    return this.optionalNumber(name) ?? fallback;
  }

  optionalNumber(name: string): number | undefined {
    return (this.#selector[name] as number | null | undefined) ?? undefined;
  }

  text(name: string): string {
    return this.#selector[name] as string;
  }

  texts(name: string): readonly string[] {
    return (this.#selector[name] as readonly string[] | null | undefined) ?? [];
  }

  names(name: string): readonly (string | number)[] {
    return this.#selector[name] as readonly (string | number)[];
  }

  flag(name: string): boolean {
    return this.#selector[name] === true;
  }
}

/** Describes an artifact without reading far into it, with suitable selectors. */
async function info(reader: ArtifactReader): Promise<Selection> {
  const { handle, label, mediaType, size, lines: total, sha256 } = reader.info;
  const suited = await suitedSelectors(reader);
  const amount = suited.length > 0 ? `, ${count(total, 'line')}` : ', not text';
  return {
    text: [
      `handle: ${handle}`,
      `label: ${label}`,
      `media type: ${mediaType}`,
      `size: ${count(size, 'byte')}${amount}`,
      `sha256: ${sha256}`,
      ...(suited.length > 0 ? ['selectors:'] : []),
      ...suited.map((name) => `  ${KINDS[name]?.example}`),
    ].join('\n'),
  };
}

async function suitedSelectors(reader: ArtifactReader): Promise<string[]> {
  if (!(await isText(reader))) return [];
  const always = ['head', 'tail', 'lines', 'range', 'grep'];
  if (await looksLikeJson(reader)) return ['json_path', 'json_keys', ...always];
  return (await delimiterOf(reader)) === undefined ? always : ['rows', 'columns', ...always];
}
