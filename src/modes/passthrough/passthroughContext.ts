import type { CatalogTool } from '../../catalog/types.ts';
import type { AdmittedResult } from '../../results/firewall.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { ClientRequests } from '../shared/client/clientRequests.ts';
import type { GatewayContext } from '../shared/modeContext.ts';

/** What the passthrough mode works on: the worker owns it. */
export interface PassthroughContext extends Omit<GatewayContext, 'clientRequests'> {
  clientRequests: ClientRequests;
  /** The servers that are not switched off, in the order of the configuration. */
  connections(): readonly ServerConnection[];
  /** Whether all names have their server's before them: so it is where the configuration has several. */
  hasSeveralServers(): boolean;
  /** Resolves when every server is known or has failed, or after a while. */
  settled(): Promise<void>;
  /** What is shown of a long result instead of it; none where results are forwarded as they are. */
  digest():
    | ((result: Record<string, unknown>, tool: Pick<CatalogTool, 'id' | 'upstreamName'>) => Promise<AdmittedResult>)
    | undefined;
  /** Results up to this are forwarded as they are, also where longer ones are not. */
  shownChars(): number;
}
