import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft07 from 'ajv/dist/refs/json-schema-draft-07.json' with { type: 'json' };
import { oneLine } from '../../text/porcelain.ts';
import { isObject, type JsonObject } from '../json.ts';

/** Which rules a schema is read by. What declares nothing is 2020-12, as MCP says since 2025-11-25. */
export type Dialect = 'draft-07' | '2020-12';

/** Options of every validator. Not strict: that refuses one real tool in eighteen for keywords it does not know. */
export const AJV_OPTIONS = {
  strict: false,
  allErrors: true,
  logger: false,
  // A schema of ours is judged once, by the shared instances below; it costs as much as compiling.
  validateSchema: false,
  // The optimiser makes compiling three to five times as long and validating no faster to speak of (test/bench).
  code: { optimize: false },
} as const;

const JUDGE_OPTIONS = { ...AJV_OPTIONS, validateFormats: false, allErrors: false } as const;

/** Each takes some 30 ms to build. */
const JUDGES: Record<Dialect, () => Judge> = {
  'draft-07': once(() => {
    // ajv's copy asks that an enum be unique, which the standard does not: a comparison of every pair.
    const properties = { ...draft07.properties, enum: { type: 'array', items: true } };
    const fits = new Ajv({ ...JUDGE_OPTIONS, meta: false }).compile({ ...draft07, properties });
    return (schema) => (fits(schema) ? undefined : (fits.errors?.[0] ?? NO_REASON));
  }),
  '2020-12': once(() => {
    const ajv = new Ajv2020(JUDGE_OPTIONS);
    return (schema) => (ajv.validateSchema(schema) === true ? undefined : (ajv.errors?.[0] ?? NO_REASON));
  }),
};

/** The first error of a schema by the rules of its dialect. */
type Judge = (schema: JsonObject) => Pick<ErrorObject, 'instancePath' | 'message'> | undefined;

const NO_REASON = { instancePath: '', message: 'it does not fit its meta-schema' };

/** Cut as everything that comes from a server and is told. */
const MAX_DETAIL_CHARS = 200;

export interface ReadSchema {
  dialect: Dialect;
  /** Without `$schema` and `$id`, which say where it came from and not what it allows. */
  schema: JsonObject;
}

export interface SchemaProblem {
  problem: string;
  /** It declares another dialect, whose rules it may well keep. */
  foreign: boolean;
}

/** The schema with the dialect that it is read by, or why it is not a schema at all. */
export function readSchema(schema: unknown): ReadSchema | SchemaProblem {
  if (!isObject(schema)) return { problem: 'a schema must be an object', foreign: false };
  const { $schema: declared, $id: _id, ...rest } = schema;
  let problem = '';
  for (const dialect of dialectsOf(declared)) {
    const found = judge(rest, dialect);
    if (found === undefined) return { dialect, schema: rest };
    problem ||= found;
  }
  return { problem, foreign: isForeign(declared) };
}

export function metaProblem(schema: unknown): string | undefined {
  const read = readSchema(schema);
  return 'problem' in read && !read.foreign ? read.problem : undefined;
}

/** Undeclared ones are read as draft-07 where 2020-12 does not fit: lists of `items` come from such generators. */
function dialectsOf(declared: unknown): readonly Dialect[] {
  if (typeof declared !== 'string') return ['2020-12', 'draft-07'];
  if (declared.includes('2020-12')) return ['2020-12'];
  if (declared.includes('draft-07') || declared.includes('draft-06')) return ['draft-07'];
  return ['2020-12', 'draft-07'];
}

function isForeign(declared: unknown): boolean {
  return typeof declared === 'string' && !/2020-12|draft-0[67]/.test(declared);
}

function judge(schema: JsonObject, dialect: Dialect): string | undefined {
  try {
    const error = JUDGES[dialect]()(schema);
    if (error === undefined) return undefined;
    const place = error.instancePath === '' ? '' : `at ${error.instancePath}: `;
    return oneLine(`${place}${error.message}`, MAX_DETAIL_CHARS);
  } catch (error) {
    return oneLine((error as Error).message, MAX_DETAIL_CHARS);
  }
}

/** Builds the meta-schemas' own validators, some 30 ms each: before the first call needs them. */
export function warmMetaSchemas(): void {
  for (const dialect of ['2020-12', 'draft-07'] as const) judge({ type: 'object' }, dialect);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
