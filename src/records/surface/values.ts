import { isRecord } from '../../lib/isRecord.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Returns a text with something in it; undefined for anything else. */
export function filled(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Returns the first filled text under the keys, in the order of the keys. */
export function firstFilled(from: Json, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = filled(from[key]);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Returns the objects of a list; nothing for any other value. */
export function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Returns an object's members that have a value. */
export function defined<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}
