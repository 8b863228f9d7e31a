import type { ConfigurationStatus, ServerStatus } from '../../control/contract.ts';
import { oneLine } from '../../ops/porcelain.ts';

/** What a model must know of servers whose tools it does not see: starting is not absent, failed is not empty. */
export function serverNotes(servers: readonly ServerStatus[], configuration: ConfigurationStatus): string[] {
  const notes: string[] = [];
  const starting = servers.filter((server) => server.state === 'starting');
  if (starting.length > 0) {
    notes.push(
      `Still starting: ${starting.map((server) => server.name).join(', ')}. Browse again shortly for their tools.`,
    );
  }
  for (const server of servers) {
    if (server.state === 'needs_sign_in') notes.push(`Needs sign-in: ${server.name}. Ask the user to sign in.`);
    if (server.state === 'needs_approval') notes.push(`Needs approval: ${server.name}. Ask the user to approve it.`);
    if (server.state === 'failed') notes.push(`Failed: ${server.name}: ${reason(server)}`);
  }
  const named = new Set(servers.flatMap((server) => (server.reason === undefined ? [] : [server.reason])));
  for (const { message, location } of configuration.problems) {
    if (named.has(message)) continue;
    notes.push(`Configuration, ${fileName(location.file)} line ${location.line}: ${oneLine(message, 200)}`);
  }
  if (servers.length === 0 && configuration.problems.length === 0) {
    notes.push(
      configuration.exists
        ? `No server is configured yet: ${configuration.file} has none.`
        : `No server is configured yet: ask the user to create ${configuration.file}.`,
    );
  }
  return notes;
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

function reason(server: ServerStatus): string {
  const place = server.location ? ` (${fileName(server.location.file)} line ${server.location.line})` : '';
  return `${oneLine(server.reason ?? 'it is not running.', 200)}${place}`;
}

function fileName(file: string): string {
  return file.split(/[\\/]/).slice(-2).join('/');
}
