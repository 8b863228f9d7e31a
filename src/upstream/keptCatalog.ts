import type { ServerConfig } from '../config/gatewayConfig.ts';
import { count } from '../ops/porcelain.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { catalogHash, type ServerCatalog } from './serverCatalog.ts';

const NOTHING: ServerCatalog = { tools: [], capabilities: {} };

/** The last good catalog of a server, in memory and on disk. */
export class KeptCatalog {
  readonly #snapshots: CatalogSnapshots | undefined;
  #current: ServerCatalog = NOTHING;
  #hash: string | undefined;

  constructor(config: ServerConfig, snapshots: CatalogSnapshots | undefined) {
    this.#snapshots = snapshots;
    const snapshot = snapshots?.read(config);
    if (!snapshot) return;
    this.#current = snapshot;
    this.#hash = catalogHash(snapshot);
  }

  get current(): ServerCatalog {
    return this.#current;
  }

  /** Whether the server has ever been listed. */
  get isKnown(): boolean {
    return this.#current !== NOTHING;
  }

  /** What is listed as before changes nothing, so that nothing is built anew for it. Returns whether it is another. */
  replace(catalog: ServerCatalog, config: ServerConfig): boolean {
    const hash = catalogHash(catalog);
    if (hash !== undefined && hash === this.#hash) return false;
    this.#current = catalog;
    this.#hash = hash;
    if (hash !== undefined) this.#snapshots?.write(config, catalog);
    return true;
  }

  /** For the reason why a server cannot be listed. */
  get staleNote(): string {
    const { length } = this.#current.tools;
    return length === 0 ? '' : ` What is shown of it (${count(length, 'tool')}) is from its last good list.`;
  }
}
