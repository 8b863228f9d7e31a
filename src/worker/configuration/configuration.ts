import { isDeepStrictEqual } from 'node:util';
import { ConfigLayers, type KeptTexts, type MergedConfig } from '../../config/configLayers.ts';
import type { ConfigPlace, LoadedConfig } from '../../config/fileReader.ts';
import { approvable } from '../../config/state/approvals.ts';
import type { WouldRun } from '../../control/contract.ts';

export interface ConfigurationOptions {
  workspace: string;
  /** File that is given by hand; it counts alone. */
  configFile?: string | undefined;
  /** Reads that file if it is no configuration. */
  load?: ((place: ConfigPlace) => LoadedConfig) | undefined;
  /** Texts that the last worker had in force. */
  lastGood?: (() => KeptTexts) | undefined;
}

/** Configuration in force: one immutable value, which `read` replaces in one assignment. */
export class Configuration {
  readonly #layers: ConfigLayers;
  #current: MergedConfig;

  constructor({ workspace, configFile, load, lastGood }: ConfigurationOptions) {
    this.#layers = new ConfigLayers(workspace, process.env, configFile, load, lastGood?.());
    this.#current = this.#layers.load();
  }

  get files(): readonly string[] {
    return this.#layers.places.map(({ file }) => file);
  }

  get current(): MergedConfig {
    return this.#current;
  }

  /** Texts in force of all files, for the next worker. */
  get texts(): KeptTexts {
    return this.#layers.inForce;
  }

  /** Reads the files again. Returns whether they mean something else than before. */
  read(): boolean {
    const before = this.#current;
    this.#current = this.#layers.load();
    return !isDeepStrictEqual(meaningOf(this.#current), meaningOf(before));
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
}

/** Everything in which two configurations can differ, without source positions. */
function meaningOf({ settings, servers, broken, inputs }: MergedConfig): object {
  return {
    ...{ settings, inputs },
    servers: servers.map(({ location: _, ...server }) => server),
    broken: broken.map(({ name, reason }) => ({ name, reason })),
  };
}
