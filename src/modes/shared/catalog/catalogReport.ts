import { schemaFindings } from '../../../calls/validation/schemaHealth.ts';
import type { RefreshFinding } from '../../../catalog/types.ts';
import type { CatalogReport } from '../../../control/contract.ts';
import { oneLine } from '../../../text/porcelain.ts';
import { GATEWAY_TOOLS, type ToolDefinition } from '../gatewayTools.ts';
import type { CatalogView } from './catalogView.ts';
import { gatewayTokens, toolTokens } from './definitionTokens.ts';

const DESCRIPTION_CHARS = 120;

/** `advertised` is the list that a client gets in place of all those tools. */
export function catalogReport(
  { catalog }: CatalogView,
  advertised: readonly ToolDefinition[] = GATEWAY_TOOLS,
  more: readonly RefreshFinding[] = [],
): CatalogReport {
  const tokensByServer = catalog.servers.map(({ name, toolCount }) => {
    const tools = catalog.tools.filter((tool) => tool.server === name);
    return { server: name, tools: toolCount, tokens: tools.reduce((sum, tool) => sum + toolTokens(tool), 0) };
  });
  return {
    namespaces: catalog.servers.map(({ name, namespace }) => ({
      namespace,
      server: name,
      tools: catalog.tools
        .filter((tool) => tool.server === name)
        .map((tool) => ({
          id: tool.id,
          path: catalog.graph.pathOf(tool.id) ?? `/${namespace}`,
          description: oneLine(tool.description || tool.title, DESCRIPTION_CHARS),
        })),
    })),
    findings: [...catalog.findings, ...schemaFindings(catalog.tools), ...more],
    definitionTokens: tokensByServer.reduce((sum, { tokens }) => sum + tokens, 0),
    tokensByServer,
    gatewayTokens: gatewayTokens(),
    ...(advertised.length > GATEWAY_TOOLS.length && { withPrimitivesTokens: gatewayTokens(advertised) }),
  };
}
