import type { ServerStatus, TreeNode } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { latency, oneLine } from '../../text/porcelain.ts';
import { moment } from '../../text/timeOfDay.ts';
import { plural, t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { amounts, asSentence, odditiesOf, shortTokens } from '../plainText.ts';
import { nextTryWords, remedyStep, restartWords, serverLabel, stateWords, waitsForUser } from '../status/remedies.ts';
import { heldIcon, heldWords, isQuarantined } from '../trust/heldRows.ts';
import type { ToolRow } from './toolRows.ts';
import type { TooltipPart } from './treeRow.ts';

export interface ServerElement {
  kind: 'server';
  server: ServerStatus;
  /** Namespace of the server, once it offers tools. */
  node?: TreeNode;
  /** The server is being listed again. */
  isBusy?: boolean;
}

const SHORT = 80;
const TOOLTIP_LINES = 8;

export function serverRow({ server, node, isBusy = false }: ServerElement): ToolRow {
  const { held = [] } = server;
  const name = serverLabel(server);
  const description = notificationText`${describe(server, node)}`;
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
function describe(server: ServerStatus, node: TreeNode | undefined): string {
  const { state, secret, reason, toolCount, held = [], drifted = 0 } = server;
  const tools = node?.toolCount ?? toolCount;
  const parts = serves(server)
    ? [tools > 0 || held.length === 0 ? amounts.tools(tools) : '', costOf(server), restartWords(server)]
    : [stateWords(server), nextTryWords(server)];
  const unreviewed = drifted > 0 ? t`${drifted} unreviewed` : '';
  const words = [parts.filter(Boolean).join(' · '), heldWords(held), unreviewed].filter(Boolean).join(', ');
  if (state === 'needs_secret' && secret) return `${words}: ${oneLine(secret.description || secret.name, SHORT)}`;
  return state === 'failed' && reason ? `${words}: ${oneLine(reason, SHORT)}` : words;
}

function unreviewedWords(amount: number): string {
  return plural(
    amount,
    t`Offers 1 item that is new or has changed since your approval. "Review Changes" compares it.`,
    t`Offers ${amount} items that are new or have changed since your approval. "Review Changes" compares them.`,
  );
}

function costOf({ toolCount, definitionTokens = 0 }: ServerStatus): string {
  return toolCount > 0 && definitionTokens > 0 ? t`${shortTokens(definitionTokens)} tokens` : '';
}

/**
 * Value by which menus find the row: the state, then what the server has. A server that starts with a call is `ready`
 * too, so that the row is not redrawn with each call.
 */
function contextOf(server: ServerStatus, node: TreeNode | undefined): string {
  const { kind, signedIn, held = [], drifted = 0 } = server;
  const flags = [
    ...(node ? ['tools'] : []),
    ...(kind === 'http' && signedIn ? ['signedIn'] : []),
    ...(held.length + drifted > 0 ? [isQuarantined({ held }) ? 'quarantined' : 'held'] : []),
  ];
  return ['waygate.server', serves(server) ? 'ready' : server.state, ...flags].join('.');
}

/** Describes a server for the pointer. VS Code keeps a tooltip until it redraws the row, so all times are absolute. */
export function serverTooltip({ server, node }: ServerElement, now = Date.now()): TooltipPart[] {
  const { reason, since, protocol, implementation, location } = server;
  const step = remedyStep(server);
  const fault = lastFault(server);
  const text = (words: string): TooltipPart => ({ style: 'text', text: words });
  return [
    {
      style: 'title',
      text: `${serverLabel(server)}: ${[stateWords(server), nextTryWords(server)].filter(Boolean).join(' · ')}`,
    },
    ...(node ? [{ style: 'code' as const, text: node.path }] : []),
    ...(node?.hint ? [text(node.hint)] : []),
    ...(reason ? [text(asSentence(reason))] : []),
    ...(step ? [text(step.says)] : []),
    ...(server.drifted ? [text(unreviewedWords(server.drifted))] : []),
    ...(since > 0 ? [text(t`In this state since ${moment(since, now)}.`)] : []),
    ...(fault && !reason?.includes(fault) ? [text(t`Last fault: ${asSentence(fault)}`)] : []),
    ...useOf(server, now),
    ...(implementation ? [text(t`Calls itself ${implementation}.`)] : []),
    ...(protocol ? [text(t`Speaks MCP ${protocol.version}.`)] : []),
    ...(location ? [text(t`Configured in ${location.file}, line ${location.line}.`)] : []),
    // Misbehaviour may be the cause of the problem.
    ...(server.oddities?.length ? [text(oneLine(t`Odd: ${odditiesOf(server.oddities)}.`, 500))] : []),
    ...(server.stderr?.length ? [{ style: 'code' as const, text: stderrEnd(server.stderr) }] : []),
  ];
}

/** Describes the last fault of a server; empty if it had none. */
export function lastFault({ supervised }: Pick<ServerStatus, 'supervised'>): string {
  const fault = supervised?.last_fault;
  return fault ? fault.detail || fault.code : '';
}

/** Describes the use of a server or of a tool; nothing if there was none. */
export function useOf(
  { calls = 0, errors = 0, p95Ms, lastUsedAt }: Pick<ServerStatus, 'calls' | 'errors' | 'p95Ms' | 'lastUsedAt'>,
  now = Date.now(),
): TooltipPart[] {
  if (calls === 0) return [];
  const parts = [
    amounts.calls(calls),
    amounts.errors(errors),
    ...(p95Ms === undefined ? [] : [t`95 % within ${latency(p95Ms)}`]),
    ...(lastUsedAt === undefined ? [] : [t`last used at ${moment(lastUsedAt, now)}`]),
  ];
  return [{ style: 'text', text: `${parts.join(', ')}.` }];
}

function stderrEnd(lines: readonly string[]): string {
  return lines
    .slice(-TOOLTIP_LINES)
    .map((line) => oneLine(line, 500))
    .join('\n');
}
