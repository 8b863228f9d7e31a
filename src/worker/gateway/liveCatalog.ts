import { deferred } from '../../lib/deferred.ts';
import { waitAtMost } from '../../lib/waitAtMost.ts';
import { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { originOf } from '../../trust/approvals.ts';
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
  /** Resolves after the next change of a server. */
  #rebuilt = deferred<void>();
  /** Times at which the first answer began to wait for a server. */
  readonly #awaitedSince = new WeakMap<ServerConnection, number>();

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

  /** Waits for servers that were never listed, because their tools are not yet known. */
  settled(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    return this.#awaitLists(() => deadline, signal);
  }

  /**
   * Waits like `settled`, but until `isEnough`, and for each server only once: its time counts from the first answer
   * that waited for it, so that a server that hangs does not delay each answer.
   */
  settledOnce(timeoutMs: number, signal: AbortSignal, isEnough?: () => boolean): Promise<void> {
    const now = performance.now();
    const deadlineOf = (connection: ServerConnection): number => {
      const since = this.#awaitedSince.get(connection) ?? now;
      this.#awaitedSince.set(connection, since);
      return since + timeoutMs;
    };
    return this.#awaitLists(deadlineOf, signal, isEnough);
  }

  /** Waits for the first list of one server, which then starts before others. */
  async listedServer(name: string, timeoutMs: number, signal: AbortSignal): Promise<void> {
    const connection = this.#options.pool.get(name);
    if (connection?.isUnlisted) await waitAtMost(connection.start(), performance.now() + timeoutMs, signal);
    this.catchUp();
  }

  async #awaitLists(
    deadlineOf: (connection: ServerConnection) => number,
    signal: AbortSignal,
    isEnough: () => boolean = () => false,
  ): Promise<void> {
    for (;;) {
      this.catchUp();
      const unlisted = this.#options.pool.connections.filter((connection) => connection.isUnlisted);
      if (unlisted.length === 0 || signal.aborted || isEnough()) return;
      const deadline = Math.max(...unlisted.map(deadlineOf));
      if (performance.now() >= deadline) return;
      await waitAtMost(this.#rebuilt.promise, deadline, signal);
    }
  }

  /** Rebuilds in one synchronous step, and only if something changed. */
  rebuild(): void {
    this.#cancelRebuild();
    this.#rebuilt.resolve();
    this.#rebuilt = deferred();
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
  return {
    server: config.name,
    origin: originOf(config),
    tools,
    ...(instructions === undefined ? {} : { instructions }),
  };
}
