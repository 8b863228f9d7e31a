import type { Settings } from '../../config/declaration/document.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { RestartLimits } from '../../supervision/restartPolicy.ts';
import type { CatalogSnapshots } from '../listing/catalogSnapshots.ts';
import type { ListingGate } from '../listing/listingGate.ts';
import type { ServerCatalog } from '../listing/serverCatalog.ts';
import type { ServerEras } from '../listing/serverEras.ts';
import type { StartQueue } from '../start/startQueue.ts';
import type { LinkEvents, UpstreamLink } from '../transports/upstreamLink.ts';
import type { CallOrigin } from './callOrigin.ts';
import type { ServerConnection } from './serverConnection.ts';

/** Events of a connection, for its owner. */
export interface ConnectionEvents {
  /** The state, the catalog or the reason has changed. */
  onChange(): void;
  /** Asks the client of a call to sign the user in. Resolves to whether another attempt makes sense. */
  signIn?(server: string, origin: CallOrigin, signal: AbortSignal | undefined): Promise<boolean>;
  /** A connection for one session exists but has not started. */
  onSessionConnection?(connection: ServerConnection): void;
  log(line: string): void;
  /** Masks secrets in everything a server says, before anything else sees it. */
  scrubSecrets(text: string): string;
  /** Masks values that servers were given, in everything that a server lists and announces. */
  maskKnown?(value: unknown): unknown;
}

/** Connection of the same server under its previous configuration. */
export interface Predecessor {
  /** Resolves when its calls and its process have ended. */
  ended: Promise<void>;
  /** Catalog to show until the changed server has listed its own. */
  catalog: ServerCatalog;
}

/** Makes the link for one start; rejects with one sentence if something required is missing. */
export type OpenLink = (config: ServerConfig, events: LinkEvents) => Promise<UpstreamLink>;

/** Services that a connection requires from its owner. */
export interface ConnectionServices {
  openLink: OpenLink;
  /** Reports whether the user has approved the server; checked before each start. Defaults to approved. */
  isApproved?: (config: ServerConfig) => boolean;
  /** Reports whether to retry a server that requires a sign-in. Without it, only an explicit start retries. */
  mayTry?: (config: ServerConfig) => Promise<boolean>;
  /** Without snapshots, a server starts together with the gateway. */
  snapshots?: CatalogSnapshots;
  /** Verdicts about the revisions of MCP that servers speak; without them, each connection keeps its own. */
  eras?: ServerEras;
  /** Without a gate, everything that a server lists is offered. */
  gate?: ListingGate;
  /** Time after which a server without calls stops; without it, never. */
  idleMs?: () => number;
  /** Limit of a first start. */
  startTimeoutMs?: () => number;
  /** Minimum limit of a later start, bounded by the limit of a first one. */
  restartTimeoutMs?: number;
  /** Limit for all pages of a list together. */
  listLimitMs?: number;
  liveRefresh?: () => Settings['liveRefresh'];
  restartLimits?: RestartLimits;
  /** Limits starts that no call needs. Without a queue, all start at once. */
  startQueue?: StartQueue;
}
