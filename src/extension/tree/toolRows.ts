import type { FileLocation, ServerStatus, TreeNode } from '../../control/contract.ts';
import { oddityWords } from '../../control/serverOddities.ts';
import { serverState } from '../../control/serverStates.ts';
import { asSentence, count, oneLine } from '../plainText.ts';
import { type GatewayView, isBlink, isTroubled } from '../status/health.ts';

/** An element of the tree *Tools*: a node of the ChoiceGraph, or a server that has something to tell. */
export type ToolElement = { kind: 'node'; node: TreeNode } | { kind: 'server'; server: ServerStatus };

/** A row, but for what the editor makes of it. */
export interface ToolRow {
  /** Stays the same over refreshes, so that the editor keeps what is expanded and selected. */
  id: string;
  label: string;
  description: string;
  icon: { id: string; color?: string };
  expandable: boolean;
  contextValue: string;
  accessibilityLabel: string;
  /** Opened by a click. */
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
  const description = isTool ? oneLine(node.description, SHORT) : count(node.toolCount, 'tool');
  const declared = SAFETY_WORDS[node.safety];
  return {
    id: node.path,
    label: node.label,
    description,
    icon: isTool ? TOOL_ICONS[node.safety] : { id: node.kind === 'namespace' ? 'symbol-namespace' : 'symbol-folder' },
    expandable: !isTool,
    contextValue: `waygate.${node.kind}`,
    accessibilityLabel: [node.label, node.kind, isTool ? declared : '', description].filter(Boolean).join(', '),
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
  const description = serverDescription(server);
  return {
    id: `server:${server.name}`,
    label: oneLine(server.name, 60),
    description,
    icon: serverState(server.state).icon ?? { id: 'server' },
    expandable: false,
    contextValue: `waygate.server.${server.state}`,
    accessibilityLabel: `${oneLine(server.name, 60)}, server, ${description}`,
    ...(server.location && { location: server.location }),
  };
}

/** Describes a server in its row. The words of a button there suffice; the tooltip has the rest. */
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
      // Misbehaviour may be the cause of the trouble.
      ...(server.oddities?.length ? [{ style: 'text' as const, text: `Odd: ${oddityWords(server.oddities)}.` }] : []),
      ...(server.stderr?.length ? [{ style: 'code' as const, text: server.stderr.slice(-8).join('\n') }] : []),
    ];
  }
  const { node } = element;
  const summary = node.kind === 'tool' ? node.description : node.hint;
  const declared = SAFETY_WORDS[node.safety];
  return [
    { style: 'title', text: node.label },
    { style: 'code', text: node.toolId ?? node.path },
    ...(summary ? [{ style: 'text' as const, text: summary.slice(0, 2_000) }] : []),
    ...(declared
      ? [{ style: 'text' as const, text: `Its server has ${declared.replace('declared', 'declared it')}.` }]
      : []),
  ];
}

/** Orders the root: servers that need the user first, starting ones last, so that rows between them do not jump. */
export function rootElements(nodes: readonly TreeNode[], servers: readonly ServerStatus[]): ToolElement[] {
  const asElement = (server: ServerStatus): ToolElement => ({ kind: 'server', server });
  const { troubled, starting } = serversWithRows(servers);
  // A server that has a row of its own and no tools yet needs no second, empty one.
  const told = new Set([...troubled, ...starting].map((server) => server.name));
  const filled = nodes.filter((node) => node.toolCount > 0 || !told.has(node.server));
  return [
    ...troubled.map(asElement),
    ...filled.map((node): ToolElement => ({ kind: 'node', node })),
    ...starting.map(asElement),
  ];
}

function serversWithRows(servers: readonly ServerStatus[]): Record<'troubled' | 'starting', ServerStatus[]> {
  return {
    troubled: servers.filter(isTroubled),
    // With its tools known, that it starts is nothing to wait for.
    starting: servers.filter((server) => server.state === 'starting' && server.toolCount === 0),
  };
}

/**
 * Changes when the rows at the root would: a snapshot with a new call in it need not redraw the tree, and a tree that is
 * redrawn takes the click that is just being made.
 */
export function rootKey({ link }: GatewayView): string {
  if (link.kind !== 'attached') return link.kind === 'off' ? 'off' : '';
  return attachedKey(link.attachment, link.snapshot.catalog.revision, link.snapshot.servers);
}

/** The key of what was drawn from these: of which worker, from which revision of its catalog. */
export function attachedKey(attachment: number, revision: number, servers: readonly ServerStatus[]): string {
  const { troubled, starting } = serversWithRows(servers);
  const rows = [...troubled, ...starting].map((s) => [s.name, s.state, s.reason, s.secret?.key]);
  return JSON.stringify([attachment, revision, rows]);
}

/**
 * The line above the rows. Undefined where the welcome text speaks: the editor shows that only without a message. Where
 * rows are already shown, what passes in a moment is not worth moving them.
 */
export function treeMessage({ link, policy }: GatewayView, hasRows: boolean): string | undefined {
  if (link.kind === 'off') return undefined;
  if (policy !== undefined) return policy.message;
  switch (link.kind) {
    case 'attaching':
      return hasRows ? undefined : 'The gateway is starting…';
    case 'stopping':
      return hasRows ? undefined : 'The gateway is stopping…';
    case 'waiting':
      if (isBlink(link)) return hasRows ? undefined : 'The gateway is starting…';
      return `The gateway is not running; Waygate tries again by itself. ${asSentence(link.reason)}`;
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

/** The canonical path above; undefined for what stands at the root. */
export function parentPath(path: string): string | undefined {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? undefined : path.slice(0, cut);
}
