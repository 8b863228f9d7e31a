import type { ServerStatus } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { notify, pick } from '../windows.ts';
import type { ToolElement } from './toolRows.ts';

/** Action on a server, with the servers that it applies to. */
export interface ServerAction {
  title: NotificationText;
  applies(server: ServerStatus): boolean;
  /** Message if it applies to no server. */
  none: NotificationText;
}

/**
 * Returns the server of the row that a command was run on, in its present state. VS Code passes no row for a click while
 * it redraws the tree. Then the action goes to the only server that it applies to, or the user chooses one.
 */
export async function clickedServer(
  link: Pick<GatewayLink, 'status'>,
  argument: unknown,
  { title, applies, none }: ServerAction,
): Promise<ServerStatus | undefined> {
  const row = asRow(argument);
  const name = row && serverOf(row);
  const { servers } = await link.status();
  const found = servers.filter((server) => (name === undefined || server.name === name) && applies(server));
  if (found.length === 0) void notify('info', none);
  if (found.length <= 1) return found[0];
  const choices = found.map((server) => ({ label: notificationText`${oneLine(server.name, 60)}`, server }));
  return (await pick(choices, { title }))?.server;
}

/** Validates the argument: the editor passes the row, but a keybinding or another extension may pass anything. */
export function asRow(argument: unknown): ToolElement | undefined {
  const kind = typeof argument === 'object' && argument !== null && 'kind' in argument ? argument.kind : undefined;
  return kind === 'node' || kind === 'server' || kind === 'held' ? (argument as ToolElement) : undefined;
}

export function serverOf(row: ToolElement): string {
  if (row.kind === 'held') return row.server;
  return row.kind === 'server' ? row.server.name : row.node.server;
}
