import type { ServerOrigin } from '../../catalog/types.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { needsApproval } from '../../trust/approvals.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { Primitives, type PrimitivesOptions } from './primitives.ts';

export interface LiveCatalogOptions extends Omit<PrimitivesOptions, 'settled'> {
  onChanged(view: CatalogView): void;
  /** Called if the servers' lists cannot be served; the last good catalog stays. */
  onFailed(view: CatalogView, error: Error): void;
  /** Called after a change that watchers may show. */
  onRebuilt(): void;
}

/** Collects the changes of servers that start at the same time into one rebuild. */
const REBUILD_DELAY_MS = 30;

/** Current catalog. A reader sees either the old one or the new one, always complete (G8.1). */
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

  /** Schedules a rebuild after a change of a server. */
  scheduleRebuild(): void {
    this.#timer ??= setTimeout(() => this.rebuild(), REBUILD_DELAY_MS);
  }

  /** Rebuilds now if a change is pending, so that a server reported as ready has its tools in the catalog. */
  catchUp(): void {
    if (this.#timer) this.rebuild();
  }

  /** Waits for starting servers that were never listed, because their tools are not yet known. */
  async settled(timeoutMs: number, signal: AbortSignal): Promise<void> {
    // A changed server shows its earlier tools, and may wait long for the calls that it still has.
    const unknown = this.#options.pool.connections.filter(
      ({ state, isKnown, catalog }) => state === 'starting' && !isKnown && catalog.tools.length === 0,
    );
    if (unknown.length > 0) {
      const started = Promise.all(unknown.map((connection) => connection.start()));
      await waitAtMost(started, performance.now() + timeoutMs, signal);
    }
    this.catchUp();
  }

  /** Rebuilds in one synchronous step, and only if something changed. */
  rebuild(): void {
    this.#cancelRebuild();
    const { pool, onChanged, onFailed, onRebuilt } = this.#options;
    const { connections } = pool;
    this.primitives.rebuild(connections);
    // Compares only tools, since other lists change without them.
    const listed = connections.flatMap(({ config, catalog }) => [
      config.name,
      config.origin,
      catalog.tools,
      catalog.instructions,
    ]);
    const same = listed.length === this.#listed.length && listed.every((part, i) => part === this.#listed[i]);
    if (same) return;
    this.#listed = listed;
    try {
      this.#view = CatalogView.build(connections.map(listingOf), this.#view.revision + 1);
      onChanged(this.#view);
    } catch (error) {
      // No list of a server may end the worker.
      onFailed(this.#view, error as Error);
    }
    onRebuilt();
  }

  stop(): void {
    this.#cancelRebuild();
    this.primitives.stop();
  }

  #cancelRebuild(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function listingOf(connection: ServerConnection) {
  const { config } = connection;
  const { tools, instructions } = connection.catalog;
  const origin: ServerOrigin = needsApproval(config) ? 'workspace' : 'user';
  return { server: config.name, origin, tools, ...(instructions === undefined ? {} : { instructions }) };
}
