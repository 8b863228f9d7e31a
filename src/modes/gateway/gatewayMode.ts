import { type MetaTool, rateLimited } from '../../calls/policy/quota.ts';
import { errorText, GatewayError } from '../../errors/gatewayError.ts';
import type { CallContext, SessionMode } from '../../mcp/session/sessionMode.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import { boundData } from '../../text/boundData.ts';
import {
  type Normalisation,
  normalisationNote,
  type RenderMode,
  type ReportNormalisation,
} from '../../text/normalise.ts';
import { boundText, MAX_ANSWER_CHARS, oneLine } from '../../text/porcelain.ts';
import { argsInvalid, type CheckedArguments, checkArguments, renderMode } from '../shared/arguments.ts';
import { answeredEvent, type CallEvent, failedEvent } from '../shared/callEvents.ts';
import { beginCall } from '../shared/callRecord.ts';
import { chosenTool } from '../shared/chosenTool.ts';
import { ALL_TOOLS, GATEWAY_TOOLS, PROMPT_TOOLS, RESOURCE_TOOLS, type ToolDefinition } from '../shared/definitions.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from '../shared/introduction.ts';
import type { Answer, GatewayContext } from '../shared/modeContext.ts';
import { type NormalisedCall, normaliseCall } from '../shared/normaliseCall.ts';
import { type SessionState, SessionStates } from '../shared/sessionState.ts';
import { browse, browsePrompts, browseResources } from './browse.ts';
import { execute } from './execute.ts';
import { getPrompt, readResource } from './readPrimitive.ts';
import { view } from './view.ts';

/** Returns three tools, and two for each of resources and prompts where some server has any (G5.2, G10.5). */
export function advertisedTools({ primitives }: Pick<GatewayContext, 'primitives'>): readonly ToolDefinition[] {
  const { resources, prompts } = primitives.view().catalog;
  return [
    ...GATEWAY_TOOLS,
    ...(resources.length > 0 ? RESOURCE_TOOLS : []),
    ...(prompts.length > 0 ? PROMPT_TOOLS : []),
  ];
}

/** Gateway mode, the default: a few tools, however many stand behind them (G5.2). */
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
    callTool: (givenName, givenArgs, call) =>
      answerCall(normaliseCall(givenName, givenArgs), call, context, sessions, (name, args, session, tell) =>
        callTool(name, args, context, session, call, tell),
      ),
    namedLosses: (calls) => calls.map((call) => namedLoss(call, context)),
  };
}

/** As the call would have been read here. */
function namedLoss(call: LostCall, context: GatewayContext): LostCall {
  if (call.tool === undefined) return call;
  const { name: tool } = normaliseCall(call.tool, {});
  const { toolId } = call;
  if (tool !== 'tool_execute' || toolId === undefined) return { ...call, tool };
  try {
    return { ...call, tool, toolId: chosenTool(toolId, context.view().catalog, context).id };
  } catch {
    return { ...call, tool };
  }
}

/** Runs a call of a meta-tool, makes a result of what comes of it, and records it. */
export async function answerCall(
  meant: NormalisedCall,
  call: CallContext,
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd' | 'view'>,
  sessions: SessionStates,
  run: (name: string, args: unknown, session: SessionState, tell: ReportNormalisation) => Promise<Answer>,
): Promise<object> {
  const session = sessions.of(call.session);
  const { name, args } = meant;
  const end = beginCall(context, call, { metaTool: name, subject: subjectOf(args), sessionId: session.id });
  const { result, event } = await settle(meant, context, (tell) => run(name, args, session, tell));
  end(event);
  return result;
}

async function callTool(
  name: string,
  args: unknown,
  context: GatewayContext,
  session: SessionState,
  call: CallContext,
  tell: ReportNormalisation,
): Promise<Answer> {
  await context.admit();
  const definition = ALL_TOOLS.find((tool) => tool.name === name);
  if (!definition) {
    const names = advertisedTools(context).map((tool) => tool.name);
    throw argsInvalid(`There is no tool "${name.slice(0, 64)}" here; it has ${names.join(', ')}.`, []);
  }
  const checked: CheckedArguments = checkArguments(definition, args);
  if (name === 'tool_execute') return execute(checked, context, session, call, tell);
  takeQuota(LIMITED_AS[name] as MetaTool, checked, context, call);
  switch (name) {
    case 'tool_view':
      return view(checked, context, session, call);
    case 'resource_browse':
      return browseResources(checked, context, tell);
    case 'resource_read':
      return readResource(checked, context, call, tell);
    case 'prompt_browse':
      return browsePrompts(checked, context, tell);
    case 'prompt_get':
      return getPrompt(checked, context, call);
    default:
      return browse(checked, context, session, tell);
  }
}

/**
 * Maps gateway tools to the three that limits name: browsing counts as `tool_browse`, reading as `tool_view` (G7.8).
 */
const LIMITED_AS: Readonly<Record<string, MetaTool>> = {
  tool_browse: 'tool_browse',
  resource_browse: 'tool_browse',
  prompt_browse: 'tool_browse',
  tool_view: 'tool_view',
  resource_read: 'tool_view',
  prompt_get: 'tool_view',
};

/** Takes the quota of a gateway tool. The pipeline takes that of `tool_execute` (G7.8). */
export function takeQuota(
  metaTool: MetaTool,
  args: CheckedArguments,
  context: Pick<GatewayContext, 'calls'>,
  { session, id, counted }: CallContext,
): void {
  const decision = context.calls.limiter.take({ session, metaTool, requestId: id, counted });
  if (decision.allowed) return;
  const subject = args.handle ?? args.resource_id ?? args.prompt_id ?? '';
  throw rateLimited(String(subject), decision);
}

interface ToolResult {
  content: object[];
  structuredContent?: object;
  isError?: boolean;
}

/** Converts errors into results: nothing is thrown across MCP (G4.8). */
async function settle(
  { name, args, told: normalised }: NormalisedCall,
  context: Pick<GatewayContext, 'view'>,
  run: (tell: ReportNormalisation) => Promise<Answer>,
): Promise<{ result: ToolResult; event: CallEvent }> {
  const mode: RenderMode =
    typeof args === 'object' && args !== null ? renderMode(args as CheckedArguments) : 'porcelain';
  const told = [...normalised];
  try {
    const answer = await run((one) => told.push(one));
    return { result: toResult(answer, mode, told), event: answeredEvent(args, answer.told) };
  } catch (thrown) {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new GatewayError('UPSTREAM_ERROR', oneLine(`Waygate failed on this call: ${(thrown as Error).message}`));
    const event = failedEvent(name, args, error, (toolId) => context.view().catalog.byId.get(toolId));
    return { result: toResult({ text: errorText(error), data: error.toObject(), isError: true }, mode, told), event };
  }
}

/**
 * Renders an answer. A porcelain answer carries text alone, because VS Code drops the text beside structured content
 * (M5.3).
 */
function toResult(
  { text, data, isError, media = [], notes: more = [] }: Omit<Answer, 'told'>,
  mode: RenderMode,
  told: readonly Normalisation[],
): ToolResult {
  const flag = isError ? { isError: true } : {};
  if (mode === 'json') {
    const bounded = boundData(told.length === 0 ? data : { normalised: told, ...data });
    return {
      content: [{ type: 'text', text: JSON.stringify(bounded) }, ...media],
      structuredContent: bounded,
      ...flag,
    };
  }
  // Parts are joined without a separator by VS Code: each ends its line.
  const notes = [...told.map(normalisationNote), ...more].map((note) => `${note}\n`).join('');
  const bounded = boundText(text, MAX_ANSWER_CHARS - 2 - notes.length);
  return { content: [{ type: 'text', text: `${bounded}\n${notes}` }, ...media], ...flag };
}

function subjectOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  const {
    query,
    path,
    tool_id: tool,
    handle,
    resource_id: resource,
    prompt_id: prompt,
  } = args as Record<string, unknown>;
  return (
    ([query, path, tool, handle, resource, prompt].find((value) => typeof value === 'string') as string | undefined) ??
    ''
  );
}
