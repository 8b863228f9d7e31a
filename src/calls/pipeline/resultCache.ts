import { createHash } from 'node:crypto';
import { canonicalJson } from '../../catalog/canonicalJson.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { settingsFor } from '../../config/declaration/block.ts';
import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import type { JsonObject } from '../json.ts';

/** Settings of the cache for results of read-only tools, which the user opts into (G7.4). */
export type CacheSettings = CallSettings['cache'];

/** Keeps one large answer from evicting all others. */
const MAX_SHARE = 1 / 4;

interface Entry {
  /** JSON, so that every hit gets a copy of its own and the size is known. */
  json: string;
  bytes: number;
  /** Time at which the answer is too old. */
  until: number;
}

export class ResultCache {
  #settings: CacheSettings;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;
  #generation = 0;

  /** `now` returns seconds since any fixed time. */
  constructor(settings: CacheSettings, now: () => number = () => performance.now() / 1000) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Puts edited settings in force and drops all entries. */
  adopt(settings: CacheSettings): void {
    this.#settings = settings;
    this.clear();
  }

  /** Changes with every invalidation. An answer requested before it belongs to the earlier catalog. */
  get generation(): number {
    return this.#generation;
  }
  get size(): number {
    return this.#entries.size;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether a tool's results may be cached: the tool declares that it only reads, and the user allows caching. */
  admits({ id, safety, server }: Pick<CatalogTool, 'id' | 'safety' | 'server'>): boolean {
    const { readOnly } = settingsFor(this.#settings, server);
    return readOnly && safety === 'read_only' && this.allows(id, server);
  }

  allows(toolId: string, server = ''): boolean {
    const { allow } = settingsFor(this.#settings, server);
    return allow === null || allow.includes(toolId);
  }

  get(key: string): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (this.#now() >= entry.until) {
      this.#delete(key, entry);
      return undefined;
    }
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return JSON.parse(entry.json);
  }

  /** Whether `get` would find an entry; does not count as a use. */
  has(key: string): boolean {
    const entry = this.#entries.get(key);
    return entry !== undefined && this.#now() < entry.until;
  }

  /** `generation`: the cache's generation when the answer was requested. */
  put(key: string, result: JsonObject, generation = this.#generation, server = ''): void {
    if (generation !== this.#generation) return;
    const json = JSON.stringify(result);
    const bytes = Buffer.byteLength(json);
    const { maxBytes } = this.#settings;
    if (bytes > maxBytes * MAX_SHARE) return;
    const former = this.#entries.get(key);
    if (former) this.#delete(key, former);
    this.#entries.set(key, { json, bytes, until: this.#now() + settingsFor(this.#settings, server).ttlSeconds });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= this.#settings.maxEntries && this.#bytes <= maxBytes) break;
      this.#delete(oldest, entry);
    }
  }

  /** Drops everything, for a refreshed catalog (G7.4). */
  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#bytes = 0;
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}

/** Returns the key of a call. The order of arguments does not matter. */
export function cacheKey(toolId: string, args: unknown): string {
  return createHash('sha256')
    .update(`${toolId}\0${canonicalJson(args)}`)
    .digest('hex');
}
