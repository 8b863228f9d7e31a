import type { FileLocation, HeldTool, ServerStatus, TreeNode } from '../../control/contract.ts';
import { oddityWords } from '../../control/serverOddities.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { asSentence, count } from '../plainText.ts';
import { type GatewayView, isBlink, isTroubled, needsPerson, serversOf, summarize } from '../status/health.ts';
import { heldIcon, heldLabel, heldWords, isQuarantined } from '../trust/heldRows.ts';
import type { Row, TooltipPart } from './treeRow.ts';

/**
 * Element of the tree *Tools*: a node of the ChoiceGraph, a server that has a status to report, or an item that is kept
 * from models. A namespace carries the held items of its server.
 */
export type ToolElement = (
  | { kind: 'node'; node: TreeNode; held?: readonly HeldTool[] }
  | { kind: 'server'; server: ServerStatus }
  | { kind: 'held'; server: string; item: HeldTool; index: number }
) & {
  /** Name of the folder's gateway. */
  folder?: string;
};

/** Root of a folder where several have a gateway. */
export interface FolderElement {
  kind: 'folder';
  folder: string;
  title: string;
}

export interface ToolRow extends Row {
  expandable: boolean;
  /** Place that a click opens. */
  location?: FileLocation;
}

const SHORT = 80;

export function folderRow({ folder, title }: FolderElement, view: GatewayView): ToolRow {
  const { level, headline } = summarize(view);
  const label = notificationText`${oneLine(title, 60)}`;
  const description = notificationText`${headline.replace(/\.$/, '')}`;
  const isWrong = level === 'degraded' || level === 'lost';
  return {
    id: folder,
    label,
    description,
    icon: isWrong ? { id: 'warning', color: 'list.warningForeground' } : { id: 'root-folder' },
    expandable: true,
    contextValue: 'waygate.folder',
    accessibilityLabel: notificationText`${label}, folder, ${description}`,
  };
}

export function toolRow(element: ToolElement): ToolRow {
  if (element.kind === 'held') return heldRow(element);
  return element.kind === 'node' ? nodeRow(element.node, element.held) : serverRow(element.server);
}

function heldRow({ server, item, index }: ToolElement & { kind: 'held' }): ToolRow {
  const label = heldLabel(item);
  const description = notificationText`${item.why === 'blocked' ? '' : 'waits for your review'}`;
  return {
    // Servers may list two items under one name.
    id: `held:${JSON.stringify([server, item.part, item.name, index])}`,
    label,
    description,
    icon: heldIcon(item.why),
    expandable: false,
    contextValue: item.why === 'blocked' ? 'waygate.held.blocked' : 'waygate.held',
    accessibilityLabel: notificationText`${[label, description].filter(Boolean).join(', ')}`,
  };
}

/** Suffix of the context value, by which menus find servers with held items. */
function heldContext(held: readonly HeldTool[]): string {
  return held.length === 0 ? '' : isQuarantined({ held }) ? '.quarantined' : '.held';
}

function nodeRow(node: TreeNode, held: readonly HeldTool[] = []): ToolRow {
  const isTool = node.kind === 'tool';
  const amount = [count(node.toolCount, 'tool'), heldWords(held)].filter(Boolean).join(', ');
  const description = notificationText`${isTool ? oneLine(node.description, SHORT) : amount}`;
  const declared = SAFETY_WORDS[node.safety];
  return {
    id: node.path,
    label: notificationText`${node.label}`,
    description,
    icon: isTool
      ? TOOL_ICONS[node.safety]
      : held.length > 0
        ? heldIcon(isQuarantined({ held }) ? 'quarantined' : '')
        : { id: node.kind === 'namespace' ? 'symbol-namespace' : 'symbol-folder' },
    expandable: !isTool,
    contextValue: `waygate.${node.kind}${heldContext(held)}`,
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
  const { held = [] } = server;
  const name = oneLine(server.name, 60);
  const description = notificationText`${serverDescription(server)}`;
  return {
    id: `server:${server.name}`,
    label: notificationText`${name}`,
    description,
    icon:
      serverState(server.state).icon ??
      (held.length > 0 ? heldIcon(isQuarantined(server) ? 'quarantined' : '') : { id: 'server' }),
    expandable: held.length > 0,
    contextValue: `waygate.server.${server.state}${heldContext(held)}`,
    accessibilityLabel: notificationText`${name}, server, ${description}`,
    ...(server.location && { location: server.location }),
  };
}

/** Describes a server in its row, shortly if there is a button; the tooltip has the rest. */
function serverDescription({ state, secret, reason, held = [] }: ServerStatus): string {
  const words = [serverState(state).words, heldWords(held)].filter(Boolean).join(', ');
  if (state === 'needs_approval' || state === 'needs_sign_in') return words;
  if (state === 'needs_secret' && secret) return `${words}: ${oneLine(secret.description || secret.name, SHORT)}`;
  return reason ? `${words}: ${oneLine(reason, SHORT)}` : words;
}

export function tooltipOf(element: ToolElement): TooltipPart[] {
  if (element.kind === 'held') return [{ style: 'title', text: heldLabel(element.item) }];
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
  const named = new Set([...listed, ...filled.map((node) => node.server)]);
  // Without an offered tool a server has no namespace.
  const withheld = servers.filter(({ name, held }) => held !== undefined && !named.has(name));
  const heldOf = new Map(servers.map(({ name, held }) => [name, held]));
  return [
    ...[...troubled, ...withheld].map(asElement),
    ...filled.map((node): ToolElement => {
      const held = listed.has(node.server) ? undefined : heldOf.get(node.server);
      return { kind: 'node', node, ...(held && { held }) };
    }),
    ...starting.map(asElement),
  ];
}

/** Rows for the held items of a server, above its other rows. */
export function heldElements(element: ToolElement | undefined): ToolElement[] {
  if (element === undefined || element.kind === 'held') return [];
  const { name, held = [] } =
    element.kind === 'server' ? element.server : { name: element.node.server, held: element.held };
  return held.map((item, index) => ({ kind: 'held', server: name, item, index }));
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
  const held = servers.flatMap((s) => s.held?.map(({ part, name, why }) => [s.name, part, name, why]) ?? []);
  return JSON.stringify([attachment, revision, rows, held]);
}

/**
 * Line above the rows. Undefined where the welcome text applies, because the editor shows that only without a message.
 * Undefined too for passing states while rows are shown.
 */
export function treeMessage(gateway: GatewayView, hasRows: boolean): NotificationText | undefined {
  const message = messageOf(gateway, hasRows);
  return message === undefined ? undefined : notificationText`${message}`;
}

function messageOf({ link, policy, direct = [] }: GatewayView, hasRows: boolean): string | undefined {
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
      if (servers.length === 0) return 'The configuration names no servers yet.';
      return direct.length === 0 ? undefined : directWarning(direct);
    }
  }
}

const MAX_DIRECT = 3;

/** Warns of servers that VS Code starts too: their tools take the place of Waygate's own in a model's list. */
function directWarning(direct: readonly string[]): string {
  const named = direct.slice(0, MAX_DIRECT).map((name) => oneLine(name, 60));
  const more = direct.length - named.length;
  const names = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `⚠ VS Code also starts ${names} itself. Run "Import Servers" to remove ${direct.length === 1 ? 'that entry' : 'those entries'}.`;
}

export function treeBadge(views: readonly GatewayView[]): { value: number; tooltip: string } | undefined {
  const troubled = views.flatMap(serversOf).filter(needsPerson).length;
  return troubled === 0
    ? undefined
    : { value: troubled, tooltip: `${count(troubled, 'server')} ${troubled === 1 ? 'needs' : 'need'} you` };
}

/** Returns the parent's canonical path; undefined at the root. */
export function parentPath(path: string): string | undefined {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? undefined : path.slice(0, cut);
}
