import { CatalogError } from './catalogError.ts';
import { buildChoiceGraph, type ChoiceGraph } from './choiceGraph.ts';
import { groupBy } from './cluster.ts';
import { compareCodePoints } from './codePointOrder.ts';
import { ingestTool, type ToolSource } from './ingest.ts';
import { assignNamespaces } from './namespace.ts';
import { hash8, sha256 } from './shapeHash.ts';
import { formatToolId, parseToolId } from './toolId.ts';
import type { CatalogTool, RefreshFinding, ServerListing } from './types.ts';

export interface CatalogServer {
  name: string;
  namespace: string;
  toolCount: number;
  instructions: string;
}

/** Everything that can be browsed and executed. Immutable: a refresh builds another one (G8.1). */
export interface Catalog {
  /** Tools by id, in code-point order. */
  readonly tools: readonly CatalogTool[];
  readonly byId: ReadonlyMap<string, CatalogTool>;
  readonly graph: ChoiceGraph;
  /** Servers by name, in code-point order, including those without tools. */
  readonly servers: readonly CatalogServer[];
  readonly findings: readonly RefreshFinding[];
  /** Hash of the content, which changes with any word of any schema. Derived data is cached under it. */
  readonly hash: string;
}

export interface BuildOptions {
  /**
   * `raise` rejects the catalog at the first finding. `skip`, the default, reports the finding and continues (G6.3).
   */
  onInvalid?: 'skip' | 'raise';
}

/** Builds a catalog. The same listings give the same catalog, in whatever order the servers come (G8.3). */
export function buildCatalog(listings: readonly ServerListing[], options: BuildOptions = {}): Catalog {
  const namespaces = assignNamespaces(listings.map((listing) => listing.server));
  const builder = new CatalogBuilder(options.onInvalid ?? 'skip');
  const servers: CatalogServer[] = [];
  for (const [server, shares] of sortedEntries(groupBy(listings, (listing) => listing.server))) {
    const namespace = namespaces.get(server) as string;
    const toolCount = builder.addServer({ server, namespace, origin: shares[0]?.origin }, shares);
    const instructions = shares.find((listing) => listing.instructions)?.instructions ?? '';
    servers.push({ name: server, namespace, toolCount, instructions });
  }
  return assembleCatalog(builder.tools, servers, builder.findings);
}

function assembleCatalog(
  unsorted: readonly CatalogTool[],
  servers: readonly CatalogServer[],
  findings: readonly RefreshFinding[],
): Catalog {
  const tools = [...unsorted].sort((a, b) => compareCodePoints(a.id, b.id));
  const namespaces = servers.map((server) => server.namespace);
  let graph: ChoiceGraph | undefined;
  let hash: string | undefined;
  return {
    tools,
    byId: new Map(tools.map((tool) => [tool.id, tool])),
    // A query needs no graph: the first path builds it.
    get graph() {
      graph ??= buildChoiceGraph(tools, namespaces);
      return graph;
    },
    servers,
    findings,
    get hash() {
      hash ??= contentHash(tools);
      return hash;
    },
  };
}

/** Hashes the tools directly. Sorting the keys of every schema for fingerprints would cost more than the build. */
function contentHash(tools: readonly CatalogTool[]): string {
  return sha256(
    tools
      .map(({ id, upstreamName, title, description, inputSchema, outputSchema, annotations, requiresTask }) =>
        JSON.stringify([
          id,
          upstreamName,
          title,
          description,
          inputSchema,
          outputSchema,
          annotations,
          ...(requiresTask ? ['task'] : []),
        ]),
      )
      .join('\n'),
  );
}

class CatalogBuilder {
  readonly tools: CatalogTool[] = [];
  readonly findings: RefreshFinding[] = [];
  readonly #onInvalid: 'skip' | 'raise';

  constructor(onInvalid: 'skip' | 'raise') {
    this.#onInvalid = onInvalid;
  }

  /** Returns the number of usable tools. */
  addServer(source: ToolSource, listings: readonly ServerListing[]): number {
    const { server, namespace } = source;
    const fitted = new Map<string, CatalogTool>();
    for (const listing of listings) {
      if (!Array.isArray(listing.tools)) {
        this.#report('skipped', server, '', new CatalogError('bad_tool', 'Its list of tools is not a list.'));
        continue;
      }
      listing.tools.forEach((raw, index) => {
        this.#addTool(raw, index, source, fitted);
      });
    }
    if (server !== namespace) {
      this.findings.push({ server, tool: '', kind: 'flagged', reason: `Its tools stand under "${namespace}".` });
    }
    const usable = this.#withDistinctIds([...fitted.values()]);
    this.tools.push(...usable);
    return usable.length;
  }

  #addTool(raw: unknown, index: number, source: ToolSource, known: Map<string, CatalogTool>): void {
    const shown = nameToShow(raw, index);
    try {
      const { tool, flaws } = ingestTool(raw, source);
      if (known.has(tool.upstreamName)) {
        throw new CatalogError('duplicate_id', 'It is listed twice: the first is used.');
      }
      known.set(tool.upstreamName, tool);
      for (const { code, reason } of flaws)
        this.#report('flagged', source.server, shown, new CatalogError(code, reason));
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      this.#report('skipped', source.server, shown, error);
    }
  }

  /** Adds a hash where different names come to one versioned id (`github.list`, `list`) (G1.13). */
  #withDistinctIds(tools: readonly CatalogTool[]): CatalogTool[] {
    const distinct: CatalogTool[] = [];
    for (const [id, sharers] of groupBy(tools, (tool) => tool.id)) {
      if (sharers.length === 1) {
        distinct.push(sharers[0] as CatalogTool);
        continue;
      }
      const parts = parseToolId(id);
      const taken = new Set<string>();
      for (const tool of sharers) {
        const own = formatToolId({ ...parts, hash8: hash8(tool.upstreamName, tool.inputSchema) });
        if (taken.has(own)) {
          this.#report(
            'skipped',
            tool.server,
            tool.upstreamName,
            new CatalogError('duplicate_id', `Another tool has its id "${own}".`),
          );
        } else distinct.push(withId(tool, own));
        taken.add(own);
      }
    }
    return distinct;
  }

  #report(kind: RefreshFinding['kind'], server: string, tool: string, error: CatalogError): void {
    if (this.#onInvalid === 'raise') throw error;
    this.findings.push({ server, tool, kind, reason: error.message });
  }
}

/** Returns a copy with another id. Copies descriptors instead of values, so that lazy values stay lazy. */
function withId(tool: CatalogTool, id: string): CatalogTool {
  return Object.defineProperty(Object.create(Object.prototype, Object.getOwnPropertyDescriptors(tool)), 'id', {
    value: id,
  });
}

function nameToShow(raw: unknown, index: number): string {
  const name = raw !== null && typeof raw === 'object' ? (raw as { name?: unknown }).name : undefined;
  return typeof name === 'string' && name !== '' ? name : `number ${index + 1} of its list`;
}

function sortedEntries<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => compareCodePoints(a, b));
}
