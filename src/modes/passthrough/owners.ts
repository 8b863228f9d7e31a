import { matchesTemplate } from '../../catalog/primitives/uriTemplate.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

type Item = Readonly<Record<string, unknown>>;

/**
 * Resources of several servers as they were last listed, and the server of each: the one that lists it, otherwise the
 * one with a matching template. No server gets a request: it announces changes of its lists, and Waygate lists them
 * again.
 */
export class ResourceOwners {
  readonly #connections: readonly ServerConnection[];

  constructor(connections: readonly ServerConnection[]) {
    this.#connections = connections;
  }

  /** Every resource of every server; of two with one URI the first server's. */
  get resources(): Item[] {
    const known = new Set<string>();
    return this.#connections.flatMap(({ catalog }) =>
      objects(catalog.resources).filter(({ uri }) => {
        if (typeof uri !== 'string' || known.has(uri)) return false;
        known.add(uri);
        return true;
      }),
    );
  }

  get templates(): Item[] {
    return this.#connections.flatMap(({ catalog }) => objects(catalog.resourceTemplates));
  }

  /** Returns the server of a resource or of a template. */
  of(uri: string): ServerConnection | undefined {
    const lister = this.#connections.find(({ catalog }) => objects(catalog.resources).some((one) => one.uri === uri));
    if (lister) return lister;
    const templates = this.#connections.flatMap((connection) =>
      objects(connection.catalog.resourceTemplates).flatMap(({ uriTemplate: template }) =>
        typeof template === 'string' ? [{ template, connection }] : [],
      ),
    );
    const found =
      templates.find(({ template }) => template === uri) ??
      templates.find(({ template }) => matchesTemplate(template, uri)) ??
      closest(templates, uri);
    return found?.connection;
  }
}

/** Returns the template with the longest literal beginning that the address shares. */
function closest<T extends { template: string }>(templates: readonly T[], uri: string): T | undefined {
  return templates
    .map((one) => ({ one, prefix: one.template.split('{')[0] as string }))
    .filter(({ prefix }) => uri.startsWith(prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length)[0]?.one;
}

export function objects(items: readonly unknown[]): Item[] {
  return items.filter((item): item is Item => typeof item === 'object' && item !== null && !Array.isArray(item));
}
