import type { FileLocation, GatewaySnapshot, HeldTool, TreeNode } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { amounts, asSentence } from '../plainText.ts';
import { type GatewayView, isBlink, serversOf, summarize } from '../status/health.ts';
import { needsPerson } from '../status/remedies.ts';
import { heldIcon, heldLabel } from '../trust/heldRows.ts';
import { type ServerElement, serverRow, serverTooltip } from './serverRow.ts';
import type { Row, TooltipPart } from './treeRow.ts';

/** Element of the tree *Tools*: a server, a node of the ChoiceGraph below it, or an item that is kept from models. */
export type ToolElement = (
  | ServerElement
  | { kind: 'node'; node: TreeNode }
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
  return element.kind === 'node' ? nodeRow(element.node) : serverRow(element);
}

function heldRow({ server, item, index }: ToolElement & { kind: 'held' }): ToolRow {
  const label = heldLabel(item);
  const description = notificationText`${item.why === 'blocked' ? '' : t`waits for your review`}`;
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

function nodeRow(node: TreeNode): ToolRow {
  const isTool = node.kind === 'tool';
  const description = notificationText`${isTool ? oneLine(node.description, SHORT) : amounts.tools(node.toolCount)}`;
  const declared = SAFETY_WORDS[node.safety];
  return {
    id: node.path,
    label: notificationText`${node.label}`,
    description,
    icon: isTool ? TOOL_ICONS[node.safety] : { id: node.kind === 'namespace' ? 'symbol-namespace' : 'symbol-folder' },
    expandable: !isTool,
    contextValue: `waygate.${node.kind}`,
    accessibilityLabel: notificationText`${[node.label, KIND_WORDS[node.kind], isTool ? declared : '', description].filter(Boolean).join(', ')}`,
  };
}

const KIND_WORDS: Record<TreeNode['kind'], string> = {
  namespace: t`namespace`,
  cluster: t`cluster`,
  tool: t`tool`,
};

/** Words for the safety hints of a server, which are shown and never trusted. */
const SAFETY_WORDS: Record<TreeNode['safety'], string> = {
  '': '',
  read_only: t`declared read-only`,
  destructive: t`declared destructive`,
};

export const SAFETY_SENTENCES: Record<TreeNode['safety'], string> = {
  '': '',
  read_only: t`Its server declares it read-only.`,
  destructive: t`Its server declares it destructive.`,
};

const TOOL_ICONS: Record<TreeNode['safety'], ToolRow['icon']> = {
  '': { id: 'tools' },
  read_only: { id: 'eye' },
  destructive: { id: 'flame', color: 'list.warningForeground' },
};

export function tooltipOf(element: ToolElement): TooltipPart[] {
  if (element.kind === 'held') return [{ style: 'title', text: heldLabel(element.item) }];
  if (element.kind === 'server') return serverTooltip(element);
  const { node } = element;
  const summary = node.kind === 'tool' ? node.description : node.hint;
  const declared = SAFETY_WORDS[node.safety];
  return [
    { style: 'title', text: node.label },
    { style: 'code', text: node.toolId ?? node.path },
    ...(summary ? [{ style: 'text' as const, text: visibleText(summary.slice(0, 2_000)) }] : []),
    ...(declared ? [{ style: 'text' as const, text: SAFETY_SENTENCES[node.safety] }] : []),
  ];
}

/**
 * Returns one row per server, in the order of their names, so that no row jumps and none is there twice. Nodes and
 * statuses may be of different moments.
 */
export function rootElements(nodes: readonly TreeNode[], view: AttachedView): ToolElement[] {
  const { snapshot, refreshing } = view;
  // A namespace without tools has nothing to expand.
  const nodeOf = new Map(nodes.filter(({ toolCount }) => toolCount > 0).map((node) => [node.server, node]));
  const servers = snapshot.servers.map((server): ToolElement => {
    const node = nodeOf.get(server.name);
    nodeOf.delete(server.name);
    const isBusy = refreshing?.has(server.name) === true;
    return { kind: 'server', server, ...(node && { node }), ...(isBusy && { isBusy }) };
  });
  const others = [...nodeOf.values()].map((node): ToolElement => ({ kind: 'node', node }));
  const nameOf = (element: ToolElement) => (element.kind === 'server' ? element.server.name : toolRow(element).label);
  return [...servers, ...others].sort((a, b) => nameOf(a).localeCompare(nameOf(b), 'en'));
}

/** Rows for the held items of a server, above its other rows. */
export function heldElements(element: ToolElement): ToolElement[] {
  if (element.kind !== 'server') return [];
  const { name, held = [] } = element.server;
  return held.map((item, index) => ({ kind: 'held', server: name, item, index }));
}

/** Part of the view on which the rows depend. */
export interface AttachedView {
  attachment: number;
  snapshot: Pick<GatewaySnapshot, 'servers'>;
  refreshing?: ReadonlySet<string> | undefined;
}

/**
 * Key that changes when the root rows change. A snapshot with a new call must not redraw the tree, because redrawing
 * swallows a click in progress.
 */
export function rootKey({ link, refreshing }: GatewayView): string {
  if (link.kind !== 'attached') return link.kind === 'off' ? 'off' : '';
  return attachedKey({ ...link, refreshing }, link.snapshot.catalog.revision);
}

/** Key of the drawn rows: the worker, its catalog revision and the rows of the servers. */
export function attachedKey(view: AttachedView, revision: number): string {
  const rows = rootElements([], view).map((element) => {
    const { id, description, icon, contextValue } = toolRow(element);
    const held = element.kind === 'server' ? (element.server.held ?? []) : [];
    const secret = element.kind === 'server' ? element.server.secret?.key : undefined;
    return [id, description, icon.id, contextValue, secret, held.map(({ part, name, why }) => [part, name, why])];
  });
  return JSON.stringify([view.attachment, revision, rows]);
}

/**
 * Line above the rows. Undefined where the welcome text applies, because the editor shows that only without a message.
 * Undefined too for passing states while rows are shown.
 */
export function treeMessage(gateway: GatewayView, hasRows: boolean): NotificationText | undefined {
  const message = messageOf(gateway, hasRows);
  return message === undefined ? undefined : notificationText`${message}`;
}

function messageOf({ link, policy, direct = [], news }: GatewayView, hasRows: boolean): string | undefined {
  if (link.kind === 'off') return undefined;
  if (policy !== undefined) return policy.message;
  switch (link.kind) {
    case 'attaching':
      return hasRows ? undefined : t`The gateway is starting…`;
    case 'stopping':
      return hasRows ? undefined : t`The gateway is stopping…`;
    case 'waiting':
      if (isBlink(link)) return hasRows ? undefined : t`The gateway is starting…`;
      return t`The gateway is not running; Waygate retries automatically. ${asSentence(link.reason)}`;
    case 'attached': {
      const { configuration, servers } = link.snapshot;
      const wrong = configuration.problems.find((problem) => problem.severity === 'error');
      if (wrong) return t`The configuration has an error in line ${wrong.location.line}: ${asSentence(wrong.message)}`;
      if (servers.length === 0) return t`The configuration names no servers yet.`;
      const lines = [...(news === undefined ? [] : [news]), ...(direct.length === 0 ? [] : [directWarning(direct)])];
      return lines.length === 0 ? undefined : lines.join(' ');
    }
  }
}

const MAX_DIRECT = 3;

/** Warns of servers that VS Code starts too: their tools take the place of Waygate's own in a model's list. */
function directWarning(direct: readonly string[]): string {
  const named = direct.slice(0, MAX_DIRECT).map((name) => oneLine(name, 60));
  const more = direct.length - named.length;
  const names = more > 0 ? t`${named.join(', ')} and ${more} more` : named.join(', ');
  return plural(
    direct.length,
    t`⚠ VS Code also starts ${names} itself. Run "Import Servers" to remove that entry.`,
    t`⚠ VS Code also starts ${names} itself. Run "Import Servers" to remove those entries.`,
  );
}

export function treeBadge(views: readonly GatewayView[]): { value: number; tooltip: string } | undefined {
  const questions = views.reduce((sum, { questions: open = [] }) => sum + open.length, 0);
  const servers = views.flatMap(serversOf).filter(needsPerson).length;
  const value = questions + servers;
  if (value === 0) return undefined;
  if (servers === 0)
    return { value, tooltip: plural(questions, t`1 question needs you`, t`${questions} questions need you`) };
  if (questions === 0)
    return { value, tooltip: plural(servers, t`1 server needs you`, t`${servers} servers need you`) };
  return { value, tooltip: t`${amounts.questions(questions)} and ${amounts.servers(servers)} need you` };
}

/** Returns the parent's canonical path; undefined at the root. */
export function parentPath(path: string): string | undefined {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? undefined : path.slice(0, cut);
}
