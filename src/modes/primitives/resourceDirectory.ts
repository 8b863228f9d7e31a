import type { OfferedResource, PrimitiveCatalog } from '../../catalog/primitives/primitiveCatalog.ts';
import { matchesTemplate } from '../../catalog/primitives/uriTemplate.ts';

/** Target of a client's address: a server, and the address that the server itself uses. */
export interface ResourceTarget {
  server: string;
  uri: string;
  /** Part of the client's address before the server's own. */
  prefix: string;
}

export interface AmbiguousUri {
  /** Unambiguous addresses to use instead. */
  instead: readonly string[];
}

/**
 * Prefix of addresses that several servers have: `waygate://server/<namespace>/`. Every other address stays unchanged,
 * although the prefixed form is always accepted. The full address follows the prefix, so that an editor which parses
 * and reassembles it gets the same.
 */
const QUALIFIER = 'waygate://server/';

export class ResourceDirectory {
  /** Resources in the client's list, with the client's addresses. */
  readonly resources: readonly Readonly<Record<string, unknown>>[];
  readonly templates: readonly Readonly<Record<string, unknown>>[];
  readonly #catalog: PrimitiveCatalog;
  readonly #byUri = new Map<string, OfferedResource[]>();
  readonly #templates: readonly OfferedResource[];
  readonly #serverOf: ReadonlyMap<string, string>;
  /** Servers that have addresses of a scheme. */
  readonly #schemes = new Map<string, Set<string>>();

  constructor(catalog: PrimitiveCatalog) {
    this.#catalog = catalog;
    this.#serverOf = new Map([...catalog.namespaces].map(([server, namespace]) => [namespace, server]));
    this.#templates = catalog.resources.filter(({ isTemplate }) => isTemplate);
    for (const resource of catalog.resources) {
      const { uri, server, isTemplate } = resource;
      const key = isTemplate ? templateKey(uri) : uri;
      this.#byUri.set(key, [...(this.#byUri.get(key) ?? []), resource]);
      const scheme = schemeOf(uri);
      this.#schemes.set(scheme, (this.#schemes.get(scheme) ?? new Set()).add(server));
    }
    const plain = catalog.resources.filter(({ isTemplate }) => !isTemplate);
    this.resources = plain.map((resource) => ({ ...resource.raw, uri: this.uriOf(resource) }));
    this.templates = this.#templates.map((template) => ({ ...template.raw, uriTemplate: this.uriOf(template) }));
  }

  /** Returns the client's address of a listed resource or template. */
  uriOf({ uri, isTemplate, namespace }: OfferedResource): string {
    const sharers = this.#byUri.get(isTemplate ? templateKey(uri) : uri) ?? [];
    return sharers.length > 1 ? qualified(namespace, uri) : uri;
  }

  /**
   * Resolves a client's address. The server that lists it answers, else the one whose template fits or whose result
   * named it (`linked`). If these are several, none of them gets the request. Any other address goes to the only server
   * with addresses of its scheme, or to the only one with resources.
   */
  resolve(
    address: string,
    linked: (uri: string) => readonly string[] = () => [],
  ): ResourceTarget | AmbiguousUri | undefined {
    const named = this.#qualifiedTarget(address);
    if (named) return named;
    const to = (server: string): ResourceTarget => ({ server, uri: address, prefix: '' });
    const listed = this.#serversOf(this.#byUri.get(address) ?? []);
    const sharers =
      listed.length > 0 ? listed : [...new Set([...this.#fitting(address), ...this.#present(linked(address))])];
    if (sharers.length === 1) return to(sharers[0] as string);
    if (sharers.length > 1) {
      return { instead: sharers.map((server) => qualified(this.#catalog.namespaces.get(server) as string, address)) };
    }
    const likely = [...(this.#schemes.get(schemeOf(address)) ?? this.#catalog.readable)];
    return likely.length === 1 ? to(likely[0] as string) : undefined;
  }

  #qualifiedTarget(address: string): ResourceTarget | undefined {
    if (!address.startsWith(QUALIFIER)) return undefined;
    const slash = address.indexOf('/', QUALIFIER.length);
    const server = slash < 0 ? undefined : this.#serverOf.get(address.slice(QUALIFIER.length, slash));
    if (server === undefined) return undefined;
    const prefix = address.slice(0, slash + 1);
    return { server, uri: address.slice(prefix.length), prefix };
  }

  #fitting(address: string): string[] {
    return this.#serversOf(this.#templates.filter(({ uri }) => uri === address || matchesTemplate(uri, address)));
  }

  #present(servers: readonly string[]): string[] {
    return servers.filter((server) => this.#catalog.namespaces.has(server));
  }

  #serversOf(resources: readonly OfferedResource[]): string[] {
    return [...new Set(resources.map(({ server }) => server))];
  }
}

function qualified(namespace: string, uri: string): string {
  return `${QUALIFIER}${namespace}/${uri}`;
}

/** Returns a key that no address has, since a template may be spelled like one. */
function templateKey(template: string): string {
  return `template ${template}`;
}

function schemeOf(uri: string): string {
  return uri.slice(0, Math.max(0, uri.indexOf(':'))).toLowerCase();
}
