import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { isAlive } from '../../lib/isAlive.ts';
import { readOwnText } from '../../lib/readBounded.ts';
import { writerOf, writeWhole } from '../../lib/writeWhole.ts';
import { LIST_NAMES, type ServerCatalog } from './serverCatalog.ts';
import { snapshotKey } from './snapshotKey.ts';

const FORMAT = 3;

/** Hashes of a catalog's items, stored beside them so that a start need not compute them. */
export interface StoredPins {
  of(catalog: ServerCatalog): unknown;
  adopt(catalog: ServerCatalog, stored: unknown): void;
}

/**
 * Stores the last lists of each server in a file, so that clients can browse without a running server. A damaged file,
 * or a file of another configuration, counts as missing.
 */
export class CatalogSnapshots {
  readonly #folder: string;
  readonly #log: (line: string) => void;
  readonly #pins: StoredPins | undefined;

  constructor(folder: string, log: (line: string) => void, pins?: StoredPins) {
    this.#folder = folder;
    this.#log = log;
    this.#pins = pins;
  }

  read(config: ServerConfig): ServerCatalog | undefined {
    try {
      const { format, key, catalog, pins } = JSON.parse(readOwnText(this.#file(config.name))) as {
        format: unknown;
        key: unknown;
        catalog: ServerCatalog;
        pins: unknown;
      };
      if (format !== FORMAT || key !== snapshotKey(config) || !isCatalog(catalog)) return undefined;
      this.#pins?.adopt(catalog, pins);
      return catalog;
    } catch {
      return undefined;
    }
  }

  write(config: ServerConfig, catalog: ServerCatalog): void {
    const file = this.#file(config.name);
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const pins = this.#pins?.of(catalog);
      const content = { format: FORMAT, key: snapshotKey(config), server: config.name, catalog, pins };
      writeWhole(file, JSON.stringify(content), { mode: 0o600 });
    } catch (error) {
      this.#log(`${config.name}: its catalog could not be saved: ${(error as Error).message}`);
    }
  }

  /** Deletes the snapshots of other servers, except files that another worker is writing. */
  keepOnly(servers: readonly string[]): void {
    const kept = new Set(servers.map((name) => this.#file(name)));
    let files: string[];
    try {
      files = readdirSync(this.#folder).map((name) => join(this.#folder, name));
    } catch {
      return;
    }
    for (const file of files.filter((one) => !kept.has(one) && !isBeingWritten(one))) {
      try {
        rmSync(file, { force: true });
      } catch {
        // A file that another program holds stays; nothing reads it.
      }
    }
  }

  /** Uses a hash, because a server's name may be no valid file name. */
  #file(server: string): string {
    return join(this.#folder, `${createHash('sha256').update(server).digest('hex').slice(0, 16)}.json`);
  }
}

function isBeingWritten(file: string): boolean {
  const writer = writerOf(file);
  return writer !== undefined && isAlive(writer);
}

function isCatalog(value: unknown): value is ServerCatalog {
  const catalog = (value ?? {}) as Record<string, unknown>;
  const { instructions, capabilities } = catalog;
  const introduced = instructions === undefined || typeof instructions === 'string';
  const listed = LIST_NAMES.every((name) => Array.isArray(catalog[name]));
  return listed && introduced && typeof capabilities === 'object' && capabilities !== null;
}
