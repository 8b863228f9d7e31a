import { isAbsolute, join, relative, resolve } from 'node:path';
import * as vscode from 'vscode';
import type { FileLocation } from '../../control/contract.ts';
import { visibleText } from '../../text/visibleText.ts';
import { TOOLS_VIEW_ID } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { throttled } from '../gateway/pacing.ts';
import { markdownText } from '../notificationText.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import {
  attachedKey,
  heldElements,
  parentPath,
  rootElements,
  rootKey,
  type ToolElement,
  toolRow,
  tooltipOf,
  treeBadge,
  treeMessage,
} from './toolRows.ts';

const REFRESH_INTERVAL_MS = 250;

/** Data for the tree *Tools*, requested from the worker's ChoiceGraph level by level. */
export class ToolsTree implements vscode.TreeDataProvider<ToolElement>, vscode.Disposable {
  readonly view: vscode.TreeView<ToolElement>;

  readonly #gateway: Observable<GatewayView>;
  readonly #link: GatewayLink;
  readonly #log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** Elements shown last, by path. Kept while a worker is replaced. */
  #shown = new Map<string, ToolElement[]>();
  readonly #nodes = new Map<string, ToolElement>();
  /** Key of the rows from which the root was last drawn. */
  #rootKey = '';
  #drawnKey = '';
  /** Redraws once for servers that become ready shortly after each other. */
  readonly #refresh = throttled(REFRESH_INTERVAL_MS, () => {
    if (this.#rootKey !== this.#drawnKey) this.#changed.fire(undefined);
  });
  readonly #watching: vscode.Disposable;

  constructor(gateway: Observable<GatewayView>, link: GatewayLink, log: vscode.LogOutputChannel) {
    this.#gateway = gateway;
    this.#link = link;
    this.#log = log;
    this.view = vscode.window.createTreeView(TOOLS_VIEW_ID, { treeDataProvider: this, showCollapseAll: true });
    this.#update(gateway.value);
    this.#watching = gateway.onChange((view) => this.#update(view));
  }

  getTreeItem(element: ToolElement): vscode.TreeItem {
    const row = toolRow(element);
    const item = new vscode.TreeItem(
      row.label,
      row.expandable ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None,
    );
    item.id = row.id;
    item.description = row.description;
    item.iconPath = new vscode.ThemeIcon(
      row.icon.id,
      row.icon.color ? new vscode.ThemeColor(row.icon.color) : undefined,
    );
    item.contextValue = row.contextValue;
    item.accessibilityInformation = { label: row.accessibilityLabel };
    if (row.location) item.command = openLocationCommand(row.location, this.#workspace());
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, element: ToolElement): vscode.TreeItem {
    const tooltip = new vscode.MarkdownString();
    for (const { style, text } of tooltipOf(element)) {
      if (style === 'code') tooltip.appendCodeblock(visibleText(text), 'text');
      else if (style === 'text') tooltip.appendMarkdown(markdownText`${text}\n\n`);
      else tooltip.appendMarkdown(markdownText`**${text}**\n\n`);
    }
    item.tooltip = tooltip;
    return item;
  }

  getParent(element: ToolElement): ToolElement | undefined {
    const node = element.kind === 'held' ? undefined : element.node;
    const parent = node && parentPath(node.path);
    return parent === undefined ? undefined : this.#nodes.get(parent);
  }

  async getChildren(element?: ToolElement): Promise<ToolElement[]> {
    if (element?.kind === 'held') return [];
    const held = element ? heldElements(element) : [];
    const path = element ? element.node?.path : '/';
    if (path === undefined) return held;
    const { link: state, refreshing } = this.#gateway.value;
    if (state.kind === 'off') return [];
    if (state.kind !== 'attached') return this.#shown.get(path) ?? [];
    try {
      const { nodes, revision } = await this.#link.children(path);
      const view = { ...state, refreshing };
      if (path === '/') this.#drawnKey = attachedKey(view, revision);
      const below = path === '/' ? rootElements(nodes, view) : nodes.map((node) => ({ kind: 'node' as const, node }));
      const children = [...held, ...below];
      this.#shown.set(path, children);
      for (const child of below) if (child.kind !== 'held' && child.node) this.#nodes.set(child.node.path, child);
      return children;
    } catch (error) {
      this.#log.warn(`The tools under ${path} could not be listed.`, error);
      return this.#shown.get(path) ?? [];
    }
  }

  dispose(): void {
    this.#watching.dispose();
    this.#refresh.dispose();
    this.view.dispose();
    this.#changed.dispose();
  }

  #update(gateway: GatewayView): void {
    this.view.message = treeMessage(gateway, this.#shown.has('/')) ?? '';
    this.view.badge = treeBadge(gateway);
    const key = rootKey(gateway);
    if (key === '' || key === this.#rootKey) return;
    this.#rootKey = key;
    if (gateway.link.kind === 'off') this.#shown = new Map();
    this.#nodes.clear();
    this.#refresh();
  }

  #workspace(): string | undefined {
    const state = this.#link.state.value;
    return state.kind === 'attached' ? state.snapshot.workspace : undefined;
  }
}

function openLocationCommand(location: FileLocation, workspace: string | undefined): vscode.Command {
  const { uri, range } = toRange(location, workspace);
  return { command: 'vscode.open', title: 'Open Configuration', arguments: [uri, { selection: range }] };
}

/**
 * Converts a location: the contract counts lines from 1, the editor from 0. The gateway knows the real path of the
 * workspace, and the editor may have opened a link to it.
 */
export function toRange(location: FileLocation, workspace: string | undefined): vscode.Location {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? workspace;
  const real = resolve(workspace ?? '', location.file);
  const inside = relative(workspace ?? '', real);
  const isOutside = workspace === undefined || inside.startsWith('..') || isAbsolute(inside);
  const path = isOutside || folder === undefined ? real : join(folder, inside);
  const position = new vscode.Position(Math.max(0, location.line - 1), Math.max(0, location.column - 1));
  return new vscode.Location(vscode.Uri.file(path), position);
}
