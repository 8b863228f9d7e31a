import type { ServerStatus, TreeNode } from '../../control/contract.ts';
import { oddityWords } from '../../control/serverOddities.ts';
import { serverState } from '../../control/serverStates.ts';
import { duration, oneLine } from '../../text/porcelain.ts';
import { notificationText } from '../notificationText.ts';
import { asSentence, count, shortTokens } from '../plainText.ts';
import { isTroubled } from '../status/health.ts';
import { heldIcon, heldWords, isQuarantined } from '../trust/heldRows.ts';
import type { ToolElement, ToolRow } from './toolRows.ts';
import type { Row, TooltipPart } from './treeRow.ts';

const NAME_CHARS = 60;
const REASON_CHARS = 80;
const STDERR_LINES = 8;

/** Server with the node of its tools, if it has any. */
export interface ServerElement {
  server: ServerStatus;
  node?: TreeNode;
  /** The user has asked to list it again. */
  isRefreshed?: boolean;
}

/** Icons of the states that the dashboard has no warning for. */
const ICONS: Readonly<Partial<Record<ServerStatus['state'], Row['icon']>>> = {
  ready: { id: 'pass', color: 'testing.iconPassed' },
  not_started: { id: 'circle-large-outline' },
};

/** Makes the one row of a server, whatever its state. */
export function serverRow({ server, node, isRefreshed = false }: ServerElement): ToolRow {
  const { held = [], state, signedIn, location } = server;
  const name = oneLine(server.name, NAME_CHARS);
  const description = notificationText`${serverDescription(server)}`;
  const withheld = held.length > 0 ? heldIcon(isQuarantined(server) ? 'quarantined' : '') : undefined;
  return {
    id: `server:${server.name}`,
    label: notificationText`${name}`,
    description,
    icon: isRefreshed
      ? { id: 'loading~spin' }
      : (serverState(state).icon ?? withheld ?? ICONS[state] ?? { id: 'server' }),
    expandable: held.length > 0 || (node?.toolCount ?? 0) > 0,
    contextValue: `waygate.server.${state}${heldContext(held)}${signedIn ? '.signedIn' : ''}`,
    accessibilityLabel: notificationText`${name}, server, ${[serverState(state).words, description].filter(Boolean).join(', ')}`,
    // A click on a row with tools opens it.
    ...(location && node === undefined && { location }),
  };
}

/** Suffix of the context value, by which menus find servers with held items. */
function heldContext(held: NonNullable<ServerStatus['held']>): string {
  return held.length === 0 ? '' : isQuarantined({ held }) ? '.quarantined' : '.held';
}

/** Describes a server: its tools and their cost, or the state where it is not well. The tooltip has the rest. */
function serverDescription(server: ServerStatus): string {
  const { state, toolCount, definitionTokens = 0, held = [], unlisted } = server;
  if (isTroubled(server)) return troubleWords(server);
  const amount = [
    ...(toolCount > 0 && !unlisted ? [count(toolCount, 'tool')] : []),
    ...(toolCount > 0 && definitionTokens > 0 ? [`${shortTokens(definitionTokens)} tokens`] : []),
  ];
  const words = amount.length > 0 ? amount.join(' · ') : serverState(state).words;
  return [words, heldWords(held)].filter(Boolean).join(', ');
}

/** Short if there is a button. */
function troubleWords({ state, secret, reason, held = [], supervised }: ServerStatus): string {
  const restarts = supervised?.restart_count ?? 0;
  const facts = [serverState(state).words, ...(state === 'failed' && restarts > 0 ? [count(restarts, 'restart')] : [])];
  const words = [facts.join(' · '), heldWords(held)].filter(Boolean).join(', ');
  if (state === 'needs_approval' || state === 'needs_sign_in') return words;
  if (state === 'needs_secret' && secret)
    return `${words}: ${oneLine(secret.description || secret.name, REASON_CHARS)}`;
  return reason ? `${words}: ${oneLine(reason, REASON_CHARS)}` : words;
}

/** Describes a server for the pointer. Times are those of this moment. */
export function serverTooltip({ server, node }: ServerElement, now = Date.now()): TooltipPart[] {
  const { state, since, reason, supervised, calls = 0, errors = 0, p95Ms, lastUsedAt, oddities = [] } = server;
  const text = (words: string): TooltipPart => ({ style: 'text', text: words });
  const lasting = since > 0 ? ` for ${duration(Math.max(0, now - since))}` : '';
  const restarts = supervised?.restart_count ?? 0;
  const next = supervised?.next_attempt_in_ms;
  const fault = supervised?.last_fault?.detail;
  return [
    { style: 'title', text: `${oneLine(server.name, NAME_CHARS)}: ${serverState(state).words}${lasting}` },
    ...(reason ? [text(asSentence(reason))] : []),
    ...(node?.hint ? [text(oneLine(node.hint, 300))] : []),
    ...(restarts > 0
      ? [text(`${count(restarts, 'restart')}${next === undefined ? '' : `, the next start in ${duration(next)}`}.`)]
      : []),
    ...(fault && fault !== reason ? [text(`Last fault: ${asSentence(fault)}`)] : []),
    ...(calls > 0
      ? [
          text(
            `${count(calls, 'call')}, ${count(errors, 'error')}${p95Ms === undefined ? '' : `, 95 % within ${duration(p95Ms)}`}${lastUsedAt === undefined ? '' : `, last used ${duration(Math.max(0, now - lastUsedAt))} ago`}.`,
          ),
        ]
      : []),
    // Misbehaviour may be the cause of the problem.
    ...(oddities.length > 0 ? [text(oneLine(`Odd: ${oddityWords(oddities)}.`, 500))] : []),
    ...(isTroubled(server) ? stderrOf(server) : []),
  ];
}

function stderrOf({ stderr = [] }: ServerStatus): TooltipPart[] {
  if (stderr.length === 0) return [];
  const lines = stderr.slice(-STDERR_LINES).map((line) => oneLine(line, 500));
  return [{ style: 'code', text: lines.join('\n') }];
}

/** Orders the servers by name, one row each: a row that moves with its state is clicked by mistake. */
export function rootElements(
  nodes: readonly TreeNode[],
  servers: readonly ServerStatus[],
  refreshing: ReadonlySet<string> = new Set(),
): ToolElement[] {
  const nodeOf = new Map(nodes.map((node) => [node.server, node]));
  const rows = servers
    .filter(({ name, state }) => state !== 'disabled' || nodeOf.has(name))
    .map((server): ToolElement => {
      const node = nodeOf.get(server.name);
      return {
        kind: 'server',
        server,
        ...(node && { node }),
        ...(refreshing.has(server.name) && { isRefreshed: true }),
      };
    });
  const known = new Set(servers.map(({ name }) => name));
  // The tools may be of a catalog whose server has just left the configuration.
  const rest = nodes.filter(({ server }) => !known.has(server)).map((node): ToolElement => ({ kind: 'node', node }));
  return [...rows, ...rest].sort((a, b) => compareNames(nameOf(a), nameOf(b)));
}

/** Key of the drawn rows: the worker, its catalog revision and what the rows say of the servers. */
export function attachedKey(attachment: number, revision: number, servers: readonly ServerStatus[]): string {
  const rows = servers.map((server) => {
    const { description, contextValue } = serverRow({ server });
    const held = server.held?.map(({ part, name, why }) => [part, name, why]);
    return [server.name, description, contextValue, server.secret?.key, held];
  });
  return JSON.stringify([attachment, revision, rows]);
}

function nameOf(element: ToolElement): string {
  return element.kind === 'server' ? element.server.name : element.kind === 'node' ? element.node.label : '';
}

function compareNames(a: string, b: string): number {
  return a.localeCompare(b, 'en', { sensitivity: 'base', numeric: true }) || (a < b ? -1 : 1);
}
