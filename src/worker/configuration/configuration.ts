import { isDeepStrictEqual } from 'node:util';
import { ConfigLayers, type MergedConfig } from '../../config/configLayers.ts';
import type { LoadedConfig } from '../../config/fileReader.ts';
import type { ConfigPlace } from '../../config/state/configPlaces.ts';
import type { KeptTexts } from '../../config/state/keptTexts.ts';

export interface ConfigurationOptions {
  workspace: string;
  /** File given by the user, which replaces all others. */
  configFile?: string | undefined;
  /** Reads that file if it is not a configuration. */
  load?: ((place: ConfigPlace) => LoadedConfig) | undefined;
  /** Texts that the last worker had in force. */
  lastGood?: (() => KeptTexts) | undefined;
}

/**
 * Configuration in force: one immutable value, which `read` replaces in one assignment. Unreadable parts keep their
 * last readable content, or have their strictest meaning.
 */
export class Configuration {
  readonly #layers: ConfigLayers;
  readonly #lastGood: (() => KeptTexts) | undefined;
  #inForce: MergedConfig;

  constructor({ workspace, configFile, load, lastGood }: ConfigurationOptions) {
    this.#lastGood = lastGood;
    this.#layers = new ConfigLayers(workspace, process.env, configFile, load, lastGood?.());
    this.#inForce = this.#layers.load();
  }

  /** Files that decide about the configuration. */
  get files(): readonly string[] {
    return [...new Set([...this.#layers.places.map(({ file }) => file), ...this.#inForce.envFiles])];
  }

  get current(): MergedConfig {
    return this.#inForce;
  }

  /** Texts in force of all files, for the next worker. */
  get texts(): KeptTexts {
    return this.#layers.inForce;
  }

  /** Adopts the texts that the previous worker has put in force since the start of this one. */
  takeOver(): void {
    this.#layers.restore(this.#lastGood?.() ?? {});
  }

  /** Reads the files again. Returns whether their meaning has changed. */
  read(): boolean {
    const before = this.#inForce;
    this.#inForce = this.#layers.load();
    return !isDeepStrictEqual(meaningOf(this.#inForce), meaningOf(before));
  }
}

/** Returns everything that can differ between two configurations, except positions in files. */
function meaningOf({ settings, servers, broken }: MergedConfig): object {
  return {
    settings,
    servers: servers.map(({ location: _, ...server }) => server),
    broken: broken.map(({ name, reason }) => ({ name, reason })),
  };
}
