import { schemaFindings } from '../../../calls/validation/schemaHealth.ts';
import { countTokens } from '../../../catalog/tokenizer/tokens.ts';
import type { CatalogTool, RefreshFinding } from '../../../catalog/types.ts';
import type { CatalogReport } from '../../../control/contract.ts';
import { oneLine } from '../../../text/porcelain.ts';
import { GATEWAY_TOOLS, type ToolDefinition } from '../gatewayTools.ts';
import { INSTRUCTIONS } from '../introduction.ts';
import type { CatalogView } from './catalogView.ts';

const DESCRIPTION_CHARS = 120;

/** `advertised` is the list that a client gets in place of all those tools. */
export function catalogReport(
  { catalog }: CatalogView,
  advertised: readonly ToolDefinition[] = GATEWAY_TOOLS,
  more: readonly RefreshFinding[] = [],
): CatalogReport {
  const tokensByServer = catalog.servers.map(({ name, toolCount }) => {
    const tools = catalog.tools.filter((tool) => tool.server === name);
    return { server: name, tools: toolCount, tokens: countTokens(JSON.stringify(tools.map(definitionOf))) };
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
    gatewayTokens: countTokens(JSON.stringify(advertised)) + countTokens(INSTRUCTIONS),
  };
}

/** Returns a tool as `tools/list` would show it to a client without Waygate. */
function definitionOf(tool: CatalogTool): object {
  const { upstreamName: name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(title ? { title } : {}),
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(Object.keys(annotations).length > 0 ? { annotations } : {}),
  };
}
