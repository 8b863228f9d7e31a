import { DEFAULT_MODE, type Mode } from '../link/mode.ts';
import type { CallBlocks } from './callBlocks.ts';
import {
  type ArtifactConfig,
  type BrokenServer,
  type ConfigBlocks,
  type ConfigOrigin,
  type ConfigurationProblem,
  DEFAULT_ARTIFACTS,
  DEFAULT_BLOCKS,
  type FileLocation,
  type InputConfig,
  type ServerConfig,
} from './gatewayConfig.ts';
import { type ConfigPlace, configPlaces, type LoadedConfig, loadConfig, parseConfig } from './loadConfig.ts';
import type { KeptTexts } from './state/keptTexts.ts';

/** What one file says about calls. */
export interface CallLayer {
  origin: ConfigOrigin;
  file?: string;
  blocks: CallBlocks;
  /** The file's text, as far as that is what is in force. */
  text?: string | undefined;
  /** What is in force where the blocks cannot be used and this gateway has never seen any that could. */
  kept?: { blocks: CallBlocks; text: string } | undefined;
}

/** What a gateway runs by: its files, the later over the earlier by the name of a server and by block. */
export interface MergedConfig extends ConfigBlocks {
  /** The file to write a server into: the one given by hand, or the workspace's. */
  file: string;
  /** Whether any of the files is there. */
  exists: boolean;
  files: readonly (ConfigPlace & { exists: boolean })[];
  servers: readonly ServerConfig[];
  broken: readonly BrokenServer[];
  problems: readonly ConfigurationProblem[];
  /** For sessions that begin: it is no affair of those that there are. */
  mode: Mode;
  /** Where `startup` stands. */
  startupAt: FileLocation;
  /** Of each file that is there, in their order: how they go together is dispatch's affair. */
  calls: readonly CallLayer[];
  /** By whose servers they are for: a repository's `default` must not get into a server of the person's own. */
  inputs: Readonly<Partial<Record<ConfigOrigin, readonly InputConfig[]>>>;
}

/** The files of a gateway. One that breaks leaves its own last good content in force, and the others as they are. */
export class ConfigLayers {
  readonly places: readonly ConfigPlace[];
  readonly #read: (place: ConfigPlace) => LoadedConfig;
  readonly #good = new Map<string, LoadedConfig>();
  readonly #unusable = new Map<string, ConfigurationProblem>();
  readonly #kept: KeptTexts;
  readonly #keptCalls = new Map<string, NonNullable<CallLayer['kept']>>();

  /** `read` reads a file that is given and no configuration; `kept` is what the gateway before had in force. */
  constructor(
    workspace: string,
    env: NodeJS.ProcessEnv,
    given?: string,
    read: (place: ConfigPlace) => LoadedConfig = (place) => loadConfig(workspace, env, place),
    kept: KeptTexts = {},
  ) {
    this.#read = read;
    this.#kept = kept;
    this.places = configPlaces(workspace, env, given);
    for (const { origin, file } of this.places) {
      const { whole, calls } = kept[file] ?? {};
      if (typeof whole === 'string') this.#good.set(file, parseConfig(whole, file, workspace, env, origin));
      if (typeof calls !== 'string') continue;
      this.#keptCalls.set(file, { blocks: parseConfig(calls, file, workspace, env, origin).calls, text: calls });
    }
  }

  /** Why a file counts as it was before, or not at all; not where that was so for the gateway before. */
  get unusable(): ConfigurationProblem | undefined {
    return [...this.#unusable].find(([file]) => this.#kept[file]?.whole === undefined)?.[1];
  }

  /** What counts of the files that cannot be used. */
  get kept(): KeptTexts {
    return Object.fromEntries(
      [...this.#unusable.keys()].map((file) => [file, { whole: this.#good.get(file)?.text ?? null }]),
    );
  }

  /** What counts of every file, by the text that it is from. */
  get inForce(): KeptTexts {
    return Object.fromEntries(
      [...this.#good].flatMap(([file, { text }]) => (text === undefined ? [] : [[file, { whole: text }] as const])),
    );
  }

  load(): MergedConfig {
    const config = mergeConfigs(this.places.map((place) => this.#loadOne(place)));
    const calls = config.calls.map((layer) => ({ ...layer, kept: this.#keptCalls.get(layer.file as string) }));
    return { ...config, calls };
  }

  #loadOne(place: ConfigPlace): LoadedConfig {
    const loaded = this.#read(place);
    const good = this.#good.get(place.file);
    const flaw = loaded.usable ? undefined : loaded.problems.find(({ severity }) => severity === 'error');
    if (flaw) this.#unusable.set(place.file, flaw);
    else this.#unusable.delete(place.file);
    if (!loaded.usable) return good ? { ...good, exists: loaded.exists, problems: loaded.problems } : loaded;
    this.#good.set(place.file, loaded);
    return loaded;
  }
}

export function mergeConfigs(layers: readonly LoadedConfig[]): MergedConfig {
  const last = layers.at(-1) as LoadedConfig;
  const block = <K extends keyof ConfigBlocks>(name: K): ConfigBlocks[K] =>
    (layers.findLast(({ said }) => said.has(name)) ?? DEFAULT_BLOCKS)[name];
  const { artifacts, problems } = mergeArtifacts(layers);
  return {
    file: last.file,
    exists: layers.some(({ exists }) => exists),
    files: layers.map(({ origin, file, exists }) => ({ origin, file, exists })),
    servers: effective(layers, ({ servers }) => servers),
    broken: effective(layers, ({ broken }) => broken),
    problems: [...layers.flatMap((layer) => layer.problems), ...problems],
    browse: block('browse'),
    artifacts,
    idleMinutes: block('idleMinutes'),
    mode: layers.findLast(({ said }) => said.has('mode'))?.mode ?? DEFAULT_MODE,
    passthrough: block('passthrough'),
    startup: block('startup'),
    startupAt: layers.findLast(({ said }) => said.has('startup'))?.calls.locate(['startup']) ?? {
      file: last.file,
      line: 1,
      column: 1,
    },
    liveRefresh: block('liveRefresh'),
    calls: layers.map(({ origin, file, calls, text }) => ({ origin, file, blocks: calls, text })),
    inputs: Object.fromEntries(layers.map(({ origin, inputs }) => [origin, inputs])),
  };
}

/** Those whose name no later file has, whether what that says of it can be used or not. */
function effective<T extends { name: string }>(
  layers: readonly LoadedConfig[],
  of: (layer: LoadedConfig) => readonly T[],
): T[] {
  return layers.flatMap((layer, index) => {
    const later = layers.slice(index + 1).flatMap(({ servers, broken }) => [...servers, ...broken]);
    const taken = new Set(later.map(({ name }) => name));
    return of(layer).filter(({ name }) => !taken.has(name));
  });
}

const MASKING: Readonly<Record<ArtifactConfig['maskSecrets'], number>> = { never: 0, errors: 1, always: 2 };

/** The last block counts, but no later file takes a mask off that an earlier one has put on. */
function mergeArtifacts(layers: readonly LoadedConfig[]): {
  artifacts: ArtifactConfig;
  problems: ConfigurationProblem[];
} {
  const problems: ConfigurationProblem[] = [];
  const [first, ...later] = layers.filter(({ said }) => said.has('artifacts'));
  if (!first) return { artifacts: DEFAULT_ARTIFACTS, problems };
  let { artifacts } = first;
  let { said } = first;
  for (const layer of later) {
    const next = { ...layer.artifacts };
    const keep = <K extends 'maskSecrets' | 'maskOnDisk'>(name: K, isWeaker: boolean): void => {
      const field = `artifacts.${name}`;
      if (!isWeaker || !said.has(field)) return;
      next[name] = artifacts[name];
      if (!layer.said.has(field)) return;
      const message = `"artifacts": "${name}" is stricter at the user level (${JSON.stringify(artifacts[name])}), which holds.`;
      problems.push({ severity: 'warning', message, location: layer.calls.locate(['artifacts', name]) });
    };
    keep('maskSecrets', MASKING[next.maskSecrets] < MASKING[artifacts.maskSecrets]);
    keep('maskOnDisk', artifacts.maskOnDisk && !next.maskOnDisk);
    artifacts = next;
    said = new Set([...said, ...layer.said]);
  }
  return { artifacts, problems };
}
