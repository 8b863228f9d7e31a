import type { CatalogTool } from '../../catalog/types.ts';
import type { CallContext, SessionMode } from '../../mcp/session/sessionMode.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import type { ReportNormalisation } from '../../text/normalise.ts';
import { boundText, count, shortened } from '../../text/porcelain.ts';
import { execute } from '../gateway/execute.ts';
import { answerCall, takeQuota } from '../gateway/gatewayMode.ts';
import { view } from '../gateway/view.ts';
import { argsInvalid, checkArguments } from '../shared/arguments.ts';
import type { CatalogView } from '../shared/catalog/catalogView.ts';
import { ClientNews } from '../shared/client/clientNews.ts';
import { SERVER_INFO } from '../shared/introduction.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import { type NormalisedCall, normaliseCall } from '../shared/normaliseCall.ts';
import { type SessionState, SessionStates } from '../shared/sessionState.ts';
import { signatureOf } from '../shared/signature.ts';
import { TRANSPARENT_TOOLS } from './definitions.ts';
import { TRANSPARENT_CAPABILITIES, TRANSPARENT_INSTRUCTIONS } from './introduction.ts';
import { StrippedTools } from './strippedTools.ts';

export interface TransparentContext extends GatewayContext {
  /** Resolves when every server is known or has failed, or after a while. */
  settled(): Promise<void>;
}

export interface TransparentMode extends SessionMode {
  /** What `tools/list` is answered with, as far as servers are known. */
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
  const run = async (
    name: string,
    args: unknown,
    session: SessionState,
    call: CallContext,
    tell: ReportNormalisation,
  ): Promise<Answer> => {
    await context.admit();
    const tools = toolsOf(context.view());
    const definition = TRANSPARENT_TOOLS.find((tool) => tool.name === name);
    if (!definition) {
      throw argsInvalid(
        `There is no tool "${name.slice(0, 64)}" here; run a listed one with tool_execute {"tool_id": "<its name>", "args": {}}.`,
        [],
      );
    }
    const checked = checkArguments(definition, args);
    if (name === 'tool_view') {
      takeQuota('tool_view', checked, context, call);
      return view(checked, context, session, call);
    }
    const given = checked.tool_id as string;
    const tool = tools.resolve(given, context);
    if (!tools.has(given)) tell({ rule: 'tool_id', from: shortened(given, 128), to: tool.id });
    return name === 'tool_hydrate'
      ? hydrate(tool)
      : execute({ ...checked, tool_id: tool.id }, context, session, call, tell);
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
    callTool: (givenName, givenArgs, call) =>
      answerCall(
        listedCall(givenName, givenArgs, toolsOf(context.view())) ??
          normaliseCall(givenName, givenArgs, TRANSPARENT_TOOLS),
        call,
        context,
        sessions,
        (name, args, session, tell) => run(name, args, session, call, tell),
      ),
    namedLosses: (calls) => calls.map((call) => namedLoss(call, toolsOf(context.view()))),
    open: (peer) => news.add(peer),
    onCatalogChanged: () => news.changed('tools'),
  };
}

/**
 * A listed tool that is called by itself: not supported by the specification, and what a client does that takes a list
 * for what it is. The name is that tool's, however near it comes to one of ours, and so are all the arguments.
 */
function listedCall(name: string, args: unknown, tools: StrippedTools): NormalisedCall | undefined {
  const id = tools.idOf(name);
  return id === undefined ? undefined : { name: 'tool_execute', args: { tool_id: id, args }, told: [] };
}

/** A listed name may stand where a tool's is called, and in `tool_execute`. */
function namedLoss(call: LostCall, tools: StrippedTools): LostCall {
  const { tool, toolId } = call;
  if (tool === undefined) return call;
  const listed = tools.idOf(tool);
  if (listed !== undefined) return { ...call, tool: 'tool_execute', toolId: listed };
  const { name } = normaliseCall(tool, {}, TRANSPARENT_TOOLS);
  // What is not ours has arguments of its own, whatever they are called.
  const isOwn = TRANSPARENT_TOOLS.some((one) => one.name === name);
  return { ...call, tool: name, toolId: isOwn && toolId !== undefined ? (tools.idOf(toolId) ?? toolId) : undefined };
}

/** A longer schema is shown as an outline: whole it would be cut, or moved to a file (G5.8). */
const SHOWN_SCHEMA_CHARS = 6_000;

/** Returns the real schema of a listed tool (G5.8). */
function hydrate(tool: CatalogTool): Answer {
  const schema = tool.inputSchema ?? {};
  const whole = JSON.stringify(schema);
  const signature = signatureOf(tool.inputSchema);
  const taken = signature.length === 0 ? 'takes no arguments' : count(signature.length, 'argument');
  const shown =
    whole.length <= SHOWN_SCHEMA_CHARS
      ? [`${tool.id}: ${taken}; input schema:`, whole]
      : [`${tool.id}: ${taken}; outline of its input schema, which is too long to be shown whole:`, ...signature];
  return {
    text: boundText(shown.join('\n')),
    data: { tool_id: tool.id, args_schema: schema, examples: [], constraints: {} },
    told: { kind: 'hydrate', tool },
  };
}
