import type { ConfigurationStatus, ServerStatus } from '../../control/contract.ts';
import { oneLine } from '../../ops/porcelain.ts';

const MAX_NAMES = 10;

/**
 * What a model must know of servers whose tools it does not see: starting is not absent, failed is not empty. The names
 * come first, in few words; then the reasons, for as long as there is room.
 */
export function serverNotes(servers: readonly ServerStatus[], configuration: ConfigurationStatus): string[] {
  const inState = (state: ServerStatus['state']): ServerStatus[] => servers.filter((server) => server.state === state);
  const failed = inState('failed');
  const summary = [
    named('Still starting', inState('starting'), 'browse again shortly'),
    named('Needs sign-in', inState('needs_sign_in'), 'ask the user'),
    named('Needs approval', inState('needs_approval'), 'ask the user'),
    named('Failed', failed),
  ].filter((note) => note !== '');
  const told = new Set(failed.map((server) => server.reason));
  const problems = configuration.problems.filter(({ message }) => !told.has(message));
  return [
    ...(summary.length > 0 ? [summary.join(' ')] : []),
    ...unconfigured(servers, configuration),
    ...failed.map((server) => `${oneLine(server.name, 60)}: ${reason(server)}`),
    ...problems.map(
      ({ message, location }) => `${fileName(location.file)} line ${location.line}: ${oneLine(message, 200)}`,
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

const MAX_STATES = 20;

/** The same for `render=json`: those that are ready are counted, of the others each is told. */
export function serverStates(servers: readonly ServerStatus[]): { servers_ready: number; servers_not_ready: object[] } {
  const others = servers.filter((server) => server.state !== 'ready' && server.state !== 'disabled');
  return {
    servers_ready: servers.filter((server) => server.state === 'ready').length,
    servers_not_ready: others.slice(0, MAX_STATES).map(({ name, state, reason: why, location }) => ({
      name,
      state,
      ...(why === undefined ? {} : { reason: oneLine(why, 200) }),
      ...(why === undefined || !location ? {} : { file: location.file, line: location.line }),
    })),
  };
}

function reason(server: ServerStatus): string {
  const place = server.location ? ` (${fileName(server.location.file)} line ${server.location.line})` : '';
  return `${oneLine(server.reason ?? 'it is not running.', 200)}${place}`;
}

function fileName(file: string): string {
  return file.split(/[\\/]/).slice(-2).join('/');
}
