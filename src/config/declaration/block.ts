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
  /** Drops from the user's own block what names servers of other files. */
  narrow?(own: T, scope: Scope): T;
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

/** Settings of a workspace, which do not concern servers of the user's own file. */
export type WithOwn<T> = T & { readonly own?: { readonly settings: T; readonly servers: readonly string[] } };

/** Returns a scope rule by which a workspace's block counts for the workspace's servers alone. */
export function apart<T extends object>(defaultValue: T): NonNullable<Block<WithOwn<T>>['combine']> {
  return (own, { value }, { userServers }) => ({
    ...value,
    own: { settings: own?.value ?? defaultValue, servers: userServers },
  });
}

export function settingsFor<T extends object>(settings: WithOwn<T>, server: string): T {
  return settings.own?.servers.includes(server) ? settings.own.settings : settings;
}

/** Globs over the names of tools. */
export interface ToolGlobs {
  /** Set for the user's own file: its globs trust no tool of a server of a workspace. */
  readonly toolsOf?: 'user';
}

/** Whether globs count for a tool. */
export function globsConcern({ toolsOf }: ToolGlobs, { origin }: { origin?: string }): boolean {
  return toolsOf === undefined || origin !== 'workspace';
}

/** Returns a scope rule by which a block of a workspace has no effect beside a block or servers of the user's own. */
export function keepOwn<T>(name: string, defaultValue: T): NonNullable<Block<T>['combine']> {
  return (own, { value }, { userServers, ignored }) => {
    if (!own && userServers.length === 0) return value;
    ignored([], `"${name}" has no effect: it would concern your own servers, too.`);
    return own ? own.value : defaultValue;
  };
}

/** Returns the entries by name of a server that the user's own file has, or that `isHarmless` lets count for any. */
export function ownEntries<T>(
  block: string,
  entries: Readonly<Record<string, T>>,
  { userServers, ignored }: Scope,
  isHarmless: (value: T) => boolean = () => false,
): Record<string, T> {
  const kept = Object.entries(entries).filter(([name, value]) => {
    if (userServers.includes(name) || isHarmless(value)) return true;
    const shown = JSON.stringify(name.slice(0, 64));
    ignored(
      ['servers', name],
      `"${block}.servers" has no effect for ${shown}: your own waygate.json has no such server.`,
    );
    return false;
  });
  return Object.fromEntries(kept);
}
