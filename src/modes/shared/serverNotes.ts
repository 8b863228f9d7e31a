import type { ConfigurationStatus, ServerBrief } from '../../control/contract.ts';
import { SERVER_STATES, type ServerState, serverState } from '../../control/serverStates.ts';
import { renderPath } from '../../text/normalise.ts';
import { count, oneLine } from '../../text/porcelain.ts';

const MAX_NAMES = 10;

type StateNote = NonNullable<ReturnType<typeof serverState>['note']>;

const STATES_WITH_NOTES = (Object.keys(SERVER_STATES) as ServerState[]).flatMap((state) => {
  const { note } = serverState(state);
  return note ? [{ state, note }] : [];
});

/**
 * Returns notes for a model about servers whose tools it does not see: starting is not absent, failed is not empty.
 * Names come first, then reasons while there is room.
 */
export function serverNotes(
  servers: readonly ServerBrief[],
  configuration: ConfigurationStatus,
  workspace: string,
): string[] {
  const noted = STATES_WITH_NOTES.map(({ state, note }) => ({
    note,
    servers: servers.filter((server) => server.state === state),
  }));
  const summary = noted
    .map(({ note, servers }) => named(note.title, servers, remedyOf(note, servers)))
    .filter((line) => line !== '');
  const explained = noted.filter(({ note }) => note.withReasons).flatMap(({ servers }) => servers);
  const reasons = new Set(explained.map(({ reason }) => reason));
  const problems = errorsIn(configuration).filter(({ message }) => !reasons.has(message));
  return [
    ...(summary.length > 0 ? [summary.join(' ')] : []),
    ...unconfigured(servers, configuration),
    ...explained.map(
      (server) => `${oneLine(server.name, 60)}: ${whyNotReady(server, workspace) ?? 'it is not running.'}`,
    ),
    ...problems.map(
      ({ message, location }) =>
        `Configuration, ${renderPath(location.file, workspace, 'relative')} line ${location.line}: ${oneLine(message, 200)}`,
    ),
  ];
}

/** Returns the note for a model about tools that wait for the user's review. Said once a session. */
export function heldNote(servers: readonly ServerBrief[]): { count: number; note: string } {
  const waiting = servers.flatMap(({ namespace, held = [] }) => {
    const tools = held.filter(({ part }) => part === 'tools').length;
    return tools === 0 ? [] : [{ namespace, tools }];
  });
  const total = waiting.reduce((sum, { tools }) => sum + tools, 0);
  const named = waiting.slice(0, MAX_NAMES).map(({ namespace, tools }) => `${count(tools, 'tool')} of /${namespace}`);
  const more = waiting.length > MAX_NAMES ? ` and of ${waiting.length - MAX_NAMES} servers more` : '';
  const verb = total === 1 ? 'waits' : 'wait';
  return { count: total, note: `${named.join(', ')}${more} ${verb} for the user's review (waygate trust).` };
}

/** Returns what to do about servers in one state, with the command for the user. */
function remedyOf({ remedy, command }: StateNote, servers: readonly ServerBrief[]): string | undefined {
  const commands = [...new Set(servers.flatMap((server) => server.command ?? []))];
  if (remedy === undefined || commands.length === 0) return remedy;
  return `${remedy}: ${commands.length === 1 ? commands[0] : command}`;
}

function named(what: string, servers: readonly ServerBrief[], remedy?: string): string {
  if (servers.length === 0) return '';
  const names = servers.slice(0, MAX_NAMES).map((server) => oneLine(server.name, 60));
  const more = servers.length > MAX_NAMES ? ` and ${servers.length - MAX_NAMES} more` : '';
  return `${what}: ${names.join(', ')}${more}${remedy ? ` (${remedy})` : ''}.`;
}

function unconfigured(servers: readonly ServerBrief[], { problems, exists, file }: ConfigurationStatus): string[] {
  if (servers.length > 0 || problems.length > 0) return [];
  return [`No server is configured yet: ${exists ? `${file} has none` : `ask the user to create ${file}`}.`];
}

/** Returns how many of the servers are starting for the first time. */
export function startingOf(unlisted: number, servers: readonly ServerBrief[]): string {
  const enabled = servers.filter(({ state }) => state !== 'disabled').length;
  return `${unlisted} of ${count(enabled, 'server')} ${unlisted === 1 ? 'is' : 'are'} still starting`;
}

/** Returns the errors of the configuration. Warnings are for the user, who sees them in the editor and in the status. */
function errorsIn({ problems }: ConfigurationStatus): ConfigurationStatus['problems'] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** Returns the errors of the configuration for `render=json`. */
export function problemsOf(configuration: ConfigurationStatus): object[] {
  return errorsIn(configuration).map(({ message, location: { file, line } }) => ({
    message: oneLine(message, 200),
    file,
    line,
  }));
}

/** Returns the states for `render=json`. Ready servers come last, because a bounded answer may cut the end. */
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

/** Returns the reason with the place in the configuration, or `undefined` without a reason. */
export function whyNotReady({ reason, location }: ServerBrief, workspace: string): string | undefined {
  if (reason === undefined) return undefined;
  const place = location ? ` (${renderPath(location.file, workspace, 'relative')} line ${location.line})` : '';
  return `${oneLine(reason, 200)}${place}`;
}
