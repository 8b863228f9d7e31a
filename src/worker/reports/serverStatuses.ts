import type { MergedConfig } from '../../config/configLayers.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import type { HeldTool, MissingSecret, ServerBrief, ServerRemedy, ServerStatus } from '../../control/contract.ts';
import type { ServerHealth } from '../../control/healthContract.ts';
import { type ServerState, serverState } from '../../control/serverStates.ts';
import { traitsOf } from '../../errors/faultCodes.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { HealthRecord, type HealthSnapshot } from '../../supervision/health.ts';
import type { UseReport } from '../../telemetry/counters.ts';
import { oneLine } from '../../text/porcelain.ts';
import { approveCommand, loginCommand, secretCommand } from '../../text/userCommands.ts';
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
  /** Use of a server since the worker started. */
  useOf(name: string): UseReport | undefined;
  definitionTokensOf(name: string): number | undefined;
  isSignedIn(name: string): boolean | undefined;
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
  missing,
  scrubSecrets,
}: StatusSources): ServerBrief[] {
  const known = config.servers.map(({ name, location, disabled }): ServerBrief => {
    const connection = find(name);
    if (!connection) return { name, namespace: '', state: disabled ? 'disabled' : 'starting', toolCount: 0, location };
    const namespace = view.namespaceOf(name);
    const held = heldTools(connection, namespace);
    const drifted = driftedOf(connection);
    const command = commandFor(name, connection.state, missing);
    const { state, reason = held.length > 0 ? trustProblem(name) : undefined } = connection;
    return {
      name,
      namespace,
      state,
      toolCount: view.toolCountOf(name),
      location,
      ...(connection.isUnlisted && { unlisted: true }),
      ...(reason && { reason: scrubSecrets(reason) }),
      ...(command && { command }),
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

/** Returns the command by which the user makes a server serve; undefined if there is none. */
function commandFor(name: string, state: ServerState, missing: StatusSources['missing']): string | undefined {
  if (state === 'needs_approval') return approveCommand(name);
  if (state === 'needs_sign_in') return loginCommand(name);
  const secret = state === 'needs_secret' ? missing(name) : undefined;
  return secret && secretCommand(secret.name);
}

/** The whole status of every configured server. */
export function serverStatuses(sources: StatusSources): ServerStatus[] {
  const configs = new Map(sources.config.servers.map((config) => [config.name, config]));
  return serverBriefs(sources).map((brief) => {
    const config = configs.get(brief.name);
    const connection = config && sources.connection(brief.name);
    return connection ? connectionStatus(brief, config, connection, sources) : withoutConnection(brief, config);
  });
}

function withoutConnection(brief: ServerBrief, config: ServerConfig | undefined): ServerStatus {
  const { state, location } = brief;
  return {
    ...brief,
    since: 0,
    ...(config && kindOf(config)),
    ...(state === 'failed' && location && { remedy: { kind: 'edit', location } }),
  };
}

function kindOf({ type }: ServerConfig): Pick<ServerStatus, 'kind'> {
  return type === 'static' ? {} : { kind: type === 'stdio' ? 'stdio' : 'http' };
}

/** Returns the step that makes a server serve, or that it waits for. */
function remedyOf(
  { state, held = [], location }: ServerBrief,
  { last_fault: fault, next_attempt_in_ms: ms }: HealthSnapshot,
  secret: MissingSecret | undefined,
): ServerRemedy | undefined {
  const edit: ServerRemedy | undefined = location && { kind: 'edit', location };
  switch (state) {
    case 'needs_approval':
      return { kind: 'approve' };
    case 'needs_secret':
      return secret ? { kind: 'secret', key: secret.key } : edit;
    case 'needs_sign_in':
      return { kind: 'sign_in' };
    case 'failed':
      if (fault && traitsOf(fault).remedy === 'configuration') return edit;
      return ms === undefined ? { kind: 'restart' } : { kind: 'wait', ms };
    default:
      return held.length > 0 ? { kind: 'review' } : undefined;
  }
}

function connectionStatus(
  brief: ServerBrief,
  config: ServerConfig,
  { since, pid, stderr, health, oddities, protocol, implementation }: ServerConnection,
  { missing, walls: wallsIn, scrubSecrets, approvals, useOf, definitionTokensOf, isSignedIn }: StatusSources,
): ServerStatus {
  const { last_fault: fault, ...supervised } = health;
  const odd = oddities.report();
  const secret = brief.state === 'needs_secret' ? missing(brief.name) : undefined;
  const walls = wallsIn(config);
  const remedy = remedyOf(brief, health, secret);
  const tokens = definitionTokensOf(brief.name);
  const isIn = isSignedIn(brief.name) || (brief.state === 'needs_sign_in' ? false : undefined);
  return {
    ...brief,
    since,
    ...(pid !== undefined && { pid }),
    supervised: {
      ...supervised,
      ...(fault && { last_fault: { ...fault, detail: oneLine(scrubSecrets(fault.detail), MAX_REASON) } }),
    },
    ...(health.next_attempt_in_ms !== undefined && { nextTryAt: Date.now() + health.next_attempt_in_ms }),
    ...(secret && { secret }),
    ...(walls !== undefined && { walls }),
    ...(protocol && { protocol }),
    ...(implementation && { implementation: oneLine(scrubSecrets(Object.values(implementation).join(' ')), 100) }),
    ...(brief.state === 'needs_approval' && { approval: approvalOf(config, approvals) }),
    stderr,
    ...(remedy && { remedy }),
    ...kindOf(config),
    ...(config.type !== 'stdio' && isIn !== undefined && { signedIn: isIn }),
    ...useOf(brief.name),
    ...(tokens !== undefined && { definitionTokens: tokens }),
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
