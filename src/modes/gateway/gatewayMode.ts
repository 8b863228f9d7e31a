import type { SessionMode } from '../../mcp/session/sessionMode.ts';
import { argsInvalid } from '../shared/arguments.ts';
import { gatewayTool, listedTools, type ToolDefinition } from '../shared/gatewayTools.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../shared/introduction.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import { normaliseCall } from '../shared/normaliseCall.ts';
import { SessionStates } from '../shared/sessionState.ts';
import { answerCall, checkedCall, type UncheckedCall } from './answerCall.ts';
import { runnableTool } from './toolTable.ts';

/** Returns three tools, and two for each of resources and prompts where some server has any (G5.2, G10.5). */
export function advertisedTools({ primitives }: Pick<GatewayContext, 'primitives'>): readonly ToolDefinition[] {
  const { resources, prompts } = primitives.view().catalog;
  return listedTools(
    'always',
    ...(resources.length > 0 ? (['resources'] as const) : []),
    ...(prompts.length > 0 ? (['prompts'] as const) : []),
  );
}

/** Gateway mode, the default: a few tools that find and run those of all servers (G5.2). */
export function gatewayMode(
  context: GatewayContext,
  client?: Required<Pick<SessionMode, 'request' | 'open'>>,
): SessionMode & { listTools(): readonly object[] } {
  const sessions = new SessionStates();
  return {
    serverInfo: SERVER_INFO,
    capabilities: SERVER_CAPABILITIES,
    instructions: INSTRUCTIONS,
    listTools: () => advertisedTools(context),
    ...client,
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
