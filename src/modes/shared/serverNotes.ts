import type { ConfigurationStatus, ServerBrief } from '../../control/contract.ts';
import { SERVER_STATES, type ServerState } from '../../control/serverStates.ts';
import { renderPath } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';

const MAX_NAMES = 10;

/**
 * Notes about servers whose tools a model does not see: a starting server is not absent, and a failed one is not empty.
 * Names come first, then reasons while there is room.
 */
export function serverNotes(
  servers: readonly ServerBrief[],
  configuration: ConfigurationStatus,
  workspace: string,
): string[] {
  const inState = (state: ServerState): ServerBrief[] => servers.filter((server) => server.state === state);
  const summary = (Object.keys(SERVER_STATES) as ServerState[]).flatMap((state) => stateNote(state, inState(state)));
  const failed = inState('failed');
  const known = new Set(failed.map((server) => server.reason));
  const problems = configuration.problems.filter(({ message }) => !known.has(message));
  return [
    ...(summary.length > 0 ? [summary.join(' ')] : []),
    ...unconfigured(servers, configuration),
    ...[...failed, ...inState('needs_secret')].map(
      (server) => `${oneLine(server.name, 60)}: ${whyNotReady(server, workspace) ?? 'it is not running.'}`,
    ),
    ...problems.map(
      ({ message, location }) =>
        `Configuration, ${renderPath(location.file, workspace, 'relative')} line ${location.line}: ${oneLine(message, 200)}`,
    ),
  ];
}

function stateNote(state: ServerState, servers: readonly ServerBrief[]): string[] {
  const { note } = SERVER_STATES[state];
  if (!note || servers.length === 0) return [];
  const [heading, advice] = note;
  const names = servers.slice(0, MAX_NAMES).map((server) => oneLine(server.name, 60));
  const more = servers.length > MAX_NAMES ? ` and ${servers.length - MAX_NAMES} more` : '';
  return [`${heading}: ${names.join(', ')}${more}${advice ? ` (${advice})` : ''}.`];
}

function unconfigured(servers: readonly ServerBrief[], { problems, exists, file }: ConfigurationStatus): string[] {
  if (servers.length > 0 || problems.length > 0) return [];
  return [`No server is configured yet: ${exists ? `${file} has none` : `ask the user to create ${file}`}.`];
}

/** States of all servers for `render=json`. Ready servers come last, where the list may be cut off. */
export function serverStates(servers: readonly ServerBrief[]): object[] {
  const ready = servers.filter((server) => server.state === 'ready');
  const rest = servers.filter((server) => server.state !== 'ready');
  return [...rest, ...ready].map(({ name, state, reason, location }) => ({
    name,
    state,
    ...(reason === undefined ? {} : { reason: oneLine(reason, 200) }),
    ...(reason === undefined || !location ? {} : { file: location.file, line: location.line }),
  }));
}

/** Reason of a server with its place in the configuration, if a reason is known. */
export function whyNotReady({ reason, location }: ServerBrief, workspace: string): string | undefined {
  if (reason === undefined) return undefined;
  const place = location ? ` (${renderPath(location.file, workspace, 'relative')} line ${location.line})` : '';
  return `${oneLine(reason, 200)}${place}`;
}
