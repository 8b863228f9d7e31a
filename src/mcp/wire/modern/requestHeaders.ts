import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import { NAME_PARAMS } from '../../modern/wire.ts';
import { standardHeaders } from './eras.ts';

const HEADER_KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Text that passes as the value of a header unchanged. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;
const MAX_NESTING = 32;
/** Types of arguments that a header can repeat. */
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

type Schema = Readonly<Record<string, unknown>>;

/** Argument that a header repeats. */
interface HeaderArgument {
  path: readonly string[];
  header: string;
}

/** Headers of requests over HTTP: they repeat parts of the body, so that proxies need not read it. */
export class RequestHeaders {
  readonly #requests = new Map<RequestId, Readonly<Record<string, string>>>();
  /** Arguments that headers repeat, by the tool. */
  readonly #arguments = new Map<string, readonly HeaderArgument[]>();

  /** Notes the arguments that a tool wants in headers. Returns false if they are invalid: no client may call it. */
  learn(tool: unknown): boolean {
    if (!isRecord(tool) || typeof tool.name !== 'string') return true;
    const found = headerArguments(tool.inputSchema);
    this.#arguments.set(tool.name, found);
    const names = new Set(found.map(({ header }) => header.toLowerCase()));
    return names.size === annotationsIn(tool.inputSchema);
  }

  add({ id, method, params = {} }: JSONRPCRequest): void {
    const headers = standardHeaders(method);
    const named = NAME_PARAMS.get(method);
    const name = named === undefined ? undefined : params[named];
    if (typeof name === 'string') headers['mcp-name'] = headerValue(name);
    const repeated = method === 'tools/call' ? this.#arguments.get(String(name)) : undefined;
    for (const { path, header } of repeated ?? []) {
      const value = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), params.arguments);
      if (isPrimitive(value)) headers[`mcp-param-${header}`] = headerValue(String(value));
    }
    this.#requests.set(id, headers);
  }

  of(id: RequestId): Readonly<Record<string, string>> | undefined {
    return this.#requests.get(id);
  }

  delete(id: RequestId): void {
    this.#requests.delete(id);
  }
}

function headerArguments(schema: unknown, path: readonly string[] = []): HeaderArgument[] {
  if (!isRecord(schema) || !isRecord(schema.properties) || path.length >= MAX_NESTING) return [];
  return Object.entries(schema.properties).flatMap(([key, child]) => {
    const at = [...path, key];
    const header = isRecord(child) ? child[HEADER_KEY] : undefined;
    const isValid = typeof header === 'string' && TOKEN.test(header) && TYPES.has((child as Schema).type);
    const own = isValid ? [{ path: at, header }] : [];
    return [...own, ...headerArguments(child, at)];
  });
}

/** Counts the annotations at any place of a schema; most of the places are invalid. */
function annotationsIn(schema: unknown, depth = 0): number {
  if (typeof schema !== 'object' || schema === null || depth > 3 * MAX_NESTING) return 0;
  return Object.entries(schema).reduce((sum, [key, value]) => {
    // A property may have the name.
    const isOne = key === HEADER_KEY && !isRecord(value);
    return sum + (isOne ? 1 : annotationsIn(value, depth + 1));
  }, 0);
}

function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function headerValue(text: string): string {
  const isPlain = PLAIN.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
