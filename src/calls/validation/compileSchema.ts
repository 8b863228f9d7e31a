import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { FORMATS } from './formats.ts';
import type { PatternTest } from './linearPattern.ts';
import { AJV_OPTIONS, type Dialect, type ReadSchema } from './metaSchema.ts';

export type PatternEngine = ((source: string, flags: string) => PatternTest) & { code: string };

/** Errors to keep. A list of 10,000 wrong items has as many errors. */
const MAX_ERRORS = 200;

/**
 * Compiles schemas and holds at most `capacity` validators. An ajv instance keeps everything it has compiled, so whole
 * instances are dropped: there are two, and when the younger is full it becomes the older. Validators of the dropped
 * instance are compiled again when needed.
 */
export class SchemaCompiler<K extends object | string> {
  readonly #engine: PatternEngine;
  readonly #half: number;
  #young: Generation<K>;
  #old: Generation<K>;

  constructor(engine: PatternEngine, capacity: number) {
    this.#engine = engine;
    this.#half = Math.max(1, Math.floor(capacity / 2));
    this.#young = new Generation(engine);
    this.#old = this.#young;
  }

  /** Number of compiled validators. */
  get size(): number {
    return this.#young === this.#old
      ? this.#young.validators.size
      : this.#young.validators.size + this.#old.validators.size;
  }

  /** Returns the validator of a schema. Throws ajv's error for a schema that does not compile. */
  validator(key: K, read: () => ReadSchema): ValidateFunction {
    const known = this.#young.validators.get(key);
    if (known) return known;
    if (this.#young.validators.size >= this.#half) {
      this.#old = this.#young;
      this.#young = new Generation(this.#engine);
    }
    this.#old.validators.delete(key);
    const validator = this.#young.compile(read());
    this.#young.validators.set(key, validator);
    return validator;
  }

  clear(): void {
    this.#young = new Generation(this.#engine);
    this.#old = this.#young;
  }
}

class Generation<K> {
  readonly validators = new Map<K, ValidateFunction>();
  readonly #engine: PatternEngine;
  readonly #instances = new Map<Dialect, Ajv | Ajv2020>();

  constructor(engine: PatternEngine) {
    this.#engine = engine;
  }

  compile({ dialect, schema }: ReadSchema): ValidateFunction {
    const instance = this.#instances.get(dialect) ?? this.#make(dialect);
    this.#instances.set(dialect, instance);
    return instance.compile(schema);
  }

  #make(dialect: Dialect): Ajv | Ajv2020 {
    const options: Options = {
      ...AJV_OPTIONS,
      formats: { ...FORMATS },
      code: { ...AJV_OPTIONS.code, regExp: this.#engine },
    };
    return dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  }
}

/** Returns the errors of a value; empty if it is valid. */
export function errorsOf(validate: ValidateFunction, value: unknown): ErrorObject[] {
  return validate(value) ? [] : (validate.errors ?? []).slice(0, MAX_ERRORS);
}
