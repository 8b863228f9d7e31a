import type { Block } from './declaration/block.ts';
import { PRESETS } from './declaration/callBlocks.ts';
import { BLOCK_NAMES, BLOCKS, type BlockName, type Settings } from './declaration/document.ts';
import type { LoadedConfig } from './fileReader.ts';
import {
  asLine,
  type BrokenServer,
  type ConfigurationProblem,
  type FileLocation,
  type ServerConfig,
  withConsequence,
} from './gatewayConfig.ts';
import { keepEntries, textOf } from './keptEntries.ts';
import { keptText } from './keptText.ts';
import { loadConfig, parseConfig, unusable } from './loadConfig.ts';
import { mergeConfigs } from './mergeConfigs.ts';
import { type ConfigPlace, configPlaces } from './state/configPlaces.ts';
import type { KeptTexts } from './state/keptTexts.ts';
import type { GuardedKey } from './strayKeys.ts';

/** Configuration of a gateway, merged from its files: the servers of all, and blocks of which later ones override earlier ones. */
export interface MergedConfig {
  /** File to write a server into: the given one, or the workspace's. */
  file: string;
  /** Whether any of the files exists. */
  exists: boolean;
  files: readonly (ConfigPlace & { exists: boolean })[];
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  /** Files that `envFile` names, whether or not they can be read. */
  envFiles: readonly string[];
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

  /** Texts in force of all files for the next worker, without secrets. */
  get inForce(): KeptTexts {
    return Object.fromEntries(
      [...this.#inForce].flatMap(([file, loaded]) =>
        loaded.text === undefined ? [] : [[file, keptText(loaded)] as const],
      ),
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
    const result = failClosed(before ? this.#restored(keepEntries(loaded, before), before) : loaded);
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
      return { ...before, exists: loaded.exists, problems, references: [] };
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
    for (const key of loaded.unreadable.keys()) sources.delete(key);
    for (const key of loaded.unreadable.keys()) {
      // No guarded key takes a string, so a key without an earlier version stays unreadable.
      if (!hasEarlier(key)) sources.set(key, '"unreadable"');
      else for (const name of [key, ...blocksOf(key, loaded)]) restore(name);
    }
    const text = textOf(sources);
    const mixed = this.#parse(text, loaded);
    const keepsServers = restored.some(([key]) => key === 'servers');
    const { servers, broken } = keepsServers ? before : loaded;
    const stays = new Map<ConfigurationProblem, ConfigurationProblem>();
    for (const [problem, keys] of keysByProblem(restored)) {
      const names = keys.map((key) => `"${key}"`).join(' and ');
      stays.set(problem, withConsequence(problem, `the last readable version of ${names} stays in force`));
    }
    const now = (problem: ConfigurationProblem): ConfigurationProblem => stays.get(problem) ?? problem;
    const unreadable = new Map(
      [...mixed.unreadable].map(([key, problem]) => [key, now(loaded.unreadable.get(key) ?? problem)]),
    );
    // The text lacks every block with a misplaced key. Such a block is in force all the same if it does not concern safety.
    const plain = [...loaded.blocks].filter(([name]) => !('safety' in BLOCKS[name]));
    const blocks = new Map([...plain, ...mixed.blocks]);
    return { ...loaded, servers, broken, problems: loaded.problems.map(now), unreadable, text, blocks, sources };
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
  for (const [problem, keys] of keysByProblem(config.unreadable)) {
    const meanings = keys.flatMap((key) =>
      key === 'servers'
        ? ['none of its servers is available']
        : blocksOf(key, config).map((name) => close(name, problem)),
    );
    const meaning = [...new Set(meanings.filter((one) => one !== undefined))].join(', and ');
    closing.set(problem, withConsequence(problem, meaning));
  }
  const servers = config.unreadable.has('servers') ? [] : config.servers;
  return { ...config, servers, blocks, problems: config.problems.map((problem) => closing.get(problem) ?? problem) };
}

/** Groups unreadable keys by their problem: a misplaced key may stand for several. */
function keysByProblem(unreadable: Iterable<readonly [GuardedKey, ConfigurationProblem]>) {
  const keys = new Map<ConfigurationProblem, GuardedKey[]>();
  for (const [key, problem] of unreadable) keys.set(problem, [...(keys.get(problem) ?? []), key]);
  return keys;
}

/** Returns the blocks that a guarded key decides: for a preset, the blocks that the file does not set itself. */
function blocksOf(key: GuardedKey, { sources }: LoadedConfig): BlockName[] {
  if (key === 'servers') return [];
  if (key !== 'policyPreset') return [key];
  return (Object.keys(PRESETS.safe) as BlockName[]).filter((name) => !sources.has(name));
}
