import type { ServerStatus, TreeNode } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { duration, latency, oneLine } from '../../text/porcelain.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { amounts, asSentence, odditiesOf, shortTokens } from '../plainText.ts';
import { remedyStep, restartWords, serverLabel, stateWords, waitsForUser } from '../status/remedies.ts';
import { heldIcon, heldWords, isQuarantined } from '../trust/heldRows.ts';
import type { ToolRow } from './toolRows.ts';
import type { TooltipPart } from './treeRow.ts';

export interface ServerElement {
  kind: 'server';
  server: ServerStatus;
  /** Namespace of the server, once it offers tools. */
  node?: TreeNode;
  /** Time since the status was made. */
  age?: number;
  /** The server is being listed again. */
  isBusy?: boolean;
}

const SHORT = 80;
const TOOLTIP_LINES = 8;

export function serverRow({ server, node, age = 0, isBusy = false }: ServerElement): ToolRow {
  const { held = [] } = server;
  const name = serverLabel(server);
  const description = notificationText`${describe(server, node, age)}`;
  const isWell = serves(server);
  return {
    id: `server:${server.name}`,
    label: notificationText`${name}`,
    description,
    icon: iconOf(server, isBusy),
    expandable: node !== undefined || held.length > 0,
    contextValue: contextOf(server, node),
    accessibilityLabel: notificationText`${name}, server, ${description}`,
    // A click on a row with tools expands it.
    ...(server.location && !isWell && node === undefined && { location: server.location }),
  };
}

/** True if a call to the server needs nothing from the user. One that starts with its tools known is well. */
function serves({ state, toolCount }: ServerStatus): boolean {
  return state === 'ready' || state === 'not_started' || (state === 'starting' && toolCount > 0);
}

function iconOf(server: ServerStatus, isBusy: boolean): ToolRow['icon'] {
  if (isBusy && !waitsForUser(server)) return { id: 'loading~spin' };
  const icon = serves(server) ? undefined : serverState(server.state).icon;
  if (icon) return icon;
  return server.held?.length ? heldIcon(isQuarantined(server) ? 'quarantined' : '') : { id: 'server' };
}

/** Describes the tools of a server that serves, else its state; shortly if there is a button. */
function describe(server: ServerStatus, node: TreeNode | undefined, age: number): string {
  const { state, secret, reason, toolCount, held = [] } = server;
  const tools = node?.toolCount ?? toolCount;
  const parts = serves(server)
    ? [tools > 0 || held.length === 0 ? amounts.tools(tools) : '', costOf(server), restartWords(server)]
    : [stateWords(server, age)];
  const words = [parts.filter(Boolean).join(' · '), heldWords(held)].filter(Boolean).join(', ');
  if (state === 'needs_secret' && secret) return `${words}: ${oneLine(secret.description || secret.name, SHORT)}`;
  return state === 'failed' && reason ? `${words}: ${oneLine(reason, SHORT)}` : words;
}

function costOf({ toolCount, definitionTokens = 0 }: ServerStatus): string {
  return toolCount > 0 && definitionTokens > 0 ? t`${shortTokens(definitionTokens)} tokens` : '';
}

/**
 * Value by which menus find the row: the state, then what the server has. A server that starts with a call is `ready`
 * too, so that the row is not redrawn with each call.
 */
function contextOf(server: ServerStatus, node: TreeNode | undefined): string {
  const { kind, signedIn, held = [] } = server;
  const flags = [
    ...(node ? ['tools'] : []),
    ...(kind === 'http' && signedIn ? ['signedIn'] : []),
    ...(held.length > 0 ? [isQuarantined({ held }) ? 'quarantined' : 'held'] : []),
  ];
  return ['waygate.server', serves(server) ? 'ready' : server.state, ...flags].join('.');
}

export function serverTooltip({ server, node }: ServerElement): TooltipPart[] {
  const step = remedyStep(server);
  const text = (words: string): TooltipPart => ({ style: 'text', text: words });
  return [
    { style: 'title', text: `${serverLabel(server)}: ${stateWords(server)}` },
    ...(node ? [{ style: 'code' as const, text: node.path }] : []),
    ...(node?.hint ? [text(node.hint)] : []),
    ...(server.reason ? [text(asSentence(server.reason))] : []),
    ...(step ? [text(step.says)] : []),
    ...useOf(server),
    ...(server.protocol ? [text(t`Speaks MCP ${server.protocol.version}.`)] : []),
    // Misbehaviour may be the cause of the problem.
    ...(server.oddities?.length ? [text(oneLine(t`Odd: ${odditiesOf(server.oddities)}.`, 500))] : []),
    ...(server.stderr?.length ? [{ style: 'code' as const, text: stderrEnd(server.stderr) }] : []),
  ];
}

/** Describes the use of a server or of a tool; nothing if there was none. */
export function useOf({
  calls = 0,
  errors = 0,
  p95Ms,
  lastUsedAt,
}: Pick<ServerStatus, 'calls' | 'errors' | 'p95Ms' | 'lastUsedAt'>): TooltipPart[] {
  if (calls === 0) return [];
  const parts = [
    amounts.calls(calls),
    amounts.errors(errors),
    ...(p95Ms === undefined ? [] : [t`95 % within ${latency(p95Ms)}`]),
    ...(lastUsedAt === undefined ? [] : [t`last used ${duration(Math.max(0, Date.now() - lastUsedAt))} ago`]),
  ];
  return [{ style: 'text', text: `${parts.join(', ')}.` }];
}

function stderrEnd(lines: readonly string[]): string {
  return lines
    .slice(-TOOLTIP_LINES)
    .map((line) => oneLine(line, 500))
    .join('\n');
}
