import type { CatalogTool } from '../../catalog/types.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ClientRequests } from '../shared/client/clientRequests.ts';
import type { GatewayContext } from '../shared/modeContext.ts';

/** Dependencies of the passthrough mode. The worker owns them. */
export interface PassthroughContext extends Omit<GatewayContext, 'clientRequests'> {
  /** Returns who asks the user about destructive tools. */
  asks(): 'waygate' | 'auto' | 'client';
  clientRequests: ClientRequests;
  /** Enabled servers, in the order of the configuration. */
  connections(): readonly ServerConnection[];
  /** Whether the configuration has several servers. Names have the server's namespace as a prefix then. */
  hasSeveralServers(): boolean;
  /** Resolves when every server is known or has failed, or after a timeout. */
  settled(): Promise<void>;
  /** Returns the digest of a long result; undefined if results are forwarded unchanged. */
  digest(): ((result: Record<string, unknown>, tool: CatalogTool) => Promise<AdmittedResult>) | undefined;
  /** Counts a result of a wrong form that was not digested. */
  onOddResult(server: string): void;
  /** Returns the size up to which results are always forwarded unchanged. */
  shownChars(): number;
}
