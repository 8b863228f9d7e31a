import { skeleton } from '../text/lookAlikes.ts';
import { visibleText } from '../text/visibleText.ts';
import type { Block, BlockValue, Scope } from './declaration/block.ts';
import { PRESETS } from './declaration/callBlocks.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, type Settings } from './declaration/document.ts';
import type { GuardedKey, LoadedConfig } from './fileReader.ts';
import type { BrokenServer, ConfigurationProblem, FileLocation, ServerConfig } from './gatewayConfig.ts';
import { loadConfig, parseConfig, unusable } from './loadConfig.ts';
import { type ConfigPlace, configPlaces } from './state/configPlaces.ts';
import type { KeptTexts } from './state/keptTexts.ts';

/** Configuration of a gateway, merged from its files: the servers of all, and blocks of which later ones override earlier ones. */
export interface MergedConfig {
  /** File to write a server into: the given one, or the workspace's. */
  file: string;
  /** Whether any of the files exists. */
  exists: boolean;
  files: readonly (ConfigPlace & { exists: boolean })[];
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  problems: readonly ConfigurationProblem[];
  /** Everything but servers: one immutable value. */
  settings: Settings;
  startupAt: FileLocation;
}

/**
 * Files of a gateway. If a safety key cannot be read, its last readable version stays in force; without one, the key
 * has its strictest meaning. If a whole file cannot be read, the same holds for each of its safety keys.
 */
export class ConfigLayers {
  readonly places: readonly ConfigPlace[];
  readonly #read: (place: ConfigPlace) => LoadedConfig;
  readonly #parse: (text: string, place: ConfigPlace) => LoadedConfig;
  readonly #inForce = new Map<string, LoadedConfig>();

  /**
   * `read` replaces the reader of a file that is not waygate.json. `kept` has the texts that the last worker had in
   * force.
   */
  constructor(
    workspace: string,
    env: NodeJS.ProcessEnv,
    given?: string,
    read: (place: ConfigPlace) => LoadedConfig = (place) => loadConfig(workspace, env, place),
    kept: KeptTexts = {},
  ) {
    this.#read = read;
    this.#parse = (text, { file, origin }) => parseConfig(text, file, workspace, env, origin);
    this.places = configPlaces(workspace, env, given);
    this.restore(kept);
  }

  /** Takes texts as the last readable versions of their files. */
  restore(kept: KeptTexts): void {
    for (const place of this.places) {
      const text = kept[place.file];
      if (typeof text !== 'string') continue;
      const before = failClosed(this.#parse(text, place));
      if (before.usable) this.#inForce.set(place.file, before);
    }
  }

  /** Texts in force of all files. */
  get inForce(): KeptTexts {
    return Object.fromEntries(
      [...this.#inForce].flatMap(([file, { text }]) => (text === undefined ? [] : [[file, text] as const])),
    );
  }

  load(): MergedConfig {
    return mergeConfigs(this.places.map((place) => this.#loadOne(place)));
  }

  #loadOne(place: ConfigPlace): LoadedConfig {
    const loaded = this.#readSafely(place);
    const inForce = this.#inForce.get(place.file);
    // An absent file has no readable version.
    const before = inForce?.exists ? inForce : undefined;
    const result = failClosed(before ? this.#restored(loaded, before) : loaded);
    if (result.usable) this.#inForce.set(place.file, result);
    return result;
  }

  /** Contains a fault of the reader itself: it must neither end the worker nor open anything. */
  #readSafely(place: ConfigPlace): LoadedConfig {
    try {
      return this.#read(place);
    } catch (error) {
      return unusable(place, `It cannot be read (${(error as Error).message}).`);
    }
  }

  /** Replaces the parts that cannot be read by their version in force. */
  #restored(loaded: LoadedConfig, before: LoadedConfig): LoadedConfig {
    if (!loaded.usable) {
      const problems = loaded.problems.map((one) =>
        withConsequence(one, 'the last readable version of this file stays in force'),
      );
      return { ...before, exists: loaded.exists, problems };
    }
    const sources = new Map(loaded.sources);
    const closed = new Set([...before.unreadable.keys()].flatMap((key) => [key, ...blocksOf(key, before)]));
    // A block that a preset decided has a value but no source.
    const sourceOf = (name: string): string | undefined =>
      before.sources.get(name) ?? written(before.blocks.get(name as BlockName)?.value);
    const hasEarlier = (key: GuardedKey): boolean => {
      const names = [key, ...blocksOf(key, loaded)];
      if (names.some((name) => closed.has(name))) return false;
      return (key === 'policyPreset' ? [key, 'policy'] : [key]).some((name) => sourceOf(name) !== undefined);
    };
    const restored = [...loaded.unreadable].filter(([key]) => hasEarlier(key));
    if (restored.length === 0) return loaded;
    const restore = (name: string): void => {
      const source = sourceOf(name);
      if (source !== undefined) sources.set(name, source);
    };
    for (const [key, { spelled }] of loaded.unreadable) {
      sources.delete(spelled);
      // No guarded key takes a string, so a key without an earlier version stays unreadable.
      if (!hasEarlier(key)) sources.set(key, '"unreadable"');
      else for (const name of [key, ...blocksOf(key, loaded)]) restore(name);
    }
    const text = `{${[...sources].map(([key, source]) => `${JSON.stringify(key)}: ${source}`).join(',\n')}}`;
    const mixed = this.#parse(text, loaded);
    const keepsServers = restored.some(([key]) => key === 'servers');
    const { servers, broken } = keepsServers ? before : loaded;
    const stays = new Map(
      restored.map(([key, { problem }]) => [
        problem,
        withConsequence(problem, `the last readable version of "${key}" stays in force`),
      ]),
    );
    const unreadable = new Map([...mixed.unreadable].map(([key, one]) => [key, loaded.unreadable.get(key) ?? one]));
    const problems = loaded.problems.map((problem) => stays.get(problem) ?? problem);
    return { ...loaded, servers, broken, problems, unreadable, text, blocks: mixed.blocks, sources };
  }
}

/** Returns a value as the source text that sets it. */
function written(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** Gives every safety block that cannot be read its strictest meaning. */
export function failClosed(config: LoadedConfig): LoadedConfig {
  const blocks = new Map(config.blocks);
  const close = (name: BlockName, problem: ConfigurationProblem): string | undefined => {
    const { safety }: Block<unknown> = BLOCKS[name];
    if (!safety) return undefined;
    const value = safety.strictest(asLine(problem), blocks.get(name)?.value);
    blocks.set(name, { value, keys: new Set(Object.keys(value as object)) });
    return safety.untilThen;
  };
  if (config.ruleless) return config;
  if (!config.usable) {
    const [problem] = config.problems;
    if (problem) for (const name of BLOCK_NAMES) close(name, problem);
    const problems = config.problems.map((one) =>
      withConsequence(one, 'no tool can be called, as its rules are unknown'),
    );
    return { ...config, blocks, problems };
  }
  const closing = new Map<ConfigurationProblem, ConfigurationProblem>();
  for (const [key, { problem }] of config.unreadable) {
    const meanings = blocksOf(key, config).map((name) => close(name, problem));
    const meaning = [key === 'servers' ? 'none of its servers is available' : undefined, ...meanings];
    closing.set(problem, withConsequence(problem, meaning.filter((one) => one !== undefined).join(', and ')));
  }
  return { ...config, blocks, problems: config.problems.map((problem) => closing.get(problem) ?? problem) };
}

/** Returns the blocks that a guarded key decides: for a preset, the blocks that the file does not set itself. */
function blocksOf(key: GuardedKey, { sources }: LoadedConfig): BlockName[] {
  if (key === 'servers') return [];
  if (key !== 'policyPreset') return [key];
  return (Object.keys(PRESETS.safe) as BlockName[]).filter((name) => !sources.has(name));
}

function withConsequence(problem: ConfigurationProblem, meaning: string): ConfigurationProblem {
  return meaning === '' ? problem : { ...problem, message: `${problem.message} Until then ${meaning}.` };
}

/** `file:line:column: message`. */
export function asLine({ message, location }: ConfigurationProblem): string {
  return `${location.file}:${location.line}:${location.column}: ${message}`;
}

/** Merges files whose safety blocks `failClosed` has settled. */
export function mergeConfigs(all: readonly LoadedConfig[]): MergedConfig {
  const own = all.find(({ origin }) => origin === 'user');
  const layers = all.map((layer) => withoutTakenNames(layer, own));
  const last = layers.at(-1) as LoadedConfig;
  const servers = layers.flatMap((layer) => layer.servers);
  const ignored: ConfigurationProblem[] = [];
  const userServers = servers.filter(({ origin }) => origin === 'user').map(({ name }) => name);
  const settings = BLOCK_NAMES.map((name) => {
    const scopeOf = (layer: LoadedConfig): Scope => ({
      userServers,
      ignored: (path, message) =>
        ignored.push({ severity: 'warning', message, location: layer.locate([name, ...path]) }),
    });
    return [name, settingOf(name, layers, scopeOf)] as const;
  });
  const startup = layers.findLast(({ blocks }) => blocks.has('startup'));
  return {
    file: last.file,
    exists: layers.some(({ exists }) => exists),
    files: layers.map(({ origin, file, exists }) => ({ origin, file, exists })),
    servers,
    broken: layers.flatMap(({ broken }) => broken),
    problems: [...layers.flatMap(({ problems }) => problems), ...ignored],
    settings: Object.freeze(Object.fromEntries(settings)) as unknown as Settings,
    startupAt: startup?.locate(['startup']) ?? { file: last.file, line: 1, column: 1 },
  };
}

/** Returns the value of a block over all files. The block's scope rule joins a workspace's value with the user's. */
function settingOf(name: BlockName, layers: readonly LoadedConfig[], scopeOf: (layer: LoadedConfig) => Scope): unknown {
  const { defaultValue, combine }: Block<unknown> = BLOCKS[name];
  let own: BlockValue<unknown> | undefined;
  let value: unknown = defaultValue;
  for (const layer of layers) {
    const block = layer.blocks.get(name);
    if (!block) continue;
    value = layer.origin === 'workspace' && combine ? combine(own, block, scopeOf(layer)) : block.value;
    own = block;
  }
  return value;
}

/**
 * Returns a workspace's file without the entries that have the name of a server of the user, or one that looks like it:
 * a repository can neither replace nor disable it, nor pass for it.
 */
function withoutTakenNames(layer: LoadedConfig, own: LoadedConfig | undefined): LoadedConfig {
  if (layer.origin !== 'workspace' || !own) return layer;
  const taken = new Map([...own.servers, ...own.broken].map(({ name }) => [skeleton(name), name]));
  const isFree = ({ name }: { name: string }): boolean => !taken.has(skeleton(name));
  const clashes = [...layer.servers, ...layer.broken].filter((one) => !isFree(one));
  const problems = clashes.map(({ name, location }) => ({
    severity: 'warning' as const,
    message: `"servers.${visibleText(name)}" has no effect: your own waygate.json has the server "${taken.get(skeleton(name))}". Give it another name.`,
    location,
  }));
  return {
    ...layer,
    servers: layer.servers.filter(isFree),
    broken: layer.broken.filter(isFree),
    problems: [...layer.problems, ...problems],
  };
}
