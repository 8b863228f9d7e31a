import { resolve } from 'node:path';
import { documentSchema } from '../../src/config/declaration/document.ts';

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  pattern?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  markdownDescription?: string;
  exclusiveMinimum?: number;
  minimum?: number;
  maximum?: number;
}

export const schema = JSON.parse(JSON.stringify(documentSchema())) as Schema & { definitions: { server: Schema } };
const { servers: _servers, ...blocks } = schema.properties ?? {};
export const server = schema.definitions.server;

/** Values whose form JSON Schema types do not express. */
const VALUES: Readonly<Record<string, unknown>> = {
  // Any regular file with lines of variables will do.
  envFile: resolve('test/config/sample.env'),
  url: 'https://example.com/mcp',
  issuer: 'https://login.example.com',
  clientSecret: '${secret:ours}',
  tokens: ['${secret:ours}'],
  retryableCodes: ['RATE_LIMITED'],
  tags: ['destructive'],
  disabled: false,
};

/** Returns a value that a schema allows, with every key that it knows. */
function sample(one: Schema, name = ''): unknown {
  if (name in VALUES) return VALUES[name];
  if (one.enum) return one.enum[0];
  if (one.properties) return Object.fromEntries(Object.entries(one.properties).map(([k, v]) => [k, sample(v, k)]));
  if (typeof one.additionalProperties === 'object') return { 'a-b': sample(one.additionalProperties) };
  const type = [one.type].flat()[0];
  if (type === 'array') return [sample(one.items ?? {})];
  if (type === 'object') return {};
  return type === 'boolean' ? true : type === 'string' ? 'x' : (one.maximum ?? one.minimum ?? 1);
}

function serverSample(...without: string[]): object {
  const keys = Object.entries(server.properties ?? {}).filter(([name]) => !without.includes(name));
  return Object.fromEntries(keys.map(([name, one]) => [name, sample(one, name)]));
}
const PROGRAM_KEYS = ['command', 'args', 'env', 'envFile', 'cwd', 'sandbox'];
const PROGRAM = serverSample('url', 'headers', 'auth', 'tokens');
const ADDRESS = { ...serverSample(...PROGRAM_KEYS, 'tokens'), type: 'http' };
const RECORDS = { ...serverSample(...PROGRAM_KEYS, 'headers', 'auth'), type: 'records' };
/** Configuration with every key. */
export const EVERYTHING = {
  ...Object.fromEntries(Object.entries(blocks).map(([name, one]) => [name, sample(one, name)])),
  servers: { one: PROGRAM, two: ADDRESS, three: RECORDS, four: { type: 'records' } },
};

/** Paths of all objects in a value. */
export function objectsIn(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    objectsIn(one, [...path, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? inner : [path, ...inner];
}

/** Returns the value with another one for `key` of the object at a path. */
export function withKey(
  value: object,
  path: readonly (string | number)[],
  key: string | number,
  replacement: unknown = {},
): object {
  const copy = structuredClone(value);
  const target = path.reduce<Record<string, unknown>>(
    (one, part) => one[part] as Record<string, unknown>,
    copy as Record<string, unknown>,
  );
  target[key] = replacement;
  return copy;
}
