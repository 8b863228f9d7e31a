import { buildCatalog, type Catalog } from '../../../catalog/catalog.ts';
import { CatalogError } from '../../../catalog/catalogError.ts';
import { fitNamespace } from '../../../catalog/namespace.ts';
import type { GraphNode, ServerListing } from '../../../catalog/types.ts';
import type { CatalogStatus, TreeChildren, TreeNode } from '../../../control/contract.ts';
import { buildRankIndex, type RankIndex } from '../../../ranking/rankIndex.ts';
import { oneLine } from '../../../text/porcelain.ts';

/** A row has room for a sentence. */
const ROW_DESCRIPTION_CHARS = 200;

/**
 * Catalog with its rank index at one moment. Immutable: a call finishes on the view on which it started, and a refresh
 * creates another view (G8.1).
 */
export class CatalogView {
  readonly catalog: Catalog;
  readonly index: RankIndex;
  readonly revision: number;

  constructor(catalog: Catalog, index: RankIndex, revision: number) {
    this.catalog = catalog;
    this.index = index;
    this.revision = revision;
  }

  static build(listings: readonly ServerListing[], revision: number): CatalogView {
    const catalog = buildCatalog(listings);
    return new CatalogView(catalog, buildRankIndex(catalog.tools, catalog.servers), revision);
  }

  get status(): CatalogStatus {
    const { tools, servers, findings } = this.catalog;
    return {
      revision: this.revision,
      toolCount: tools.length,
      namespaceCount: servers.length,
      skipped: findings.flatMap(({ server, tool, kind, reason }) =>
        kind === 'skipped' ? [{ server, tool, reason }] : [],
      ),
    };
  }

  namespaceOf(server: string): string {
    return this.catalog.servers.find(({ name }) => name === server)?.namespace ?? fitNamespace(server);
  }

  toolCountOf(server: string): number {
    return this.catalog.servers.find(({ name }) => name === server)?.toolCount ?? 0;
  }

  /** Returns the rows under a path for the editor's tree; none if the path has gone since. */
  children(path: string): TreeChildren {
    try {
      return { revision: this.revision, nodes: this.catalog.graph.children(path).map((node) => this.#row(node)) };
    } catch (error) {
      if (error instanceof CatalogError) return { revision: this.revision, nodes: [] };
      throw error;
    }
  }

  #row(node: GraphNode): TreeNode {
    const tool = node.toolId === undefined ? undefined : this.catalog.byId.get(node.toolId);
    const namespace = node.path.split('/')[1] ?? '';
    const server =
      tool?.server ?? this.catalog.servers.find((candidate) => candidate.namespace === namespace)?.name ?? '';
    return {
      ...node,
      server,
      description: oneLine(tool ? tool.description || tool.title : node.hint, ROW_DESCRIPTION_CHARS),
      safety: tool?.safety ?? '',
    };
  }
}
