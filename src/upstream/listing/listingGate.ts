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
  /** Reason why nothing of the server is offered; `new` until its first list is pinned. */
  readonly whole?: string;
}

/** Request of a client for a server. */
export interface GatedRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Decides which parts of a server's listing are offered (T2). */
export interface ListingGate {
  /** Called after each list, before anything of it is offered. */
  onListed(config: ServerConfig, listing: ServerCatalog, listed: readonly (keyof ServerCatalog)[]): void;
  /** Returns the error for a request that would use what is not offered; `undefined` if it may be sent. */
  refusal(config: ServerConfig, listing: ServerCatalog, request: GatedRequest): Error | undefined;
  /** Reports whether a resource reads like an attack. Resources have no pins: servers list others all the time. */
  isHarmful(config: ServerConfig, resource: unknown): boolean;
  /** Returns the same objects while listing and pins are the same. */
  offer(config: ServerConfig, listing: ServerCatalog): OfferedListing;
}
