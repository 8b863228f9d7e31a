import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import { standardHeaders } from './eras.ts';

/** Member of the parameters that the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};
const HEADER_KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Text that passes as the value of a header unchanged. */
const PLAIN = /^[!-~](?:[\t -~]*[!-~])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;
const MAX_NESTING = 16;

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

  /** Notes the tools that want arguments in headers. */
  learn(tools: unknown): void {
    for (const tool of Array.isArray(tools) ? tools : []) {
      if (!isRecord(tool) || typeof tool.name !== 'string') continue;
      const found = headerArguments(tool.inputSchema);
      if (found.length > 0) this.#arguments.set(tool.name, found);
      else this.#arguments.delete(tool.name);
    }
  }

  add({ id, method, params = {} }: JSONRPCRequest): void {
    const headers = standardHeaders(method);
    const named = NAMED_BY[method];
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
    const own = typeof header === 'string' && TOKEN.test(header) ? [{ path: at, header }] : [];
    return [...own, ...headerArguments(child, at)];
  });
}

function isPrimitive(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function headerValue(text: string): string {
  const isPlain = PLAIN.test(text) && !ENCODED.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
