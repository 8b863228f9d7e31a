import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { VERSION } from '../../lib/build.ts';
import type { AnswerRequest } from '../../mcp/incomingRequests.ts';
import { negotiateVersion } from '../../mcp/mcpVersions.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { RecordProvider } from '../provider/recordProvider.ts';
import { callTool, isTool } from '../surface/recordSurface.ts';
import { INSTRUCTIONS, TOOLS } from '../surface/tools.ts';

/** Makes the MCP server of the record surface (R1): five tools over one provider, and nothing else. */
export function recordServer(provider: RecordProvider, name = 'waygate-records'): AnswerRequest {
  return async (method, params, signal) => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: negotiateVersion(params.protocolVersion),
          capabilities: { tools: {} },
          serverInfo: { name, title: 'Waygate Records', version: VERSION },
          instructions: INSTRUCTIONS,
        };
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: TOOLS };
      case 'tools/call': {
        const tool = String(params.name);
        if (!isTool(tool)) {
          const names = TOOLS.map((one) => one.name).join(', ');
          throw new RpcError(INVALID_PARAMS, `There is no tool "${oneLine(tool, 60)}"; there are ${names}.`);
        }
        return { ...(await callTool(tool, params.arguments, { provider, signal })) };
      }
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method}`);
    }
  };
}
