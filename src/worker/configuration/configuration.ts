import { isDeepStrictEqual } from 'node:util';
import { asLine, ConfigLayers, type KeptTexts, type MergedConfig } from '../../config/configLayers.ts';
import type { ConfigPlace, LoadedConfig } from '../../config/fileReader.ts';
import type { ConfigurationProblem } from '../../config/gatewayConfig.ts';
import { approvable } from '../../config/state/approvals.ts';
import type { WouldRun } from '../../control/contract.ts';
import { type Handover, handoverOf } from './handover.ts';

export interface ConfigurationOptions {
  workspace: string;
  /** File that is given by hand; it counts alone. */
  configFile?: string | undefined;
  /** Reads that file if it is no configuration. */
  load?: ((place: ConfigPlace) => LoadedConfig) | undefined;
  /** State of the worker before. */
  handover?: Handover | undefined;
  /** Texts that the last gateway had in force, for a worker without a handover. */
  lastGood?: (() => KeptTexts) | undefined;
}

/**
 * Configuration that a gateway runs by. It is settled when it is made and holds for the gateway's whole life: a later
 * edit is for another gateway. Only source positions and errors are kept up to date.
 */
export class Configuration {
  /** Texts in force, by file. */
  readonly inForce: KeptTexts;
  readonly #layers: ConfigLayers;
  readonly #meaning: object;
  readonly #flaw: ConfigurationProblem | undefined;
  #config: MergedConfig;
  /** Why the current text of a file is not in force. */
  #refusal: string | undefined;

  constructor({ workspace, configFile, load, handover, lastGood }: ConfigurationOptions) {
    const kept = { ...lastGood?.(), ...handover?.kept };
    this.#layers = new ConfigLayers(workspace, process.env, configFile, load, kept);
    this.#config = this.#layers.load();
    this.inForce = this.#layers.inForce;
    this.#meaning = meaningOf(this.#config);
    // A gateway that does not know the user's rules must not take over from one that knows them.
    this.#flaw = this.#layers.flaw(handover?.kept ?? {});
  }

  get files(): readonly string[] {
    return this.#layers.places.map(({ file }) => file);
  }

  /** Configuration in force, with the errors of the files as they are now. */
  get current(): MergedConfig {
    const refusal = this.#refused;
    return refusal ? { ...this.#config, problems: [...this.#config.problems, refusal] } : this.#config;
  }

  /** First error for which this gateway must not take over from another. */
  get flaw(): string | undefined {
    return this.#flaw && asLine(this.#flaw);
  }

  /** State for the gateway that takes over. */
  get handover(): Handover {
    return handoverOf(this.#layers.kept, this.#config.servers);
  }

  /** Reads the files again. Returns whether they mean something else than the configuration in force. */
  look(): boolean {
    const written = this.#layers.load();
    const differs = !isDeepStrictEqual(meaningOf(written), this.#meaning);
    if (!differs) this.#refusal = undefined;
    const { exists, files, problems } = written;
    this.#config = differs ? { ...this.#config, exists, files, problems } : written;
    return differs;
  }

  /** Why the current text of a file is not in force. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** Notes why the current text of a file is not in force. */
  refuse(reason: string): void {
    this.#refusal = reason;
  }

  /** Returns what the servers in the files would run, with the environment of this process. */
  wouldRun(): WouldRun[] {
    const { servers } = this.#layers.load();
    return servers
      .filter(({ disabled }) => !disabled)
      .map((server) => {
        const { hash, lines } = approvable(server);
        return { name: server.name, hash, lines };
      });
  }

  /** Errors and warnings, one line each. */
  get problemLines(): string[] {
    return this.current.problems.map((problem) => `${problem.severity}: ${asLine(problem)}`);
  }

  get #refused(): ConfigurationProblem | undefined {
    if (this.#refusal === undefined) return undefined;
    const message = `What is written now is not in force, the gateway serves on as it was: ${this.#refusal}`;
    return { severity: 'error', message, location: { file: this.#config.file, line: 1, column: 1 } };
  }
}

/** Everything in which two configurations can differ, without source positions. Sessions that begin read `mode`. */
function meaningOf({ settings: { mode: _, ...settings }, servers, broken, inputs }: MergedConfig): object {
  return {
    ...{ settings, inputs },
    servers: servers.map(({ location: _, ...server }) => server),
    broken: broken.map(({ name, reason }) => ({ name, reason })),
  };
}
