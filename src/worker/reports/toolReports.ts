import type { CatalogTool } from '../../catalog/types.ts';
import type { ToolDetails, ToolPath, ToolPaths } from '../../control/toolContract.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { catalogLoaded } from '../../modes/shared/catalog/catalogEvents.ts';
import type { CatalogView } from '../../modes/shared/catalog/catalogView.ts';
import { toolTokens } from '../../modes/shared/catalog/definitionTokens.ts';
import { wholeSignature } from '../../modes/shared/signature.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { UseReport } from '../../telemetry/counters.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleData, visibleText } from '../../text/visibleText.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

export interface ToolReportSources {
  view(): CatalogView;
  connection(server: string): ServerConnection | undefined;
  contractOf(tool: CatalogTool): ReplayContract;
  useOf(toolId: string): UseReport | undefined;
  before(connection: ServerConnection, tool: string): ToolDetails['before'];
}

const PATH_DESCRIPTION_CHARS = 80;

/** Describes single tools, and lists all of them, for the user. */
export class ToolReports {
  readonly #sources: ToolReportSources;

  constructor(sources: ToolReportSources) {
    this.#sources = sources;
  }

  tool(toolId: string): ToolDetails | null {
    const { view, connection, contractOf, useOf, before } = this.#sources;
    const { catalog } = view();
    const tool = catalog.byId.get(toolId);
    if (!tool) return null;
    const { server, namespace, name, title, description, safety, annotations, upstreamName, inputSchema } = tool;
    const from = connection(server);
    const raw = from?.listed.tools.find((listed) => isRecord(listed) && listed.name === upstreamName);
    const changed = from && before(from, upstreamName);
    const { calls = 0, errors = 0, p95Ms, lastUsedAt } = useOf(toolId) ?? {};
    return {
      toolId,
      path: pathOf(tool, view()),
      server,
      namespace,
      name,
      ...(title !== '' && { title: visibleText(title) }),
      description: visibleText(description),
      definition: visibleData(raw ?? { name: upstreamName, description, inputSchema }),
      signature: wholeSignature(inputSchema),
      tokens: toolTokens(tool),
      safety,
      annotations,
      replay: contractOf(tool),
      calls,
      errors,
      ...(p95Ms !== undefined && { p95Ms }),
      ...(lastUsedAt !== undefined && { lastUsedAt }),
      ...(changed && { before: { ...changed, definition: visibleData(changed.definition) } }),
    };
  }

  async paths(signal: AbortSignal): Promise<ToolPaths> {
    const view = this.#sources.view();
    // Counts in slices what is not counted yet, so that other work goes on.
    await catalogLoaded(view, [], signal);
    const paths = view.catalog.tools.map(
      (tool): ToolPath => ({
        path: pathOf(tool, view),
        toolId: tool.id,
        name: tool.upstreamName,
        description: oneLine(tool.description || tool.title, PATH_DESCRIPTION_CHARS),
        safety: tool.safety,
        server: tool.server,
        tokens: toolTokens(tool),
      }),
    );
    return { revision: view.revision, paths };
  }
}

function pathOf({ id, namespace }: CatalogTool, { catalog }: CatalogView): string {
  return catalog.graph.pathOf(id) ?? `/${namespace}`;
}
