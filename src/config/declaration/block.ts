import type { Field } from './field.ts';

/** A block of waygate.json as one file sets it. */
export interface Said<T> {
  value: T;
  /** Keys that are written in it. */
  keys: ReadonlySet<string>;
}

/** What a scope rule may know when a workspace's block meets the user's. */
export interface Scope {
  /** Servers that the user's own file configures. */
  userServers: readonly string[];
  /** Reports a part of the workspace's block that has no effect, by its path in that block. */
  ignored(path: readonly (string | number)[], message: string): void;
}

/** A top-level key of waygate.json that sets something for the gateway or for calls. */
export interface Block<T> {
  field: Field<T>;
  /** Value where no file sets the block. */
  standard: T;
  /** Set for blocks about safety. */
  safety?: Safety<T>;
  /** Joins a workspace's block with the user's own; without it the workspace's replaces the user's. */
  combine?(own: Said<T> | undefined, theirs: Said<T>, scope: Scope): T;
}

export interface Safety<T> {
  /**
   * Strictest meaning, for a block that cannot be read. `reason` says where and why; `readable` has what could be read.
   */
  strictest(reason: string, readable: T | undefined): T;
  /** Completes "Until then …" in the error. */
  untilThen: string;
}

export type SettingsOf<B extends Readonly<Record<string, Block<unknown>>>> = {
  readonly [K in keyof B]: B[K]['standard'];
};

/** Declares a block. Without `standard` an absent block means the default of its field. */
export function block<T>(field: Field<T>, rest: Partial<Omit<Block<T>, 'field'>> = {}): Block<T> {
  return { field, standard: field.standard as T, ...rest };
}
