import { isDeepStrictEqual } from 'node:util';
import type { ErrorObject } from 'ajv';
import { leftOutNote } from '../../lib/leftOut.ts';
import { type JsonObject, measureValue, type ValueSize } from '../json.ts';
import { errorsOf, SchemaCompiler } from './compileSchema.ts';
import { isLightPattern, linearEngine } from './linearPattern.ts';
import { type ReadSchema, readSchema, warmMetaSchemas } from './metaSchema.ts';
import { limitFindings, SCHEMA_LIMITS, type SchemaLimits } from './schemaHealth.ts';
import { profileSchema, type SchemaProfile } from './schemaProfile.ts';
import { ThreadedCheck } from './threadedCheck.ts';

/**
 * Result of checking arguments against a tool's schema. Both are untrusted, and the event loop must not wait for them:
 * quick checks run in place, all others in a thread that is killed when it takes too long. If the check cannot finish,
 * the call is sent with a note (G6.6).
 */
export type ValidationVerdict =
  | { kind: 'valid' }
  | { kind: 'unchecked'; reason: string }
  | { kind: 'invalid'; errors: readonly ErrorObject[] }
  | { kind: 'bad_schema'; problem: string };

/** Compiling takes some 3 ms per hundred objects of a schema, up to 15 ms when cold (test/bench/validation.ts). */
const MAX_INLINE_CONTAINERS = 150;
/** Each takes half a millisecond when cold. */
const MAX_INLINE_PATTERNS = 12;
/** Upper bound of a walk: nodes of the schema with references followed, times nodes of the value. */
const MAX_INLINE_WORK = 100_000;
/** Characters times patterns. */
const MAX_INLINE_PATTERN_CHARS = 20_000;
/** Items that `uniqueItems` compares with each other. */
const MAX_INLINE_COMPARED = 300;
/** A larger value would block the loop even while it is copied to the thread. */
const MAX_CHECKED_NODES = 50_000;
const MAX_CHECKED_CHARS = 4_000_000;
/** No tool takes arguments this deep. `JSON.stringify` overflows the stack at some greater depth. */
const MAX_ARGS_DEPTH = 200;
const CAPACITY = 256;

const VALID: ValidationVerdict = { kind: 'valid' };

interface Plan {
  key: string;
  verdict?: ValidationVerdict;
  read?: ReadSchema;
  json?: string;
  profile: SchemaProfile;
  inline: boolean;
}

export interface ArgumentValidatorOptions {
  limits?: SchemaLimits;
  thread?: ThreadedCheck;
}

export class ArgumentValidator {
  #limits: SchemaLimits;
  readonly #thread: ThreadedCheck;
  readonly #compiler = new SchemaCompiler<object>(linearEngine, CAPACITY);
  /** Plans by the identity of the schema. A refreshed catalog has new objects, and the old plans are collected. */
  #plans = new WeakMap<object, Plan>();
  #nextKey = 1;

  constructor(options: ArgumentValidatorOptions = {}) {
    this.#limits = options.limits ?? SCHEMA_LIMITS;
    this.#thread = options.thread ?? new ThreadedCheck();
  }

  /** Puts edited limits in force. Schemas judged by other limits are judged again. */
  adopt(limits: SchemaLimits): void {
    if (!isDeepStrictEqual(limits, this.#limits)) this.clear();
    this.#limits = limits;
  }

  /** Number of compiled validators in this thread. */
  get compiled(): number {
    return this.#compiler.size;
  }

  /** Builds the validators for schemas, so that the first call does not wait for them. */
  warmUp(): void {
    warmMetaSchemas();
  }

  /** Drops everything that belongs to the previous catalog (G8.1). */
  clear(): void {
    this.#compiler.clear();
    this.#plans = new WeakMap();
  }

  dispose(): void {
    this.#thread.dispose();
  }

  async validate(schema: unknown, args: unknown): Promise<ValidationVerdict> {
    const size = measureValue(args, MAX_CHECKED_NODES);
    if (size.depth > MAX_ARGS_DEPTH) return { kind: 'invalid', errors: [tooDeep()] };
    if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0) return VALID;
    const plan = this.#planFor(schema);
    if (plan.verdict) return plan.verdict;
    if (size.nodes > MAX_CHECKED_NODES || size.chars > MAX_CHECKED_CHARS) {
      return { kind: 'unchecked', reason: 'the arguments are too large to check' };
    }
    return isQuick(plan, size) ? this.#checkInline(schema, plan, args) : this.#checkInThread(plan, args);
  }

  #planFor(schema: object): Plan {
    let plan = this.#plans.get(schema);
    if (plan === undefined) {
      plan = this.#makePlan(schema);
      this.#plans.set(schema, plan);
    }
    return plan;
  }

  #makePlan(schema: object): Plan {
    const profile = profileSchema(schema);
    const plan: Plan = { key: `k${this.#nextKey++}`, profile, inline: false };
    const note = leftOutNote(schema);
    if (note !== undefined)
      return { ...plan, verdict: unchecked(`its schema is too large (${note.replace(/\.$/, '')})`) };
    const [excess] = limitFindings(profile, this.#limits);
    if (excess) return { ...plan, verdict: unchecked(`its schema exceeds the limits (${excess.detail})`) };
    if (profile.async) return { ...plan, verdict: unchecked('its schema is asynchronous') };
    const read = readSchema(schema);
    if ('problem' in read && read.foreign) return { ...plan, verdict: unchecked('its schema has an unknown dialect') };
    if ('problem' in read) return { ...plan, verdict: { kind: 'bad_schema', problem: read.problem } };
    return { ...plan, read, inline: compilesQuickly(profile) };
  }

  #checkInline(schema: object, plan: Plan, args: unknown): ValidationVerdict {
    try {
      const validate = this.#compiler.validator(schema, () => plan.read as ReadSchema);
      return verdictOf(errorsOf(validate, args));
    } catch (error) {
      // The schema is well-formed but unusable: a reference to nowhere, an empty enum. Let the server judge.
      plan.verdict = unchecked(`its schema cannot be used (${(error as Error).message})`);
      return plan.verdict;
    }
  }

  async #checkInThread(plan: Plan, args: unknown): Promise<ValidationVerdict> {
    const { dialect, schema } = plan.read as ReadSchema;
    plan.json ??= JSON.stringify(schema);
    const question = { key: plan.key, dialect, schema: plan.json, value: args };
    const verdict = await this.#thread.check(question, () => {
      plan.verdict = unchecked('an earlier check against its schema took too long');
    });
    switch (verdict.kind) {
      case 'answered':
        if (verdict.reply.errors) return verdictOf(verdict.reply.errors);
        return unchecked(`its schema cannot be used (${verdict.reply.failed})`);
      case 'late':
      case 'overrun':
        return unchecked('checking against its schema took too long');
      case 'unavailable':
        return unchecked(verdict.reason);
    }
  }
}

/** Estimates from the profile alone, before anything is compiled. */
function compilesQuickly(profile: SchemaProfile): boolean {
  return (
    !profile.recursive &&
    !profile.elsewhere &&
    profile.containers <= MAX_INLINE_CONTAINERS &&
    profile.expandedNodes <= MAX_INLINE_WORK &&
    profile.patterns.length <= MAX_INLINE_PATTERNS &&
    profile.patterns.every(isLightPattern)
  );
}

function isQuick({ inline, profile }: Plan, size: ValueSize): boolean {
  return (
    inline &&
    profile.expandedNodes * size.nodes <= MAX_INLINE_WORK &&
    profile.patterns.length * size.chars <= MAX_INLINE_PATTERN_CHARS &&
    (!profile.comparesItems || size.nodes <= MAX_INLINE_COMPARED)
  );
}

function verdictOf(errors: readonly ErrorObject[]): ValidationVerdict {
  return errors.length === 0 ? VALID : { kind: 'invalid', errors };
}

function unchecked(reason: string): ValidationVerdict {
  return { kind: 'unchecked', reason };
}

function tooDeep(): ErrorObject<'nesting', JsonObject> {
  return {
    keyword: 'nesting',
    instancePath: '',
    schemaPath: '#',
    params: { limit: MAX_ARGS_DEPTH },
    message: `must not be nested deeper than ${MAX_ARGS_DEPTH} levels`,
  };
}
