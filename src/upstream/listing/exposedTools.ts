import type { ToolFilter } from '../../config/declaration/server.ts';
import { globMatches } from '../../lib/glob.ts';
import type { ServerCatalog } from './serverCatalog.ts';

/** Reports whether the configuration exposes a tool, by its raw name. An exclusion wins over an inclusion. */
export function isExposed(name: string, filter: ToolFilter | undefined): boolean {
  if (!filter) return true;
  const { include, exclude } = filter;
  if (exclude.some((pattern) => globMatches(pattern, name))) return false;
  return include.length === 0 || include.some((pattern) => globMatches(pattern, name));
}

/** Filters a server's catalog. Returns the same object while catalog and filter are the same. */
export class ExposedCatalog {
  #of: ServerCatalog | undefined;
  #filter: ToolFilter | undefined;
  #exposed: ServerCatalog | undefined;

  of(catalog: ServerCatalog, filter: ToolFilter | undefined): ServerCatalog {
    if (this.#exposed && this.#of === catalog && sameFilter(this.#filter, filter)) return this.#exposed;
    this.#of = catalog;
    this.#filter = filter;
    this.#exposed = filter
      ? { ...catalog, tools: catalog.tools.filter((tool) => isExposed(nameOf(tool), filter)) }
      : catalog;
    return this.#exposed;
  }
}

/** Returns the name for the filter. The catalog rejects a tool without a name and reports the reason. */
function nameOf(tool: unknown): string {
  const name = (tool as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : '';
}

function sameFilter(a: ToolFilter | undefined, b: ToolFilter | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
