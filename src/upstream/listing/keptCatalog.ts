import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { count } from '../../text/porcelain.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { type ListName, NOTHING_LISTED, PARTS, partHash, type ServerCatalog } from './serverCatalog.ts';

type Part = keyof ServerCatalog;

/** Last good catalog of a server, in memory and on disk. */
export class KeptCatalog {
  readonly #snapshots: CatalogSnapshots | undefined;
  #current: ServerCatalog;
  #isKnown = false;
  readonly #hashes = new Map<Part, string | undefined>();
  /**
   * Parts of the snapshot without a hash yet: hashing waits for the first list, so that it does not delay the start.
   */
  readonly #unhashed = new Set<Part>();
  /** Lists that are partial. */
  readonly #halves = new Set<Part>();

  /** `before`: catalog of the same server before its configuration changed, shown until the next list. */
  constructor(config: ServerConfig, snapshots: CatalogSnapshots | undefined, before?: ServerCatalog) {
    this.#snapshots = snapshots;
    const snapshot = snapshots?.read(config);
    // Reuse the previous objects if possible, so that nothing derived from them is built again.
    this.#current = (before === NOTHING_LISTED ? undefined : before) ?? snapshot ?? NOTHING_LISTED;
    if (!snapshot) return;
    this.#isKnown = true;
    for (const part of PARTS) this.#unhashed.add(part);
  }

  get current(): ServerCatalog {
    return this.#current;
  }

  /** True after the first successful list. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * Replaces parts and returns the changed ones. An unchanged list stays the same object, so that nothing derived from
   * it is built again. Writes no snapshot while a list is partial, so that the next worker lists the server again.
   */
  replace(parts: Partial<ServerCatalog>, halves: ReadonlySet<Part>, config: ServerConfig): Part[] {
    const changed = (Object.keys(parts) as Part[]).filter((part) => {
      const hash = partHash(parts[part]);
      const same = hash !== undefined && hash === this.#hashOf(part) && halves.has(part) === this.#halves.has(part);
      this.#hashes.set(part, hash);
      if (halves.has(part)) this.#halves.add(part);
      else this.#halves.delete(part);
      return !same;
    });
    if (changed.length === 0) return changed;
    this.#current = {
      ...(this.#isKnown ? this.#current : NOTHING_LISTED),
      ...Object.fromEntries(changed.map((part) => [part, parts[part]])),
    };
    this.#isKnown = true;
    const writable = [...this.#hashes.values()].every((hash) => hash !== undefined);
    if (writable && this.#halves.size === 0) this.#snapshots?.write(config, this.#current);
    return changed;
  }

  /** Reports whether the kept list beats a partial one: a complete list does, and so does a longer partial one. */
  showsMoreThan(half: readonly unknown[], name: ListName): boolean {
    const { length } = this.#current[name];
    if (!this.#isKnown) return false;
    return this.#halves.has(name) ? length > half.length : length > 0;
  }

  #hashOf(part: Part): string | undefined {
    if (this.#unhashed.delete(part)) this.#hashes.set(part, partHash(this.#current[part]));
    return this.#hashes.get(part);
  }

  /** Note for the reason why a server cannot list. */
  get staleNote(): string {
    const { length } = this.#current.tools;
    return length === 0 ? '' : ` The shown catalog (${count(length, 'tool')}) is from its last good list.`;
  }
}
