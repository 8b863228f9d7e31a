import { isDeepStrictEqual } from 'node:util';
import type { Environment, Surroundings } from '../configuration/environment.ts';
import { Observable } from '../observable.ts';
import type { LinkState } from './gatewayLink.ts';
import { type GatewaySeen, HeldVersion } from './heldVersion.ts';
import { type DefinitionData, serverDefinition, serverLabel } from './serverDefinition.ts';

export interface Installation {
  distFolder: string;
  version: string;
}

/** Definition of a folder's server, as the editor is to know it. */
export class HeldDefinition {
  readonly #installation: Installation;
  readonly #name: string;
  readonly #environment: Environment;
  readonly #version = new HeldVersion(undefined);
  /** Version that the editor has, with the hash in it. */
  #given: { version?: string | undefined; hash?: string | undefined } = {};
  /** Everything that makes the editor read the definition again. */
  readonly state: Observable<{ data: DefinitionData | undefined; trusted: boolean }>;
  readonly #watching: readonly { dispose(): void }[];

  constructor(installation: Installation, name: string, environment: Environment, link: Observable<LinkState>) {
    this.#installation = installation;
    this.#name = name;
    this.#environment = environment;
    this.#written(environment.state.value);
    this.state = new Observable(this.#read(), isDeepStrictEqual);
    const update = (): void => this.state.set(this.#read());
    this.#watching = [
      environment.state.onChange((surroundings) => {
        this.#written(surroundings);
        update();
      }),
      link.onChange((state) => this.#version.see(seenOf(state))),
      this.#version.hash.onChange(update),
      this.#version,
    ];
  }

  get label(): string {
    return serverLabel(this.#name);
  }

  /** Returns the definition once the configuration has been checked; undefined if the folder has none. */
  async settled(): Promise<DefinitionData | undefined> {
    this.#written(await this.#environment.settled());
    const { data } = this.#read();
    this.#given = { version: data?.version, hash: this.#version.hash.value };
    return data;
  }

  /** Keeps the definition from now on, if it is the one with which the editor starts the server. */
  starting(version: string | undefined): void {
    const { hash } = this.#given;
    if (hash !== undefined && version === this.#given.version) this.#version.starting(hash);
  }

  dispose(): void {
    for (const one of this.#watching) one.dispose();
  }

  #written({ configuration }: Surroundings): void {
    // Wait until both files are known: a single file has another hash.
    if (configuration.known) this.#version.write(configuration.hash);
  }

  #read(): { data: DefinitionData | undefined; trusted: boolean } {
    const { workspace, nodePath, trusted } = this.#environment.state.value;
    const data = serverDefinition({
      distFolder: this.#installation.distFolder,
      name: this.#name,
      workspace,
      extensionVersion: this.#installation.version,
      configurationHash: this.#version.hash.value,
      nodePath,
      execPath: process.execPath,
    });
    return { data, trusted };
  }
}

function seenOf(link: LinkState): GatewaySeen | undefined {
  if (link.kind !== 'attached') return undefined;
  const { sessions, configuration } = link.snapshot;
  return { sessions: sessions.length, mode: configuration.mode };
}
