import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft07 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import { isRecord } from '../../lib/isRecord.ts';
import { once } from '../../lib/once.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { JsonObject } from '../json.ts';
import { isPlainSchema } from './plainSchema.ts';

/** JSON Schema dialect. A schema without `$schema` is 2020-12, as MCP says since 2025-11-25. */
export type Dialect = 'draft-07' | '2020-12';

/** Options of every validator. Strict mode would refuse one real tool in eighteen for unknown keywords. */
export const AJV_OPTIONS = {
  strict: false,
  allErrors: true,
  logger: false,
  // Checking a schema takes as long as compiling it. The shared instances below do it once per schema.
  validateSchema: false,
  // The optimiser makes compiling three to five times slower and validation hardly faster (test/bench).
  code: { optimize: false },
} as const;

const META_OPTIONS = { ...AJV_OPTIONS, validateFormats: false, allErrors: false } as const;

/** Validators of schemas, built on first use: each takes some 30 ms. */
const META_VALIDATORS: Record<Dialect, () => MetaValidator> = {
  'draft-07': once(() => {
    // ajv's copy of draft-07 wants an enum to be unique, which compares every pair. The standard does not require it.
    const properties = { ...draft07.properties, enum: { type: 'array', items: true } };
    const fits = new Ajv({ ...META_OPTIONS, meta: false }).compile({ ...draft07, properties });
    return (schema) => (fits(schema) ? undefined : (fits.errors?.[0] ?? NO_REASON));
  }),
  '2020-12': once(() => {
    const ajv = new Ajv2020(META_OPTIONS);
    return (schema) => (ajv.validateSchema(schema) === true ? undefined : (ajv.errors?.[0] ?? NO_REASON));
  }),
};

/** Returns a schema's first error by the rules of its dialect. */
type MetaValidator = (schema: JsonObject) => Pick<ErrorObject, 'instancePath' | 'message'> | undefined;

const NO_REASON = { instancePath: '', message: 'it does not fit its meta-schema' };

/** Length limit of a server's text in messages. */
const MAX_DETAIL_CHARS = 200;

export interface ReadSchema {
  dialect: Dialect;
  /** Schema without `$schema` and `$id`, which state its origin and not its rules. */
  schema: JsonObject;
}

export interface SchemaProblem {
  problem: string;
  /** True if the schema declares another dialect, which it may follow correctly. */
  foreign: boolean;
}

/** Returns a schema with its dialect, or the reason why it is not a valid schema. */
export function readSchema(schema: unknown): ReadSchema | SchemaProblem {
  if (!isRecord(schema)) return { problem: 'a schema must be an object', foreign: false };
  const { $schema: declared, $id: _id, ...rest } = schema;
  let problem = '';
  for (const dialect of dialectsOf(declared)) {
    const found = isPlainSchema(rest) ? undefined : metaError(rest, dialect);
    if (found === undefined) return { dialect, schema: rest };
    problem ||= found;
  }
  return { problem, foreign: isForeign(declared) };
}

export function metaProblem(schema: unknown): string | undefined {
  const read = readSchema(schema);
  return 'problem' in read && !read.foreign ? read.problem : undefined;
}

/**
 * Returns the dialects to try. Some generators write draft-07 without declaring it, recognisable by lists of `items`.
 */
function dialectsOf(declared: unknown): readonly Dialect[] {
  if (typeof declared !== 'string') return ['2020-12', 'draft-07'];
  if (declared.includes('2020-12')) return ['2020-12'];
  if (declared.includes('draft-07') || declared.includes('draft-06')) return ['draft-07'];
  return ['2020-12', 'draft-07'];
}

function isForeign(declared: unknown): boolean {
  return typeof declared === 'string' && !/2020-12|draft-0[67]/.test(declared);
}

function metaError(schema: JsonObject, dialect: Dialect): string | undefined {
  try {
    const error = META_VALIDATORS[dialect]()(schema);
    if (error === undefined) return undefined;
    const place = error.instancePath === '' ? '' : `at ${error.instancePath}: `;
    return oneLine(`${place}${error.message}`, MAX_DETAIL_CHARS);
  } catch (error) {
    return oneLine((error as Error).message, MAX_DETAIL_CHARS);
  }
}

/** Builds both schema validators, some 30 ms each, before the first call needs them. */
export function warmMetaSchemas(): void {
  for (const dialect of ['2020-12', 'draft-07'] as const) metaError({ type: 'object' }, dialect);
}
