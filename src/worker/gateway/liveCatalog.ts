import { waitAtMost } from '../../lib/waitAtMost.ts';
import { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { Primitives, type PrimitivesOptions } from './primitives.ts';
import { rankResources } from './rankResources.ts';

export interface LiveCatalogOptions extends Omit<PrimitivesOptions, 'settled'> {
  onChanged(view: CatalogView): void;
  /** What the servers list now cannot be served: the last good catalog is. */
  onFailed(view: CatalogView, error: Error): void;
  /** Something that a watcher shows may have changed. */
  onRebuilt(): void;
}

/** Several servers come up within a moment: one rebuild serves them all. */
const REBUILD_DELAY_MS = 30;

/** Current catalog. A reader sees a whole one, the old or the new (G8.1). */
export class LiveCatalog {
  /** Resources and prompts, which change in the same step. */
  readonly primitives: Primitives;
  readonly #options: LiveCatalogOptions;
  #view = CatalogView.build([], 0);
  #listed: readonly unknown[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LiveCatalogOptions) {
    this.#options = options;
    this.primitives = new Primitives({ ...options, settled: (timeoutMs, signal) => this.settled(timeoutMs, signal) });
  }

  get view(): CatalogView {
    return this.#view;
  }

  /** Something of a server has changed. */
  touch(): void {
    this.#timer ??= setTimeout(() => this.rebuild(), REBUILD_DELAY_MS);
  }

  /** Whoever is told that a server is ready finds its tools here. */
  catchUp(): void {
    if (this.#timer) this.rebuild();
  }

  /** Waits for those that have never been listed: starting is not absent. */
  async settled(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const unknown = this.#options.pool.connections.filter(({ state, isKnown }) => state === 'starting' && !isKnown);
    if (unknown.length > 0) {
      const started = Promise.all(unknown.map((connection) => connection.start()));
      await waitAtMost(started, performance.now() + timeoutMs, signal);
    }
    this.catchUp();
  }

  /** One synchronous step; nothing is done where nothing has changed. */
  rebuild(): void {
    this.#forgetTouch();
    const { pool, onChanged, onFailed, onRebuilt } = this.#options;
    const { connections } = pool;
    this.primitives.rebuild(connections);
    // The tools alone: what else a server has changes without them.
    const listed = connections.flatMap(({ config, catalog }) => [config.name, catalog.tools, catalog.instructions]);
    const same = listed.length === this.#listed.length && listed.every((part, i) => part === this.#listed[i]);
    if (same) return;
    this.#listed = listed;
    try {
      this.#view = CatalogView.build(connections.map(listingOf), this.#view.revision + 1, rankResources());
      onChanged(this.#view);
    } catch (error) {
      // What a server lists must never end the worker.
      onFailed(this.#view, error as Error);
    }
    onRebuilt();
  }

  stop(): void {
    this.#forgetTouch();
    this.primitives.stop();
  }

  #forgetTouch(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function listingOf(connection: ServerConnection) {
  const { config } = connection;
  const { tools, instructions } = connection.catalog;
  return { server: config.name, tools, ...(instructions === undefined ? {} : { instructions }) };
}
