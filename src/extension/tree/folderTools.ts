import type { GatewayLink } from '../gateway/gatewayLink.ts';
import type { GatewayView } from '../status/health.ts';
import { attachedKey, heldElements, rootElements, rootKey, type ToolElement, toolRow } from './toolRows.ts';

/** Tools of a folder, requested from the worker's ChoiceGraph level by level. */
export class FolderTools {
  readonly #folder: string;
  readonly #link: Pick<GatewayLink, 'state' | 'children'>;
  readonly #warn: (text: string, error: unknown) => void;
  /** Rows shown last, by the path above them. Kept while a worker is replaced. */
  #shown = new Map<string, ToolElement[]>();
  /** Key of the root's rows as they are, and as they were loaded. */
  #rootKey = '';
  #loadedKey = '';
  #refreshing: GatewayView['refreshing'];

  constructor(
    folder: string,
    link: Pick<GatewayLink, 'state' | 'children'>,
    warn: (text: string, error: unknown) => void,
  ) {
    this.#folder = folder;
    this.#link = link;
    this.#warn = warn;
  }

  get hasRows(): boolean {
    return this.#shown.has('/');
  }

  /** Reports whether the rows may have changed since they were loaded. */
  get isStale(): boolean {
    return this.#rootKey !== this.#loadedKey;
  }

  /** Takes the present state. Returns true if its rows differ. */
  update(gateway: GatewayView): boolean {
    this.#refreshing = gateway.refreshing;
    const key = rootKey(gateway);
    if (key === '' || key === this.#rootKey) return false;
    this.#rootKey = key;
    if (gateway.link.kind === 'off') this.#shown = new Map();
    return true;
  }

  node(path: string): ToolElement | undefined {
    for (const rows of this.#shown.values()) {
      const found = rows.find((row) => row.kind !== 'held' && row.node?.path === path);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Loads the levels that are shown anew, before the tree is redrawn: while VS Code redraws, it passes no row to the
   * commands of menus and buttons. Returns whether any row differs.
   */
  async load(): Promise<boolean> {
    if (this.#link.state.value.kind !== 'attached' || !this.hasRows) return true;
    const loaded = new Map<string, ToolElement[]>();
    const visit = async (path: string, element?: ToolElement): Promise<void> => {
      const rows = await this.#list(path, element);
      loaded.set(path, rows);
      const below = rows.flatMap((row) => (row.kind !== 'held' && row.node ? [{ row, path: row.node.path }] : []));
      await Promise.all(below.filter((one) => this.#shown.has(one.path)).map((one) => visit(one.path, one.row)));
    };
    try {
      await visit('/');
    } catch (error) {
      this.#warn('The tools could not be listed.', error);
      return true;
    }
    const isSame = levelsKey(loaded) === levelsKey(this.#shown);
    // VS Code keeps the rows that it has drawn.
    if (!isSame) this.#shown = loaded;
    return !isSame;
  }

  /** Lists the rows below an element, or the root. */
  async children(element?: ToolElement): Promise<ToolElement[]> {
    if (element?.kind === 'held') return [];
    const path = element ? element.node?.path : '/';
    if (path === undefined) return this.#own(element ? heldElements(element) : []);
    const { kind } = this.#link.state.value;
    if (kind === 'off') return [];
    const shown = this.#shown.get(path);
    if (shown && (kind !== 'attached' || !this.isStale)) return shown;
    if (kind !== 'attached') return [];
    try {
      const rows = await this.#list(path, element);
      this.#shown.set(path, rows);
      return rows;
    } catch (error) {
      this.#warn(`The tools under ${path} could not be listed.`, error);
      return this.#shown.get(path) ?? [];
    }
  }

  async #list(path: string, element?: ToolElement): Promise<ToolElement[]> {
    const { nodes, revision } = await this.#link.children(path);
    const state = this.#link.state.value;
    if (element)
      return this.#own([...heldElements(element), ...nodes.map((node) => ({ kind: 'node' as const, node }))]);
    // The worker may have gone meanwhile; the next state loads again.
    if (state.kind !== 'attached') return this.#shown.get(path) ?? [];
    const view = { ...state, refreshing: this.#refreshing };
    this.#loadedKey = attachedKey(view, revision);
    return this.#own(rootElements(nodes, view));
  }

  /** Marks the rows, so that a command finds their folder. */
  #own(elements: ToolElement[]): ToolElement[] {
    return elements.map((element) => ({ ...element, folder: this.#folder }));
  }
}

/** Key of all that VS Code draws of the rows, and of what their commands need. */
function levelsKey(levels: ReadonlyMap<string, readonly ToolElement[]>): string {
  const rows = [...levels]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, elements]) => [path, elements.map(drawnOf)]);
  return JSON.stringify(rows);
}

function drawnOf(element: ToolElement): unknown {
  const secret = element.kind === 'server' ? element.server.secret?.key : undefined;
  const toolId = element.kind === 'node' ? element.node.toolId : undefined;
  return [toolRow(element), secret, toolId, element.kind === 'held' ? element.item : undefined];
}
