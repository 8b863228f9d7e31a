import type { ToolFilter } from '../../config/declaration/server.ts';
import { globMatches } from '../../lib/glob.ts';
import type { ServerCatalog } from './serverCatalog.ts';

/** Whether the configuration lets a tool be there, by the name its server gives it. What is left out wins. */
export function isExposed(name: string, filter: ToolFilter | undefined): boolean {
  if (!filter) return true;
  const { include, exclude } = filter;
  if (exclude.some((pattern) => globMatches(pattern, name))) return false;
  return include.length === 0 || include.some((pattern) => globMatches(pattern, name));
}

/** A server's catalog without what the configuration leaves out; the same object for as long as both are the same. */
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

/** What has no name is no tool: the catalog says so with its reason. */
function nameOf(tool: unknown): string {
  const name = (tool as { name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : '';
}

function sameFilter(a: ToolFilter | undefined, b: ToolFilter | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
