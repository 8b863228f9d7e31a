import type { SessionMode } from '../../mcp/session/sessionMode.ts';
import { shortened } from '../../text/porcelain.ts';
import { answerCall, checkedCall, type UncheckedCall } from '../gateway/answerCall.ts';
import { runnableTool } from '../gateway/toolTable.ts';
import { argsInvalid } from '../shared/arguments.ts';
import type { CatalogView } from '../shared/catalog/catalogView.ts';
import { ClientNews } from '../shared/client/clientNews.ts';
import { gatewayTool, TRANSPARENT_TOOLS } from '../shared/gatewayTools.ts';
import { SERVER_INFO } from '../shared/introduction.ts';
import type { Answer, GatewayContext, ToolCall } from '../shared/modeContext.ts';
import { type NormalisedCall, normaliseCall } from '../shared/normaliseCall.ts';
import { SessionStates } from '../shared/sessionState.ts';
import { awaitServerOf } from '../shared/unknownTool.ts';
import { TRANSPARENT_CAPABILITIES, TRANSPARENT_INSTRUCTIONS } from './introduction.ts';
import { StrippedTools } from './strippedTools.ts';

export interface TransparentContext extends GatewayContext {
  /** Resolves when every server is known or has failed, or after a while. */
  settled(): Promise<void>;
}

export interface TransparentMode extends SessionMode {
  /** Returns the answer to `tools/list`, as far as servers are known. */
  shownTools(): readonly object[];
  onCatalogChanged(): void;
}

/** Transparent mode: the whole catalog in `tools/list` without schemas, and calls as in gateway mode (G5.5). */
export function transparentMode(context: TransparentContext): TransparentMode {
  const news = new ClientNews();
  const sessions = new SessionStates();
  const stripped = new WeakMap<CatalogView, StrippedTools>();
  const toolsOf = (view: CatalogView): StrippedTools => {
    const tools = stripped.get(view) ?? new StrippedTools(view.catalog);
    stripped.set(view, tools);
    return tools;
  };
  const runCall = async (call: UncheckedCall): Promise<Answer> => {
    await context.admit();
    const tool = runnableTool(call.name);
    if (!tool?.modes.transparent) {
      throw argsInvalid(
        `There is no tool "${call.name.slice(0, 64)}" here; run a listed one with tool_execute {"tool_id": "<its name>", "args": {}}.`,
        [],
      );
    }
    const checked = checkedCall(tool, call);
    await awaitServerOf(String(checked.args.tool_id ?? ''), context, call.call);
    return tool.run(withToolId(checked, toolsOf(context.view())));
  };
  const shownTools = (): readonly object[] => [...toolsOf(context.view()).list, ...TRANSPARENT_TOOLS];
  return {
    serverInfo: SERVER_INFO,
    capabilities: TRANSPARENT_CAPABILITIES,
    instructions: TRANSPARENT_INSTRUCTIONS,
    listTools: async () => {
      await context.settled();
      return shownTools();
    },
    shownTools,
    isRead: (name) => gatewayTool(name)?.contract === 'convergent',
    callTool: async (givenName, givenArgs, call) => {
      if (toolsOf(context.view()).idOf(givenName) === undefined) await awaitServerOf(givenName, context, call);
      const listed = listedCall(givenName, givenArgs, toolsOf(context.view()));
      return answerCall(listed ?? normaliseCall(givenName, givenArgs, 'transparent'), call, context, sessions, runCall);
    },
    open: (peer) => news.add(peer),
    onCatalogChanged: () => news.changed('tools'),
  };
}

/**
 * Reads the call of a listed tool as a call of `tool_execute`. The list says not to call its tools directly, and clients
 * do it nevertheless. The listed name wins over a similar name of the gateway, and all arguments are the tool's.
 */
function listedCall(name: string, args: unknown, tools: StrippedTools): NormalisedCall | undefined {
  const id = tools.idOf(name);
  return id === undefined ? undefined : { name: 'tool_execute', args: { tool_id: id, args }, corrections: [] };
}

/** Replaces a listed name in `tool_id` with the id of its tool. */
function withToolId(call: ToolCall, tools: StrippedTools): ToolCall {
  const { tool_id: given } = call.args;
  if (typeof given !== 'string') return call;
  const { id } = tools.resolve(given, call.context);
  if (!tools.has(given)) call.onCorrection({ rule: 'tool_id', from: shortened(given, 128), to: id });
  return { ...call, args: { ...call.args, tool_id: id } };
}
