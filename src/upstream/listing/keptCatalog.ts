import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { count } from '../../text/porcelain.ts';
import type { CatalogSnapshots } from './catalogSnapshots.ts';
import { type ListName, NOTHING_LISTED, PARTS, partHash, type ServerCatalog } from './serverCatalog.ts';

type Part = keyof ServerCatalog;

/** The last good catalog of a server, in memory and on disk. */
export class KeptCatalog {
  readonly #snapshots: CatalogSnapshots | undefined;
  #current: ServerCatalog;
  #isKnown = false;
  readonly #hashes = new Map<Part, string | undefined>();
  /** Of the snapshot: a start does not wait for what only a server that runs is compared with. */
  readonly #unhashed = new Set<Part>();
  /** Lists of which there is no more than a half. */
  readonly #halves = new Set<Part>();

  /** `before`: listed by the same server before its configuration changed, shown until it is listed again. */
  constructor(config: ServerConfig, snapshots: CatalogSnapshots | undefined, before?: ServerCatalog) {
    this.#snapshots = snapshots;
    const snapshot = snapshots?.read(config);
    // The same objects where they are good for this configuration too: nothing is built anew for them.
    this.#current = before ?? snapshot ?? NOTHING_LISTED;
    if (!snapshot) return;
    this.#isKnown = true;
    for (const part of PARTS) this.#unhashed.add(part);
  }

  get current(): ServerCatalog {
    return this.#current;
  }

  /** Whether the server has ever been listed. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * Puts these parts in the place of the old ones. A list that is as before stays the same object, so that nothing is
   * built anew for it. Returns which are others. While half of a list is shown nothing is kept on disk: the next worker
   * has the server list it once more.
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

  /** Half a list is for whoever has no whole one, and no greater half. */
  showsMoreThan(half: readonly unknown[], name: ListName): boolean {
    const { length } = this.#current[name];
    if (!this.#isKnown) return false;
    return this.#halves.has(name) ? length > half.length : length > 0;
  }

  #hashOf(part: Part): string | undefined {
    if (this.#unhashed.delete(part)) this.#hashes.set(part, partHash(this.#current[part]));
    return this.#hashes.get(part);
  }

  /** For the reason why a server cannot be listed. */
  get staleNote(): string {
    const { length } = this.#current.tools;
    return length === 0 ? '' : ` What is shown of it (${count(length, 'tool')}) is from its last good list.`;
  }
}
