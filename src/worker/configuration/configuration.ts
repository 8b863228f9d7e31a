import { isDeepStrictEqual } from 'node:util';
import type { DispatchConfig } from '../../calls/settings/dispatchConfig.ts';
import { ConfigLayers, type KeptTexts, type MergedConfig } from '../../config/configLayers.ts';
import type { ConfigurationProblem } from '../../config/gatewayConfig.ts';
import type { ConfigPlace, LoadedConfig } from '../../config/loadConfig.ts';
import { approvable } from '../../config/state/approvals.ts';
import type { WouldRun } from '../../control/contract.ts';
import { CallSettings } from './callSettings.ts';
import { type Handover, handoverOf } from './handover.ts';

export interface ConfigurationOptions {
  workspace: string;
  /** The file that was given by hand, which counts alone. */
  configFile?: string | undefined;
  /** Reads that file, where it is no configuration. */
  load?: ((place: ConfigPlace) => LoadedConfig) | undefined;
  /** What the worker before has told. */
  handover?: Handover | undefined;
  /** What the last one had in force, for one that nobody has told anything. */
  lastGood?: (() => KeptTexts) | undefined;
}

interface Written {
  config: MergedConfig;
  calls: DispatchConfig;
}

/**
 * What a gateway runs by. It is settled when it is made and holds for the gateway's whole life: what is written
 * otherwise later is another gateway's. Only where things stand in the files, and what is wrong there, is kept up.
 */
export class Configuration {
  /** How calls are made. */
  readonly calls: DispatchConfig;
  /** What is in force of each file, by its text. */
  readonly inForce: KeptTexts;
  #layers: ConfigLayers;
  #settings = new CallSettings();
  readonly #meaning: object;
  readonly #flaw: ConfigurationProblem | undefined;
  #config: MergedConfig;
  /** Why what is written now is not in force. */
  #refusal: string | undefined;

  constructor({ workspace, configFile, load, handover, lastGood }: ConfigurationOptions) {
    const layers = (kept?: KeptTexts) => new ConfigLayers(workspace, process.env, configFile, load, kept);
    this.#layers = layers(handover?.kept);
    let written = this.#read();
    if (lastGood && Object.keys(this.#kept).length > 0) {
      this.#layers = layers(lastGood());
      this.#settings = new CallSettings();
      written = this.#read();
    }
    this.inForce = joined(this.#layers.inForce, this.#settings.inForce(written.config.calls));
    this.#config = written.config;
    this.calls = written.calls;
    this.#meaning = meaningOf(written);
    // Without the rules that a person has written nothing takes over from a worker that knows them.
    const [unread] = Object.entries(this.#settings.kept).filter(
      ([file, { calls }]) => calls === null && handover?.kept[file]?.calls === undefined,
    );
    const isThere = ({ severity, location }: ConfigurationProblem): boolean =>
      severity === 'error' && location.file === unread?.[0];
    this.#flaw = this.#layers.unusable ?? this.#config.problems.find(isThere);
  }

  get files(): readonly string[] {
    return this.#layers.places.map(({ file }) => file);
  }

  /** What is in force, with what is wrong with what is written. */
  get current(): MergedConfig {
    const refusal = this.#refused;
    return refusal ? { ...this.#config, problems: [...this.#config.problems, refusal] } : this.#config;
  }

  /** Why what the person has written cannot be served, where that is so: a gateway that is to take over says it first. */
  get flaw(): string | undefined {
    return this.#flaw && told(this.#flaw);
  }

  /** For the gateway that takes over. */
  get handover(): Handover {
    return handoverOf(this.#kept, this.#config.servers);
  }

  get #kept(): KeptTexts {
    return joined(this.#layers.kept, this.#settings.kept);
  }

  /** Reads the files again. Whether they say something else than what is in force: a broken one says nothing. */
  look(): boolean {
    const written = this.#read();
    const differs = !isDeepStrictEqual(meaningOf(written), this.#meaning);
    if (!differs) this.#refusal = undefined;
    const { exists, files, problems } = written.config;
    this.#config = differs ? { ...this.#config, exists, files, problems } : written.config;
    return differs;
  }

  /** Why what is written now is not in force. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** What is written now was not taken over. */
  refuse(reason: string): void {
    this.#refusal = reason;
  }

  /** What the servers that are written now would run: `${env:NAME}` is what this process has of it. */
  wouldRun(): WouldRun[] {
    const { servers } = this.#read().config;
    return servers
      .filter(({ disabled }) => !disabled)
      .map((server) => {
        const { hash, lines } = approvable(server);
        return { name: server.name, hash, lines };
      });
  }

  /** What is wrong, a line each. */
  get problemLines(): string[] {
    return this.current.problems.map((problem) => `${problem.severity}: ${told(problem)}`);
  }

  #read(): Written {
    const config = this.#layers.load();
    const { settings, problems } = this.#settings.read(config);
    return { config: { ...config, problems: [...config.problems, ...problems] }, calls: settings };
  }

  get #refused(): ConfigurationProblem | undefined {
    if (this.#refusal === undefined) return undefined;
    const message = `What is written now is not in force, the gateway serves on as it was: ${this.#refusal}`;
    return { severity: 'error', message, location: { file: this.#config.file, line: 1, column: 1 } };
  }
}

function joined(whole: KeptTexts, calls: KeptTexts): KeptTexts {
  const files = [...new Set([...Object.keys(whole), ...Object.keys(calls)])];
  return Object.fromEntries(files.map((file) => [file, { ...whole[file], ...calls[file] }]));
}

/** All that two configurations can differ in, but not where it stands in a file. */
function meaningOf({ config, calls }: Written): object {
  const { browse, artifacts, idleMinutes, passthrough, startup, liveRefresh, inputs } = config;
  return {
    calls,
    servers: config.servers.map(({ location: _, ...server }) => server),
    broken: config.broken.map(({ name, reason }) => ({ name, reason })),
    ...{ browse, artifacts, idleMinutes, passthrough, startup, liveRefresh, inputs },
  };
}

function told({ message, location }: ConfigurationProblem): string {
  return `${location.file}:${location.line}:${location.column}: ${message}`;
}
