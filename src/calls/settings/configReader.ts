import { didYouMean } from '../../text/nearest.ts';
import { dotted, isObject, type JsonObject, type JsonPath } from '../json.ts';
import { DispatchConfigError } from './configError.ts';

/** Reads one block of the configuration: every wrong thing is one sentence with its place. */
export class ConfigBlock {
  readonly path: JsonPath;
  readonly #fields: JsonObject;

  constructor(value: unknown, path: JsonPath, known: readonly string[]) {
    this.path = path;
    this.#fields = asObject(value, path);
    for (const key of Object.keys(this.#fields)) {
      if (known.includes(key)) continue;
      const hint = didYouMean(key, known, `it takes ${known.join(', ')}.`);
      throw new DispatchConfigError(`"${dotted(path)}" has no key "${key.slice(0, 64)}"; ${hint}`, [...path, key]);
    }
  }

  get(key: string): unknown {
    return this.#fields[key];
  }

  number(key: string, fallback: number, low: number, high = Number.POSITIVE_INFINITY): number {
    const value = this.#fields[key];
    if (value === undefined || value === null) return fallback;
    if (typeof value === 'number' && value >= low && value <= high) return value;
    const range = high === Number.POSITIVE_INFINITY ? `of at least ${low}` : `from ${low} to ${high}`;
    throw this.wrong(key, `a number ${range}`);
  }

  /** `null`: none. A number in quotes is one. */
  count(key: string): number | null {
    const value = this.#fields[key];
    if (value === undefined || value === null) return null;
    const number = typeof value === 'string' && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= 1) return number;
    throw this.wrong(key, 'a whole number of at least 1');
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.#fields[key];
    if (value === undefined) return fallback;
    if (typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false');
  }

  text(key: string): string | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    throw this.wrong(key, 'a text');
  }

  /** Must be there. */
  needed(key: string): string {
    const value = this.text(key);
    if (value === undefined) throw this.wrong(key, 'a text');
    return value;
  }

  texts(key: string): readonly string[] | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.wrong(key, 'a list of texts');
  }

  choice<T extends string>(key: string, options: readonly T[]): T | undefined {
    const value = this.#fields[key];
    if (value === undefined || value === null) return undefined;
    if (options.includes(value as T)) return value as T;
    throw this.wrong(key, options.map((option) => `"${option}"`).join(' or '));
  }

  wrong(key: string, expected: string): DispatchConfigError {
    const path = [...this.path, key];
    return new DispatchConfigError(`"${dotted(path)}" must be ${expected}.`, path);
  }
}

export function asObject(value: unknown, path: JsonPath): JsonObject {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  throw new DispatchConfigError(`"${dotted(path)}" must be an object.`, path);
}
