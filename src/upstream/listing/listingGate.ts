import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { ServerCatalog } from './serverCatalog.ts';

/** Part of a server's listing that is not offered, and why. */
export interface HeldItem {
  readonly item: { readonly part: string; readonly name: string; readonly raw: unknown };
  readonly why: string;
}

/** Listing as clients may see it. */
export interface OfferedListing {
  readonly listing: ServerCatalog;
  readonly held: readonly HeldItem[];
}

/** Decides which parts of a server's listing are offered (T2). */
export interface ListingGate {
  /** Called after each list, before anything of it is offered. */
  onListed(config: ServerConfig, listing: ServerCatalog, listed: readonly (keyof ServerCatalog)[]): void;
  /** Reports whether a resource reads like an attack. Resources have no pins: servers list others all the time. */
  isHarmful(resource: unknown): boolean;
  /** Returns the same objects while listing and pins are the same. */
  offer(config: ServerConfig, listing: ServerCatalog): OfferedListing;
}
