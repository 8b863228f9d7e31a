import { toCard } from '../../catalog/cards/card.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { CatalogError } from '../../catalog/catalogError.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { advertisedNames } from '../shared/catalog/advertisedNames.ts';
import { chosenTool } from '../shared/chosenTool.ts';
import { TRANSPARENT_TOOLS } from '../shared/gatewayTools.ts';
import type { ServerDirectory } from '../shared/unknownTool.ts';

/** Tool as `tools/list` shows it in transparent mode. The sentinel schema says not to call it directly. */
export interface StrippedTool {
  name: string;
  description: string;
  inputSchema: { type: 'object' };
}

const RESERVED: ReadonlySet<string> = new Set(TRANSPARENT_TOOLS.map(({ name }) => name));

/** Catalog under names that a strict client accepts. The canonical `tool_id` resolves too (G5.6). */
export class StrippedTools {
  readonly #catalog: Catalog;
  readonly #ids = new Map<string, string>();
  #list: readonly StrippedTool[] | undefined;

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
    // Strict clients reject a `tool_id`, because it contains a colon.
    const names = advertisedNames(
      catalog.tools.map(({ id, namespace, name }) => ({ id, name: `${namespace}__${name}` })),
      RESERVED,
    );
    for (const [id, name] of names) this.#ids.set(name, id);
  }

  /** Tools in the order of the catalog. Made at the first request, because descriptions are cut by counting tokens. */
  get list(): readonly StrippedTool[] {
    this.#list ??= [...this.#ids].map(([name, id]) => ({
      name,
      description: shortDescription(this.#catalog.byId.get(id) as CatalogTool),
      inputSchema: { type: 'object' },
    }));
    return this.#list;
  }

  has(name: string): boolean {
    return this.idOf(name) !== undefined;
  }

  /** Returns the `tool_id` behind a listed name or behind itself. */
  idOf(name: string): string | undefined {
    return this.#ids.get(name) ?? this.#catalog.byId.get(decoded(name))?.id;
  }

  /** Finds a tool by its listed name or its `tool_id`, plain or percent-encoded. Throws for an unknown name. */
  resolve(given: string, directory: ServerDirectory): CatalogTool {
    const id = this.#ids.get(given.trim()) ?? decoded(given);
    return chosenTool(id, this.#catalog, directory);
  }
}

/** Returns the description within the budget of a card (G2.6). */
function shortDescription(tool: CatalogTool): string {
  try {
    return toCard(tool).description;
  } catch (error) {
    // An id that no card can hold leaves no room for words.
    if (error instanceof CatalogError) return '';
    throw error;
  }
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
