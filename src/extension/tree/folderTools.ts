import type { TreeNode } from '../../control/contract.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import type { GatewayView } from '../status/health.ts';
import { attachedKey, rootElements } from './serverRows.ts';
import { heldElements, rootKey, type ToolElement } from './toolRows.ts';

/** Tools of a folder, requested from the worker's ChoiceGraph level by level. */
export class FolderTools {
  readonly #folder: string;
  readonly #link: Pick<GatewayLink, 'state' | 'children' | 'refreshing'>;
  readonly #warn: (text: string, error: unknown) => void;
  /** Elements shown last, by path. Kept while a worker is replaced. */
  #shown = new Map<string, ToolElement[]>();
  readonly #nodes = new Map<string, ToolElement>();
  /** Key of the rows from which the root was last drawn. */
  #rootKey = '';
  #drawnKey = '';

  constructor(
    folder: string,
    link: Pick<GatewayLink, 'state' | 'children' | 'refreshing'>,
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
    const drawn = rootKey(gateway);
    const key = drawn === '' ? '' : keyOf(drawn, this.#link.refreshing.value);
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
    if (element && element.node === undefined) return this.#own(heldElements(element));
    const path = element?.node?.path ?? '/';
    const state = this.#link.state.value;
    if (state.kind === 'off') return [];
    if (state.kind !== 'attached') return this.#shown.get(path) ?? [];
    try {
      const { nodes, revision } = await this.#link.children(path);
      const { attachment, snapshot } = state;
      const isRoot = path === '/';
      const refreshing = this.#link.refreshing.value;
      if (isRoot) this.#drawnKey = keyOf(attachedKey(attachment, revision, snapshot.servers), refreshing);
      const rows = isRoot ? rootElements(nodes, snapshot.servers, refreshing) : nodes.map(asElement);
      const children = this.#own([...heldElements(element), ...rows]);
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

function asElement(node: TreeNode): ToolElement {
  return { kind: 'node', node };
}

function keyOf(rows: string, refreshing: ReadonlySet<string>): string {
  return JSON.stringify([rows, ...refreshing]);
}
