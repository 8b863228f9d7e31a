import type { FileLocation, ServerStatus, TreeNode } from '../../control/contract.ts';
import { oddityWords } from '../../control/serverOddities.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { asSentence, count } from '../plainText.ts';
import { type GatewayView, isBlink, isTroubled } from '../status/health.ts';

/** Element of the tree *Tools*: a node of the ChoiceGraph, or a server that has a status to report. */
export type ToolElement = { kind: 'node'; node: TreeNode } | { kind: 'server'; server: ServerStatus };

/** Row of the tree, independent of the editor's types. */
export interface ToolRow {
  /** Stable over refreshes, so that the editor keeps the expansion and the selection. */
  id: string;
  label: NotificationText;
  description: NotificationText;
  icon: { id: string; color?: string };
  expandable: boolean;
  contextValue: string;
  accessibilityLabel: NotificationText;
  /** Place that a click opens. */
  location?: FileLocation;
}

export interface TooltipPart {
  style: 'title' | 'code' | 'text';
  text: string;
}

const SHORT = 80;

export function toolRow(element: ToolElement): ToolRow {
  return element.kind === 'node' ? nodeRow(element.node) : serverRow(element.server);
}

function nodeRow(node: TreeNode): ToolRow {
  const isTool = node.kind === 'tool';
  const description = notificationText`${isTool ? oneLine(node.description, SHORT) : count(node.toolCount, 'tool')}`;
  const declared = SAFETY_WORDS[node.safety];
  return {
    id: node.path,
    label: notificationText`${node.label}`,
    description,
    icon: isTool ? TOOL_ICONS[node.safety] : { id: node.kind === 'namespace' ? 'symbol-namespace' : 'symbol-folder' },
    expandable: !isTool,
    contextValue: `waygate.${node.kind}`,
    accessibilityLabel: notificationText`${[node.label, node.kind, isTool ? declared : '', description].filter(Boolean).join(', ')}`,
  };
}

/** Words for the safety hints of a server, which are shown and never trusted. */
const SAFETY_WORDS: Record<TreeNode['safety'], string> = {
  '': '',
  read_only: 'declared read-only',
  destructive: 'declared destructive',
};

const TOOL_ICONS: Record<TreeNode['safety'], ToolRow['icon']> = {
  '': { id: 'tools' },
  read_only: { id: 'eye' },
  destructive: { id: 'flame', color: 'list.warningForeground' },
};

function serverRow(server: ServerStatus): ToolRow {
  const name = oneLine(server.name, 60);
  const description = notificationText`${serverDescription(server)}`;
  return {
    id: `server:${server.name}`,
    label: notificationText`${name}`,
    description,
    icon: serverState(server.state).icon ?? { id: 'server' },
    expandable: false,
    contextValue: `waygate.server.${server.state}`,
    accessibilityLabel: notificationText`${name}, server, ${description}`,
    ...(server.location && { location: server.location }),
  };
}

/** Describes a server in its row, shortly if there is a button; the tooltip has the rest. */
function serverDescription({ state, secret, reason }: ServerStatus): string {
  const words = serverState(state).words;
  if (state === 'needs_approval' || state === 'needs_sign_in') return words;
  if (state === 'needs_secret' && secret) return `${words}: ${oneLine(secret.description || secret.name, SHORT)}`;
  return reason ? `${words}: ${oneLine(reason, SHORT)}` : words;
}

export function tooltipOf(element: ToolElement): TooltipPart[] {
  if (element.kind === 'server') {
    const { server } = element;
    return [
      { style: 'title', text: `${oneLine(server.name, 60)}: ${serverState(server.state).words}` },
      ...(server.reason ? [{ style: 'text' as const, text: asSentence(server.reason) }] : []),
      // Misbehaviour may be the cause of the problem.
      ...(server.oddities?.length
        ? [{ style: 'text' as const, text: oneLine(`Odd: ${oddityWords(server.oddities)}.`, 500) }]
        : []),
      ...(server.stderr?.length
        ? [
            {
              style: 'code' as const,
              text: server.stderr
                .slice(-8)
                .map((line) => oneLine(line, 500))
                .join('\n'),
            },
          ]
        : []),
    ];
  }
  const { node } = element;
  const summary = node.kind === 'tool' ? node.description : node.hint;
  const declared = SAFETY_WORDS[node.safety];
  return [
    { style: 'title', text: node.label },
    { style: 'code', text: node.toolId ?? node.path },
    ...(summary ? [{ style: 'text' as const, text: visibleText(summary.slice(0, 2_000)) }] : []),
    ...(declared
      ? [{ style: 'text' as const, text: `Its server ${declared.replace('declared', 'declares it')}.` }]
      : []),
  ];
}

/** Orders the root: servers that need the user first, starting servers last, so that rows between them do not jump. */
export function rootElements(nodes: readonly TreeNode[], servers: readonly ServerStatus[]): ToolElement[] {
  const asElement = (server: ServerStatus): ToolElement => ({ kind: 'server', server });
  const { troubled, starting } = serversWithRows(servers);
  // A server with its own row and no tools yet needs no second, empty row.
  const listed = new Set([...troubled, ...starting].map((server) => server.name));
  const filled = nodes.filter((node) => node.toolCount > 0 || !listed.has(node.server));
  return [
    ...troubled.map(asElement),
    ...filled.map((node): ToolElement => ({ kind: 'node', node })),
    ...starting.map(asElement),
  ];
}

function serversWithRows(servers: readonly ServerStatus[]): Record<'troubled' | 'starting', ServerStatus[]> {
  return {
    troubled: servers.filter(isTroubled),
    // A starting server whose tools are known needs no row.
    starting: servers.filter((server) => server.state === 'starting' && server.toolCount === 0),
  };
}

/**
 * Key that changes when the root rows change. A snapshot with a new call must not redraw the tree, because redrawing
 * swallows a click in progress.
 */
export function rootKey({ link }: GatewayView): string {
  if (link.kind !== 'attached') return link.kind === 'off' ? 'off' : '';
  return attachedKey(link.attachment, link.snapshot.catalog.revision, link.snapshot.servers);
}

/** Key of the drawn rows: the worker, its catalog revision and the server states. */
export function attachedKey(attachment: number, revision: number, servers: readonly ServerStatus[]): string {
  const { troubled, starting } = serversWithRows(servers);
  const rows = [...troubled, ...starting].map((s) => [s.name, s.state, s.reason, s.secret?.key]);
  return JSON.stringify([attachment, revision, rows]);
}

/**
 * Line above the rows. Undefined where the welcome text applies, because the editor shows that only without a message.
 * Undefined too for passing states while rows are shown.
 */
export function treeMessage(gateway: GatewayView, hasRows: boolean): NotificationText | undefined {
  const message = messageOf(gateway, hasRows);
  return message === undefined ? undefined : notificationText`${message}`;
}

function messageOf({ link, policy }: GatewayView, hasRows: boolean): string | undefined {
  if (link.kind === 'off') return undefined;
  if (policy !== undefined) return policy.message;
  switch (link.kind) {
    case 'attaching':
      return hasRows ? undefined : 'The gateway is starting…';
    case 'stopping':
      return hasRows ? undefined : 'The gateway is stopping…';
    case 'waiting':
      if (isBlink(link)) return hasRows ? undefined : 'The gateway is starting…';
      return `The gateway is not running; Waygate retries automatically. ${asSentence(link.reason)}`;
    case 'attached': {
      const { configuration, servers } = link.snapshot;
      const wrong = configuration.problems.find((problem) => problem.severity === 'error');
      if (wrong) return `The configuration has an error in line ${wrong.location.line}: ${asSentence(wrong.message)}`;
      return servers.length === 0 ? 'The configuration names no servers yet.' : undefined;
    }
  }
}

export function treeBadge({ link }: GatewayView): { value: number; tooltip: string } | undefined {
  const troubled = link.kind === 'attached' ? link.snapshot.servers.filter(isTroubled).length : 0;
  return troubled === 0
    ? undefined
    : { value: troubled, tooltip: `${count(troubled, 'server')} ${troubled === 1 ? 'needs' : 'need'} you` };
}

/** Returns the parent's canonical path; undefined at the root. */
export function parentPath(path: string): string | undefined {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? undefined : path.slice(0, cut);
}
