import type { MergedConfig } from '../../config/configLayers.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { HeldTool, MissingSecret, ServerBrief, ServerStatus } from '../../control/contract.ts';
import type { ServerHealth } from '../../control/healthContract.ts';
import { serverState } from '../../control/serverStates.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { HealthRecord } from '../../supervision/health.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { LaunchApprovals } from '../../trust/approvals.ts';
import { shownLines } from '../../trust/launch.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

export interface StatusSources {
  config: Pick<MergedConfig, 'servers' | 'broken'>;
  view: CatalogView;
  connection(name: string): ServerConnection | undefined;
  missing(name: string): MissingSecret | undefined;
  heldTools(connection: ServerConnection, namespace: string): readonly HeldTool[];
  /** Whether a server runs behind walls, in words; nothing for one that is no program. */
  walls(config: ServerConfig): string | undefined;
  driftedOf(connection: ServerConnection): number;
  /** Why nothing of a server is offered although it runs. */
  trustProblem(name: string): string | undefined;
  approvals: Pick<LaunchApprovals, 'launch' | 'before'>;
  scrubSecrets(text: string): string;
}

const MAX_REASON = 200;
const NEVER_STARTED = new HealthRecord(() => 0).snapshot();

/** Name and state of every configured server, including servers whose configuration is wrong. */
export function serverBriefs({
  config,
  view,
  connection: find,
  heldTools,
  driftedOf,
  trustProblem,
  scrubSecrets,
}: StatusSources): ServerBrief[] {
  const known = config.servers.map(({ name, location, disabled }): ServerBrief => {
    const connection = find(name);
    if (!connection) return { name, namespace: '', state: disabled ? 'disabled' : 'starting', toolCount: 0, location };
    const namespace = view.namespaceOf(name);
    const held = heldTools(connection, namespace);
    const drifted = driftedOf(connection);
    const { state, reason = held.length > 0 ? trustProblem(name) : undefined } = connection;
    return {
      name,
      namespace,
      state,
      toolCount: view.toolCountOf(name),
      location,
      ...(connection.isUnlisted && { unlisted: true }),
      ...(reason && { reason: scrubSecrets(reason) }),
      ...(held.length > 0 && { held }),
      ...(drifted > 0 && { drifted }),
    };
  });
  const broken = config.broken.map(
    ({ name, reason, location }): ServerBrief => ({
      name,
      namespace: '',
      state: 'failed',
      toolCount: 0,
      reason,
      location,
    }),
  );
  return [...known, ...broken];
}

/** The whole status of every configured server. */
export function serverStatuses(sources: StatusSources): ServerStatus[] {
  const configs = new Map(sources.config.servers.map((config) => [config.name, config]));
  return serverBriefs(sources).map((brief) => {
    const config = configs.get(brief.name);
    const connection = config && sources.connection(brief.name);
    return connection ? connectionStatus(brief, config, connection, sources) : { ...brief, since: 0 };
  });
}

function connectionStatus(
  brief: ServerBrief,
  config: ServerConfig,
  { since, pid, stderr, health, oddities }: ServerConnection,
  { missing, walls: wallsIn, scrubSecrets, approvals }: StatusSources,
): ServerStatus {
  const { last_fault: fault, ...supervised } = health;
  const odd = oddities.report();
  const secret = brief.state === 'needs_secret' ? missing(brief.name) : undefined;
  const walls = wallsIn(config);
  return {
    ...brief,
    since,
    ...(pid !== undefined && { pid }),
    supervised: {
      ...supervised,
      ...(fault && { last_fault: { ...fault, detail: oneLine(scrubSecrets(fault.detail), MAX_REASON) } }),
    },
    ...(secret && { secret }),
    ...(walls !== undefined && { walls }),
    ...(brief.state === 'needs_approval' && { approval: approvalOf(config, approvals) }),
    stderr,
    ...(odd.length > 0 && { oddities: odd }),
  };
}

function approvalOf(
  config: ServerConfig,
  approvals: StatusSources['approvals'],
): NonNullable<ServerStatus['approval']> {
  const launch = approvals.launch(config);
  const before = approvals.before(launch);
  const change = before && { before, now: launch.lines };
  return { hash: launch.hash, lines: shownLines(launch, before), ...(change && { change }) };
}

/** Health of a server, without the parts of its status that only the editor shows. */
export function serverHealth(status: ServerStatus): ServerHealth {
  const { name, state, reason, oddities, held = [], drifted = 0, supervised = NEVER_STARTED } = status;
  const { state: _lifecycle, ...counts } = supervised;
  return {
    name,
    state,
    down: serverState(state).isDown === true,
    ...counts,
    ...(reason !== undefined && { reason: oneLine(reason, MAX_REASON) }),
    ...(held.length + drifted > 0 && { to_review: held.length + drifted }),
    ...(oddities && { oddities }),
  };
}
