import { isAbsolute, join, relative, resolve } from 'node:path';
import * as vscode from 'vscode';
import { canonicalWorkspace } from '../../config/state/stateFolder.ts';
import type { FileLocation } from '../../control/contract.ts';
import { TOOLS_VIEW_ID } from '../contributions.ts';
import { toolPlace } from '../documents/addresses.ts';
import type { FolderGateway } from '../folders/folderGateway.ts';
import type { Folders } from '../folders/folders.ts';
import { throttled } from '../gateway/pacing.ts';
import { t } from '../l10n.ts';
import type { Disposable } from '../observable.ts';
import { serverOf } from './clickedServer.ts';
import { FolderTools } from './folderTools.ts';
import {
  type FolderElement,
  folderRow,
  parentPath,
  type ToolElement,
  type ToolRow,
  toolRow,
  tooltipOf,
  treeBadge,
  treeMessage,
} from './toolRows.ts';
import { toolTooltip } from './toolTooltip.ts';
import { createTree, tooltip, treeItem } from './treeRow.ts';

const REFRESH_INTERVAL_MS = 250;

type Element = ToolElement | FolderElement;

/** Data for the tree *Tools*. Several folders with a gateway have a row each, above their tools. */
export class ToolsTree implements vscode.TreeDataProvider<Element>, vscode.Disposable {
  readonly view: vscode.TreeView<Element>;

  readonly #folders: Folders;
  readonly #log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<Element[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #tools = new Map<FolderGateway, FolderTools>();
  /** Key of the folders' rows as they are, and as they were drawn. */
  #foldersKey = '';
  #drawnKey = '';
  /** Redraws once for servers that become ready shortly after each other. */
  readonly #refresh = throttled(REFRESH_INTERVAL_MS, async () => {
    const stale = [...this.#tools.values()].filter((tools) => tools.isStale);
    const changes = await Promise.all(stale.map((tools) => tools.load()));
    const isWhole = this.#foldersKey !== this.#drawnKey || changes.includes('all');
    const rows = changes.flatMap((change) => (change === 'all' ? [] : change));
    if (isWhole || rows.length > 0) this.#changed.fire(isWhole ? undefined : rows);
  });
  readonly #watching: Disposable;

  constructor(folders: Folders, log: vscode.LogOutputChannel) {
    this.#folders = folders;
    this.#log = log;
    this.view = createTree(TOOLS_VIEW_ID, { treeDataProvider: this, showCollapseAll: true });
    this.#update();
    this.#watching = folders.views.onChange(() => this.#update());
  }

  getTreeItem(element: Element): vscode.TreeItem {
    const gateway = this.#gatewayOf(element);
    if (element.kind === 'folder') {
      if (gateway === undefined) return {};
      const item = itemOf(folderRow(element, gateway.view.value), 'folder');
      item.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
      return item;
    }
    const row = toolRow(element);
    const item = itemOf(row, element.folder);
    const state = gateway?.link.state.value;
    const workspace = state?.kind === 'attached' ? state.snapshot.workspace : undefined;
    if (row.location) item.command = openLocationCommand(row.location, workspace);
    const toolId = element.kind === 'node' ? element.node.toolId : undefined;
    if (toolId !== undefined) item.command = openDefinitionCommand(element.folder ?? '', toolId);
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, element: Element): Promise<vscode.TreeItem> {
    if (element.kind === 'folder') return item;
    const toolId = element.kind === 'node' ? element.node.toolId : undefined;
    const link = this.#gatewayOf(element)?.link;
    // Without a worker, or after the tool has gone, the row's own words have to do.
    const isAsked = toolId !== undefined && link?.state.value.kind === 'attached';
    const tool = isAsked ? await link.request('tool', { toolId }).catch(() => undefined) : undefined;
    item.tooltip = tooltip(tool ? toolTooltip(tool) : tooltipOf(this.#asNow(element)));
    return item;
  }

  getParent(element: Element): Element | undefined {
    const gateway = this.#gatewayOf(element);
    if (gateway === undefined || element.kind === 'folder') return undefined;
    const node = element.kind === 'held' ? undefined : element.node;
    const parent = node && parentPath(node.path);
    if (parent !== undefined) return this.#tools.get(gateway)?.node(parent);
    return this.#roots().find(({ folder }) => folder === element.folder);
  }

  /** Selects the row of a tool. Loads the levels above first, because the editor reveals only loaded rows. */
  async revealTool(folder: string, path: string): Promise<void> {
    const gateway = this.#folders.named(folder);
    const tools = gateway && this.#tools.get(gateway);
    await tools?.children();
    for (const { index } of path.matchAll(/(?<!^)\//g)) await tools?.children(tools.node(path.slice(0, index)));
    const element = tools?.node(path);
    if (element === undefined) throw new Error(t`The list of tools has no such tool any more`);
    await this.view.reveal(element, { select: true, focus: true });
  }

  async getChildren(element?: Element): Promise<Element[]> {
    if (element === undefined) {
      this.#drawnKey = this.#foldersKey;
      const roots = this.#roots();
      if (roots.length > 0) return roots;
    }
    const gateway = element === undefined ? this.#folders.served[0] : this.#gatewayOf(element);
    const tools = gateway && this.#tools.get(gateway);
    return tools?.children(element?.kind === 'folder' ? undefined : element) ?? [];
  }

  /** Selects the row of a server, or shows the view if the server has none. */
  async revealServer(folder: string, server: string): Promise<void> {
    const gateway = this.#folders.named(folder);
    const rows = (await (gateway && this.#tools.get(gateway))?.children(undefined)) ?? [];
    const row = rows.find((element) => element.kind !== 'held' && serverOf(element) === server);
    if (row) await this.view.reveal(row, { select: true, focus: true, expand: true });
    else await vscode.commands.executeCommand(`${TOOLS_VIEW_ID}.focus`);
  }

  dispose(): void {
    this.#watching.dispose();
    this.#refresh.dispose();
    this.view.dispose();
    this.#changed.dispose();
  }

  /** Returns an element with the present status of its server: a row is not redrawn for what it does not show. */
  #asNow(element: ToolElement): ToolElement {
    const state = this.#gatewayOf(element)?.link.state.value;
    if (element.kind !== 'server' || state?.kind !== 'attached') return element;
    const server = state.snapshot.servers.find(({ name }) => name === element.server.name);
    return server ? { ...element, server } : element;
  }

  #gatewayOf({ folder }: Element): FolderGateway | undefined {
    return folder === undefined ? undefined : this.#folders.named(folder);
  }

  /** Rows of the folders, if several have a gateway. */
  #roots(): FolderElement[] {
    const { served } = this.#folders;
    return served.length < 2
      ? []
      : served.map(({ place: { name, title } }) => ({ kind: 'folder', folder: name, title }));
  }

  #update(): void {
    const gateways = this.#folders.gateways.value;
    for (const gone of [...this.#tools.keys()].filter((one) => !gateways.includes(one))) this.#tools.delete(gone);
    const messages: string[] = [];
    let isChanged = false;
    for (const gateway of gateways) {
      const tools = this.#tools.get(gateway) ?? this.#toolsOf(gateway);
      const message = treeMessage(gateway.view.value, tools.hasRows);
      if (message !== undefined) messages.push(gateway.titled(message));
      isChanged = tools.update(gateway.view.value) || isChanged;
    }
    this.view.message = [...new Set(messages)].join(' ');
    this.view.badge = treeBadge(gateways.map(({ view }) => view.value));
    const roots = this.#roots();
    const key = JSON.stringify(
      roots.map((root) => {
        const view = this.#gatewayOf(root)?.view.value;
        return view && folderRow(root, view);
      }),
    );
    if (!isChanged && key === this.#foldersKey) return;
    this.#foldersKey = key;
    this.#refresh();
  }

  #toolsOf(gateway: FolderGateway): FolderTools {
    const { place, link } = gateway;
    const tools = new FolderTools(place.name, link, (text, error) => this.#log.warn(gateway.titled(text), error));
    this.#tools.set(gateway, tools);
    return tools;
  }
}

function itemOf(row: ToolRow, folder = ''): vscode.TreeItem {
  const item = treeItem(row, row.expandable ? 'Collapsed' : 'None');
  item.id = `${folder}:${row.id}`;
  return item;
}

/** Has all that it needs: VS Code may run the command of a row without the row, while it redraws the tree. */
function openDefinitionCommand(folder: string, toolId: string): vscode.Command {
  const uri = vscode.Uri.from(toolPlace(folder, toolId));
  return { command: 'vscode.open', title: t`Open Definition`, arguments: [uri, { preview: true }] };
}

function openLocationCommand(location: FileLocation, workspace: string | undefined): vscode.Command {
  const { uri, range } = toRange(location, workspace);
  return { command: 'vscode.open', title: t`Open Configuration`, arguments: [uri, { selection: range }] };
}

/**
 * Converts a location: the contract counts lines from 1, the editor from 0. The gateway knows the real path of the
 * workspace, and the editor may have opened a link to it.
 */
export function toRange(location: FileLocation, workspace: string | undefined): vscode.Location {
  const folder = openedAs(workspace) ?? workspace;
  const real = resolve(workspace ?? '', location.file);
  const inside = relative(workspace ?? '', real);
  const isOutside = workspace === undefined || inside.startsWith('..') || isAbsolute(inside);
  const path = isOutside || folder === undefined ? real : join(folder, inside);
  const position = new vscode.Position(Math.max(0, location.line - 1), Math.max(0, location.column - 1));
  return new vscode.Location(vscode.Uri.file(path), position);
}

/** Returns the folder of the window whose real path is the workspace of a gateway. */
function openedAs(workspace: string | undefined): string | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  return folders.find(({ uri }) => uri.scheme === 'file' && canonicalWorkspace(uri.fsPath) === workspace)?.uri.fsPath;
}
