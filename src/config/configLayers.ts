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
import { type ConfigPlace, configPlaces, type LoadedConfig, loadConfig } from './loadConfig.ts';

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
  /** Where `startup` stands. */
  startupAt: FileLocation;
  /** Of each file that is there, in their order: how they go together is dispatch's affair. */
  calls: readonly { origin: ConfigOrigin; blocks: CallBlocks }[];
  /** By whose servers they are for: a repository's `default` must not get into a server of the person's own. */
  inputs: Readonly<Partial<Record<ConfigOrigin, readonly InputConfig[]>>>;
}

/** The files of a gateway. One that breaks leaves its own last good content in force, and the others as they are. */
export class ConfigLayers {
  readonly places: readonly ConfigPlace[];
  readonly #read: (place: ConfigPlace) => LoadedConfig;
  readonly #good = new Map<string, LoadedConfig>();
  readonly #unusable = new Map<string, ConfigurationProblem>();

  /** `read` reads a file that is given and no configuration. */
  constructor(
    workspace: string,
    env: NodeJS.ProcessEnv,
    given?: string,
    read: (place: ConfigPlace) => LoadedConfig = (place) => loadConfig(workspace, env, place),
  ) {
    this.#read = read;
    this.places = configPlaces(workspace, env, given);
  }

  /** Why a file counts as it was before, or not at all. */
  get unusable(): ConfigurationProblem | undefined {
    return [...this.#unusable.values()][0];
  }

  load(): MergedConfig {
    return mergeConfigs(this.places.map((place) => this.#loadOne(place)));
  }

  #loadOne(place: ConfigPlace): LoadedConfig {
    const loaded = this.#read(place);
    const good = this.#good.get(place.file);
    const flaw = loaded.usable ? undefined : loaded.problems.find(({ severity }) => severity === 'error');
    if (flaw) this.#unusable.set(place.file, flaw);
    else this.#unusable.delete(place.file);
    if (!loaded.usable && good) return { ...good, exists: loaded.exists, problems: loaded.problems };
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
    passthrough: block('passthrough'),
    startup: block('startup'),
    startupAt: layers.findLast(({ said }) => said.has('startup'))?.calls.locate(['startup']) ?? {
      file: last.file,
      line: 1,
      column: 1,
    },
    liveRefresh: block('liveRefresh'),
    calls: layers.map(({ origin, calls }) => ({ origin, blocks: calls })),
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
