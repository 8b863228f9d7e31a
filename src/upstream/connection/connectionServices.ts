import type { Settings } from '../../config/declaration/document.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { RestartLimits } from '../../supervision/restartPolicy.ts';
import type { CatalogSnapshots } from '../listing/catalogSnapshots.ts';
import type { LinkEvents, UpstreamLink } from '../transports/upstreamLink.ts';

/** What a connection tells whoever owns it. */
export interface ConnectionEvents {
  /** State, catalog or reason have changed. */
  onChange(): void;
  log(line: string): void;
  /** Applied to what a server says before it is told to anybody. */
  scrubSecrets(text: string): string;
}

/** Makes the way to a server, one for each start; rejects with one sentence where something is missing for it. */
export type OpenLink = (config: ServerConfig, events: LinkEvents) => Promise<UpstreamLink>;

/** What a connection needs of whoever owns it. */
export interface ConnectionServices {
  openLink: OpenLink;
  /** Whether the person lets it run; asked before each start. Without it everything may. */
  isApproved?: (config: ServerConfig) => boolean;
  /** Whether a server that wants a sign-in may be asked again; without it, only when somebody asks for a start. */
  mayTry?: (config: ServerConfig) => Promise<boolean>;
  /** Without them a server starts with the gateway. */
  snapshots?: CatalogSnapshots;
  /** How long a server without a call runs on; for ever when absent. */
  idleMs?: () => number;
  /** What a first start is given. */
  startTimeoutMs?: () => number;
  /** What a later one is given at least, unless that is more. */
  restartTimeoutMs?: number;
  /** What all pages of a list are given together. */
  listLimitMs?: number;
  liveRefresh?: () => Settings['liveRefresh'];
  restartLimits?: RestartLimits;
}
