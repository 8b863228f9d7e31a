import type { MergedConfig } from '../../config/configLayers.ts';
import type { BrokenServer, ServerConfig } from '../../config/gatewayConfig.ts';
import { approvable } from '../../config/state/approvals.ts';
import type { MissingSecret, ServerStatus } from '../../control/contract.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { oddityReport } from '../../telemetry/oddityReport.ts';
import type { WatchedServer } from '../../telemetry/upstreamWatch.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

export interface StatusSources {
  config: Pick<MergedConfig, 'servers' | 'broken'>;
  view: CatalogView;
  connection(name: string): ServerConnection | undefined;
  missing(name: string): MissingSecret | undefined;
}

/** Every server of the configuration as a person sees it, also one that cannot be. */
export function serverStatuses(sources: StatusSources): ServerStatus[] {
  const { servers, broken } = sources.config;
  return [...servers.map((config) => statusOf(config, sources)), ...broken.map(brokenStatus)];
}

function statusOf(config: ServerConfig, { view, connection: find, missing: lacking }: StatusSources): ServerStatus {
  const base = { name: config.name, location: config.location };
  const connection = find(config.name);
  if (!connection) {
    const state = config.disabled ? ('disabled' as const) : ('starting' as const);
    return { ...base, namespace: '', state, since: 0, toolCount: 0 };
  }
  const { state, since, pid, reason, stderr } = connection;
  const oddities = oddityReport(connection.oddities);
  const missing = state === 'needs_secret' ? lacking(config.name) : undefined;
  return {
    ...base,
    namespace: view.namespaceOf(config.name),
    state,
    since,
    toolCount: view.toolCountOf(config.name),
    ...(pid === undefined ? {} : { pid }),
    ...(missing ? { secret: missing } : {}),
    ...(state === 'needs_approval' ? { approval: approvable(config) } : {}),
    ...(reason === undefined ? {} : { reason }),
    stderr,
    ...(oddities.length === 0 ? {} : { oddities }),
  };
}

function brokenStatus({ name, reason, location }: BrokenServer): ServerStatus {
  return { name, namespace: '', state: 'failed', since: 0, toolCount: 0, reason, location };
}

export function watchedServer({ config, state, reason, catalog, health }: ServerConnection): WatchedServer {
  return { name: config.name, state, reason, tools: catalog.tools, health };
}
