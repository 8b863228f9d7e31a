import type { Field } from './field.ts';

/** Value of a block in one file. */
export interface BlockValue<T> {
  value: T;
  /** Keys that the file sets in it. */
  keys: ReadonlySet<string>;
}

/** Context of a scope rule, which joins a workspace's block with the user's. */
export interface Scope {
  /** Servers that the user's own file configures. */
  userServers: readonly string[];
  /** Reports a part of the workspace's block that has no effect, by its path in that block. */
  ignored(path: readonly (string | number)[], message: string): void;
}

/** Top-level key of waygate.json with settings for the gateway or for calls. */
export interface Block<T> {
  field: Field<T>;
  /** Value if no file sets the block. */
  defaultValue: T;
  /** Set for blocks about safety. */
  safety?: Safety<T>;
  /** Joins a workspace's block with the user's own. Without this rule, the workspace's replaces the user's. */
  combine?(own: BlockValue<T> | undefined, theirs: BlockValue<T>, scope: Scope): T;
}

export interface Safety<T> {
  /**
   * Returns the strictest meaning, for a block that cannot be read. `reason` is the located error; `readable` has the
   * parts that could be read.
   */
  strictest(reason: string, readable: T | undefined): T;
  /** Completes "Until then …" in the error. */
  untilThen: string;
}

export type SettingsOf<B extends Readonly<Record<string, Block<unknown>>>> = {
  readonly [K in keyof B]: B[K]['defaultValue'];
};

/** Declares a block. Without `defaultValue`, an absent block has the default of its field. */
export function block<T>(field: Field<T>, rest: Partial<Omit<Block<T>, 'field'>> = {}): Block<T> {
  return { field, defaultValue: field.defaultValue as T, ...rest };
}
