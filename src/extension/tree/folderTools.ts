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
   * commands of menus and buttons. Returns the rows that differ, or `all` if rows came, went or moved.
   */
  async load(): Promise<'all' | readonly ToolElement[]> {
    if (this.#link.state.value.kind !== 'attached' || !this.hasRows) return 'all';
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
      return 'all';
    }
    const before = rowsOf(this.#shown);
    const now = rowsOf(loaded);
    if (JSON.stringify([...before.keys()]) !== JSON.stringify([...now.keys()])) {
      this.#shown = loaded;
      return 'all';
    }
    // VS Code keeps the objects of the rows that it has drawn, and redraws a single row only by its object.
    return [...before].flatMap(([id, element]) => {
      const next = now.get(id) ?? element;
      const isSame = drawnOf(element) === drawnOf(next);
      replace(element, next);
      return isSame ? [] : [element];
    });
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

/** Rows of all levels in their order, by level, id and whether they have rows below, which a single row cannot change. */
function rowsOf(levels: ReadonlyMap<string, readonly ToolElement[]>): Map<string, ToolElement> {
  const rows = [...levels].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(
    rows.flatMap(([path, elements]) =>
      elements.map((element): [string, ToolElement] => {
        const { id, expandable } = toolRow(element);
        return [JSON.stringify([path, id, expandable]), element];
      }),
    ),
  );
}

/** Key of all that VS Code draws of a row, and of what its commands need. */
function drawnOf(element: ToolElement): string {
  const secret = element.kind === 'server' ? element.server.secret?.key : undefined;
  const toolId = element.kind === 'node' ? element.node.toolId : undefined;
  return JSON.stringify([toolRow(element), secret, toolId, element.kind === 'held' ? element.item : undefined]);
}

/** Gives the object of a row the content of another. */
function replace(element: ToolElement, next: ToolElement): void {
  for (const key of Object.keys(element)) if (!(key in next)) Reflect.deleteProperty(element, key);
  Object.assign(element, next);
}
