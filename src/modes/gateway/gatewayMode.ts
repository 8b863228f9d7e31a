import type { ClientPeer, SessionClient, SessionMode } from '../../mcp/session/sessionMode.ts';
import { argsInvalid } from '../shared/arguments.ts';
import { gatewayTokens } from '../shared/catalog/definitionTokens.ts';
import { gatewayTool, listedTools, type ToolDefinition } from '../shared/gatewayTools.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../shared/introduction.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import { normaliseCall } from '../shared/normaliseCall.ts';
import { SessionStates } from '../shared/sessionState.ts';
import { answerCall, checkedCall, type UncheckedCall } from './answerCall.ts';
import { runnableTool } from './toolTable.ts';

/** Names of clients that show the user resources and prompts themselves; VS Code gives that of its build. */
const SHOW_PRIMITIVES =
  /^(?:(?:visual studio )?code|code-server|vscodium|claude[- ]code|claude-ai|claude desktop)(?: - \w+)?$/i;

/**
 * Returns three tools. A client that does not show resources and prompts itself gets two more for each of them, where
 * some server has any (G5.2, G10.5).
 */
export function advertisedTools(
  { primitives, primitiveTools }: Pick<GatewayContext, 'primitives' | 'primitiveTools'>,
  client?: SessionClient,
): readonly ToolDefinition[] {
  const setting = primitiveTools();
  const shows = client !== undefined && SHOW_PRIMITIVES.test(client.name);
  if (setting === 'off' || (setting === 'auto' && shows)) return listedTools('always');
  const { resources, prompts } = primitives.view().catalog;
  return listedTools(
    'always',
    ...(resources.length > 0 ? (['resources'] as const) : []),
    ...(prompts.length > 0 ? (['prompts'] as const) : []),
  );
}

export interface GatewayMode extends SessionMode {
  listTools(client?: SessionClient): readonly object[];
  /** Tokens of the definitions and instructions that an attached client is sent: the most, where clients differ. */
  sentTokens(): number;
}

/** Gateway mode, the default: a few tools that find and run those of all servers (G5.2). */
export function gatewayMode(
  context: GatewayContext,
  client?: Required<Pick<SessionMode, 'request' | 'open'>>,
): GatewayMode {
  const sessions = new SessionStates();
  const peers = new Set<ClientPeer>();
  return {
    serverInfo: SERVER_INFO,
    capabilities: SERVER_CAPABILITIES,
    instructions: INSTRUCTIONS,
    listTools: (client) => advertisedTools(context, client),
    sentTokens: () =>
      Math.max(gatewayTokens(), ...[...peers].map((peer) => gatewayTokens(advertisedTools(context, peer.client)))),
    ...client,
    open: (peer) => {
      peers.add(peer);
      const close = client?.open(peer);
      return () => {
        peers.delete(peer);
        close?.();
      };
    },
    isRead: (name) => gatewayTool(name)?.contract === 'convergent',
    callTool: (name, args, call) => answerCall(normaliseCall(name, args), call, context, sessions, runCall),
  };
}

async function runCall(call: UncheckedCall): Promise<Answer> {
  const { name, context } = call;
  await context.admit();
  const tool = runnableTool(name);
  if (!tool?.modes.gateway) {
    const names = advertisedTools(context).map((listed) => listed.name);
    throw argsInvalid(`There is no tool "${name.slice(0, 64)}" here; it has ${names.join(', ')}.`, []);
  }
  return tool.run(checkedCall(tool, call));
}
