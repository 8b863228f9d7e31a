import type { ConfigurationStatus, ServerStatus } from '../../control/contract.ts';
import { renderPath } from '../../text/normalise.ts';
import { oneLine } from '../../text/porcelain.ts';

const MAX_NAMES = 10;

/**
 * What a model must know of servers whose tools it does not see: starting is not absent, failed is not empty. The names
 * come first, in few words; then the reasons, for as long as there is room.
 */
export function serverNotes(
  servers: readonly ServerStatus[],
  configuration: ConfigurationStatus,
  workspace: string,
): string[] {
  const inState = (state: ServerStatus['state']): ServerStatus[] => servers.filter((server) => server.state === state);
  const failed = inState('failed');
  const summary = [
    named('Still starting', inState('starting'), 'browse again shortly'),
    named('Needs sign-in', inState('needs_sign_in'), 'ask the user'),
    named('Needs a secret', inState('needs_secret'), 'ask the user'),
    named('Needs approval', inState('needs_approval'), 'ask the user'),
    named('Failed', failed),
  ].filter((note) => note !== '');
  const told = new Set(failed.map((server) => server.reason));
  const problems = configuration.problems.filter(({ message }) => !told.has(message));
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

function named(what: string, servers: readonly ServerStatus[], remedy?: string): string {
  if (servers.length === 0) return '';
  const names = servers.slice(0, MAX_NAMES).map((server) => oneLine(server.name, 60));
  const more = servers.length > MAX_NAMES ? ` and ${servers.length - MAX_NAMES} more` : '';
  return `${what}: ${names.join(', ')}${more}${remedy ? ` (${remedy})` : ''}.`;
}

function unconfigured(servers: readonly ServerStatus[], { problems, exists, file }: ConfigurationStatus): string[] {
  if (servers.length > 0 || problems.length > 0) return [];
  return [`No server is configured yet: ${exists ? `${file} has none` : `ask the user to create ${file}`}.`];
}

/** The same for `render=json`; what is ready comes last, where it may be cut off. */
export function serverStates(servers: readonly ServerStatus[]): object[] {
  const ready = servers.filter((server) => server.state === 'ready');
  const rest = servers.filter((server) => server.state !== 'ready');
  return [...rest, ...ready].map(({ name, state, reason, location }) => ({
    name,
    state,
    ...(reason === undefined ? {} : { reason: oneLine(reason, 200) }),
    ...(reason === undefined || !location ? {} : { file: location.file, line: location.line }),
  }));
}

/** In its own words, with the place to look at; none where nothing is known. */
export function whyNotReady({ reason, location }: ServerStatus, workspace: string): string | undefined {
  if (reason === undefined) return undefined;
  const place = location ? ` (${renderPath(location.file, workspace, 'relative')} line ${location.line})` : '';
  return `${oneLine(reason, 200)}${place}`;
}
