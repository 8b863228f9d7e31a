import { type MetaTool, rateLimited } from '../../dispatch/quota.ts';
import { boundData } from '../../ops/boundData.ts';
import { GatewayError } from '../../ops/gatewayError.ts';
import { boundText, errorText, MAX_ANSWER_CHARS, oneLine } from '../../ops/porcelain.ts';
import type { SessionSurface, SurfaceCall } from '../../protocol/sessionServer.ts';
import { argsInvalid, type CheckedArguments, checkArguments, type RenderMode, renderMode } from './arguments.ts';
import { browse } from './browse.ts';
import { GATEWAY_TOOLS } from './definitions.ts';
import { execute } from './execute.ts';
import type { Answer, GatewayContext } from './gatewayContext.ts';
import { INSTRUCTIONS, SERVER_CAPABILITIES, SERVER_INFO } from './introduction.ts';
import { type SessionState, SessionStates } from './sessionState.ts';
import { view } from './view.ts';

/** The default face of the gateway (000 §4.2): three tools, whatever stands behind them. */
export function gatewaySurface(context: GatewayContext): SessionSurface {
  const sessions = new SessionStates();
  return {
    serverInfo: SERVER_INFO,
    capabilities: SERVER_CAPABILITIES,
    instructions: INSTRUCTIONS,
    listTools: () => GATEWAY_TOOLS,
    callTool: (name, args, call) =>
      answerCall(name, args, call, context, () => callTool(name, args, context, sessions.of(call.session), call)),
  };
}

/** Runs a call of a meta-tool, makes a result of what comes of it, and records it. */
export async function answerCall(
  name: string,
  args: unknown,
  call: SurfaceCall,
  context: Pick<GatewayContext, 'onCallStart' | 'onCallEnd'>,
  run: () => Promise<Answer>,
): Promise<object> {
  const at = Date.now();
  const started = performance.now();
  context.onCallStart();
  const { result, errorCode } = await settle(run, args);
  context.onCallEnd({
    at,
    client: call.client,
    metaTool: name,
    subject: subjectOf(args),
    durationMs: performance.now() - started,
    outcome: result.isError ? 'error' : 'ok',
    ...(errorCode === undefined ? {} : { errorCode }),
  });
  return result;
}

async function callTool(
  name: string,
  args: unknown,
  context: GatewayContext,
  session: SessionState,
  call: SurfaceCall,
): Promise<Answer> {
  const definition = GATEWAY_TOOLS.find((tool) => tool.name === name);
  if (!definition) {
    throw argsInvalid(
      `There is no tool "${name.slice(0, 64)}" here; it has ${GATEWAY_TOOLS.map((t) => t.name).join(', ')}.`,
      [],
    );
  }
  const checked: CheckedArguments = checkArguments(definition, args);
  if (name === 'tool_execute') return execute(checked, context, session, call);
  takeQuota(name as MetaTool, checked, context, call.session);
  return name === 'tool_view' ? view(checked, context, session, call) : browse(checked, context, session);
}

/** The limits of `tool_execute` are the pipeline's; those of the other two are taken here (000 §4.5). */
export function takeQuota(metaTool: MetaTool, args: CheckedArguments, context: GatewayContext, session: object): void {
  const decision = context.calls.limiter.take({ session, metaTool });
  if (!decision.allowed) throw rateLimited(metaTool === 'tool_view' ? String(args.handle) : '', decision);
}

interface ToolResult {
  content: object[];
  structuredContent?: object;
  isError?: boolean;
}

/** Nothing is thrown across MCP: what went wrong is a result (000 §3.4). */
async function settle(run: () => Promise<Answer>, args: unknown): Promise<{ result: ToolResult; errorCode?: string }> {
  const mode: RenderMode =
    typeof args === 'object' && args !== null ? renderMode(args as CheckedArguments) : 'porcelain';
  try {
    const answer = await run();
    return { result: toResult(answer, mode), ...(answer.isError ? { errorCode: 'UPSTREAM_ERROR' } : {}) };
  } catch (thrown) {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new GatewayError('UPSTREAM_ERROR', oneLine(`Waygate failed on this call: ${(thrown as Error).message}`));
    const answer = { text: errorText(error), data: error.toObject(), isError: true };
    return { result: toResult(answer, mode), errorCode: error.code };
  }
}

/** VS Code replaces text by structured content: a porcelain answer carries text alone (design.md §3). */
function toResult({ text, data, isError, media = [] }: Answer, mode: RenderMode): ToolResult {
  const flag = isError ? { isError: true } : {};
  if (mode === 'json') {
    const bounded = boundData(data);
    return {
      content: [{ type: 'text', text: JSON.stringify(bounded) }, ...media],
      structuredContent: bounded,
      ...flag,
    };
  }
  // Parts are joined without a separator by VS Code: each ends its line.
  return { content: [{ type: 'text', text: `${boundText(text, MAX_ANSWER_CHARS - 2)}\n` }, ...media], ...flag };
}

function subjectOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  const { query, path, tool_id: id, handle } = args as Record<string, unknown>;
  return ([query, path, id, handle].find((value) => typeof value === 'string') as string | undefined) ?? '';
}
