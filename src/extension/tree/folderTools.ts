import type { GatewayLink } from '../gateway/gatewayLink.ts';
import type { GatewayView } from '../status/health.ts';
import { attachedKey, heldElements, rootElements, rootKey, type ToolElement } from './toolRows.ts';

/** Tools of a folder, requested from the worker's ChoiceGraph level by level. */
export class FolderTools {
  readonly #folder: string;
  readonly #link: Pick<GatewayLink, 'state' | 'children'>;
  readonly #warn: (text: string, error: unknown) => void;
  /** Elements shown last, by path. Kept while a worker is replaced. */
  #shown = new Map<string, ToolElement[]>();
  readonly #nodes = new Map<string, ToolElement>();
  /** Key of the rows from which the root was last drawn. */
  #rootKey = '';
  #refreshing: GatewayView['refreshing'];
  #drawnKey = '';

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

  /** Reports whether the rows have changed since they were drawn. */
  get isStale(): boolean {
    return this.#rootKey !== this.#drawnKey;
  }

  /** Takes the present state. Returns true if its rows differ. */
  update(gateway: GatewayView): boolean {
    this.#refreshing = gateway.refreshing;
    const key = rootKey(gateway);
    if (key === '' || key === this.#rootKey) return false;
    this.#rootKey = key;
    if (gateway.link.kind === 'off') this.#shown = new Map();
    this.#nodes.clear();
    return true;
  }

  node(path: string): ToolElement | undefined {
    return this.#nodes.get(path);
  }

  /** Lists the rows below an element, or the root. */
  async children(element?: ToolElement): Promise<ToolElement[]> {
    if (element?.kind === 'held') return [];
    const held = element ? heldElements(element) : [];
    const path = element ? element.node?.path : '/';
    if (path === undefined) return this.#own(held);
    const state = this.#link.state.value;
    if (state.kind === 'off') return [];
    if (state.kind !== 'attached') return this.#shown.get(path) ?? [];
    try {
      const { nodes, revision } = await this.#link.children(path);
      const view = { ...state, refreshing: this.#refreshing };
      if (path === '/') this.#drawnKey = attachedKey(view, revision);
      const below = path === '/' ? rootElements(nodes, view) : nodes.map((node) => ({ kind: 'node' as const, node }));
      const children = this.#own([...held, ...below]);
      this.#shown.set(path, children);
      for (const child of children) if (child.kind !== 'held' && child.node) this.#nodes.set(child.node.path, child);
      return children;
    } catch (error) {
      this.#warn(`The tools under ${path} could not be listed.`, error);
      return this.#shown.get(path) ?? [];
    }
  }

  /** Marks the rows, so that a command finds their folder. */
  #own(elements: ToolElement[]): ToolElement[] {
    return elements.map((element) => ({ ...element, folder: this.#folder }));
  }
}
