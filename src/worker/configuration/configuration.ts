import { isDeepStrictEqual } from 'node:util';
import type { DispatchConfig } from '../../calls/settings/dispatchConfig.ts';
import { ConfigLayers, type MergedConfig } from '../../config/configLayers.ts';
import type { ConfigPlace, LoadedConfig } from '../../config/loadConfig.ts';
import { approvable } from '../../config/state/approvals.ts';
import type { KeptTexts } from '../../config/state/keptTexts.ts';
import type { WouldRun } from '../../control/contract.ts';
import { CallSettings } from './callSettings.ts';

export interface ConfigurationOptions {
  workspace: string;
  /** File given by hand, which counts alone. */
  configFile?: string | undefined;
  /** Reads that file, if it is not a configuration. */
  load?: ((place: ConfigPlace) => LoadedConfig) | undefined;
  /** Texts that the last worker had in force. */
  lastGood?: (() => KeptTexts) | undefined;
}

interface InForce {
  readonly config: MergedConfig;
  readonly calls: DispatchConfig;
}

/**
 * Configuration in force: one immutable value, which `read` replaces in one assignment. A file that cannot be read
 * leaves its last readable content in force.
 */
export class Configuration {
  #layers: ConfigLayers;
  #settings = new CallSettings();
  #inForce: InForce;

  constructor({ workspace, configFile, load, lastGood }: ConfigurationOptions) {
    const layers = (kept?: KeptTexts) => new ConfigLayers(workspace, process.env, configFile, load, kept);
    this.#layers = layers();
    this.#inForce = this.#load();
    const isUnreadable = Object.keys({ ...this.#layers.kept, ...this.#settings.kept }).length > 0;
    if (!lastGood || !isUnreadable) return;
    this.#layers = layers(lastGood());
    this.#settings = new CallSettings();
    this.#inForce = this.#load();
  }

  get files(): readonly string[] {
    return this.#layers.places.map(({ file }) => file);
  }

  get current(): MergedConfig {
    return this.#inForce.config;
  }

  /** How calls are made. */
  get calls(): DispatchConfig {
    return this.#inForce.calls;
  }

  /** Texts in force of all files, for the next worker. */
  get texts(): KeptTexts {
    return joined(this.#layers.inForce, this.#settings.inForce(this.current.calls));
  }

  /** Reads the files again. Returns whether they mean something else than before. */
  read(): boolean {
    const before = this.#inForce;
    this.#inForce = this.#load();
    return !isDeepStrictEqual(meaningOf(this.#inForce), meaningOf(before));
  }

  /** Returns what the configured servers run. `${env:NAME}` is read in this process. */
  wouldRun(): WouldRun[] {
    return this.current.servers
      .filter(({ disabled }) => !disabled)
      .map((server) => {
        const { hash, lines } = approvable(server);
        return { name: server.name, hash, lines };
      });
  }

  #load(): InForce {
    const config = this.#layers.load();
    const { settings, problems } = this.#settings.read(config);
    return { config: { ...config, problems: [...config.problems, ...problems] }, calls: settings };
  }
}

function joined(whole: KeptTexts, calls: KeptTexts): KeptTexts {
  const files = [...new Set([...Object.keys(whole), ...Object.keys(calls)])];
  return Object.fromEntries(files.map((file) => [file, { ...whole[file], ...calls[file] }]));
}

/** Everything that two configurations can differ in, except the position of things in a file. */
function meaningOf({ config, calls }: InForce): object {
  const { browse, artifacts, idleMinutes, passthrough, startup, liveRefresh, inputs, mode } = config;
  return {
    calls,
    servers: config.servers.map(({ location: _, ...server }) => server),
    broken: config.broken.map(({ name, reason }) => ({ name, reason })),
    ...{ browse, artifacts, idleMinutes, passthrough, startup, liveRefresh, inputs, mode },
  };
}
