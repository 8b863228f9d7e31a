import { rateLimited } from '../../calls/policy/quota.ts';
import { errorText, GatewayError } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { type CallContext, YOU } from '../../mcp/session/sessionMode.ts';
import { boundData } from '../../text/boundData.ts';
import { boundAnswer } from '../../text/fence.ts';
import {
  type Normalisation,
  normalisationNote,
  type RenderMode,
  type ReportNormalisation,
} from '../../text/normalise.ts';
import { MAX_ANSWER_CHARS, oneLine } from '../../text/porcelain.ts';
import { visibleData, visibleJson, visibleText } from '../../text/visibleText.ts';
import { checkArguments, renderMode } from '../shared/arguments.ts';
import type { CallEvent } from '../shared/callEvent.ts';
import { beginCall, type TracedCall } from '../shared/callRecord.ts';
import { DECLARED_TOOLS, type GatewayTool } from '../shared/gatewayTools.ts';
import type { Answer, GatewayContext, RunnableTool, ToolCall } from '../shared/modeContext.ts';
import type { NormalisedCall } from '../shared/normaliseCall.ts';
import type { SessionStates } from '../shared/sessionState.ts';
import { failedCallEvent } from './toolTable.ts';

/** Call of a gateway tool as the client made it. */
export type UncheckedCall = Omit<ToolCall, 'args'> & { name: string; args: unknown };

/** Runs a call of a gateway tool, renders the answer or error, and records the call. `run` is the mode's own part. */
export async function answerCall(
  meant: NormalisedCall,
  given: CallContext,
  context: GatewayContext,
  sessions: SessionStates,
  run: (call: UncheckedCall) => Promise<Answer>,
): Promise<object> {
  const { name, args } = meant;
  const session = sessions.of(given.session);
  const settled = (call: TracedCall) =>
    settle(meant, context, (onCorrection) => run({ name, args, context, session, call, onCorrection }));
  // A form checks arguments while the user types them. Such a check is no call, and no error of the tool.
  if (given.sessionId === YOU && isRecord(args) && args.dry_run === true) return (await settled(given)).result;
  const begun = { metaTool: name, subject: subjectOf(args), sessionId: session.id, args };
  const { call, end } = beginCall(context, given, begun);
  const { result, event, error } = await settled(call);
  end(event, { answer: result, error });
  return result;
}

/** Limit of a note. A correction quotes at most 128 characters of the input twice. */
const MAX_NOTE = 400;

interface ToolResult {
  content: object[];
  structuredContent?: object;
  isError?: boolean;
}

/** Converts errors into results: nothing is thrown across MCP (G4.8). */
async function settle(
  { name, args, corrections: first }: NormalisedCall,
  context: Pick<GatewayContext, 'view'>,
  run: (onCorrection: ReportNormalisation) => Promise<Answer>,
): Promise<{ result: ToolResult; event: CallEvent; error?: GatewayError }> {
  const mode = renderMode(args);
  const corrections = [...first];
  try {
    const { event, ...answer } = await run((correction) => corrections.push(correction));
    return { result: toResult(answer, mode, corrections), event };
  } catch (thrown) {
    const error =
      thrown instanceof GatewayError
        ? thrown
        : new GatewayError('UPSTREAM_ERROR', oneLine(`Waygate failed on this call: ${(thrown as Error).message}`));
    const answer = { text: errorText(error), data: error.toObject(), isError: true };
    const event = failedCallEvent(name, args, error, (toolId) => context.view().catalog.byId.get(toolId));
    return { result: toResult(answer, mode, corrections), event, error };
  }
}

/**
 * Renders an answer. A porcelain answer carries text alone, because VS Code drops the text beside structured content
 * (M5.3).
 */
function toResult(
  { text, data, isError, media = [], notes: more = [] }: Omit<Answer, 'event'>,
  mode: RenderMode,
  corrections: readonly Normalisation[],
): ToolResult {
  const flag = isError ? { isError: true } : {};
  if (mode === 'json') {
    const bounded = boundData(corrections.length === 0 ? data : { normalised: corrections, ...data });
    return {
      content: [{ type: 'text', text: visibleJson(bounded) }, ...media],
      // A client shows it to the model in a form of its own.
      structuredContent: visibleData(bounded),
      ...flag,
    };
  }
  // VS Code joins parts without a separator, so each ends its line.
  const notes = [...corrections.map(normalisationNote), ...more].map((note) => `${oneLine(note, MAX_NOTE)}\n`).join('');
  const bounded = boundAnswer(visibleText(text), MAX_ANSWER_CHARS - 2 - notes.length);
  return { content: [{ type: 'text', text: `${bounded}\n${notes}` }, ...media], ...flag };
}

/** Checks the arguments of a call and takes its quota. Throws a `GatewayError`. */
export function checkedCall(tool: RunnableTool, { args: given, ...call }: UncheckedCall): ToolCall {
  const args = checkArguments(tool.definition, given);
  takeQuota(tool, tool.id === undefined ? '' : String(args[tool.id]), call.context, call.call);
  return { ...call, args };
}

/** Counts a call against the limit of its tool (G7.8). The pipeline counts the calls of `tool_execute`. */
export function takeQuota(
  { limit: metaTool }: GatewayTool,
  subject: string,
  context: Pick<GatewayContext, 'calls'>,
  { session, id, counted }: CallContext,
): void {
  if (metaTool === 'none' || metaTool === 'tool_execute') return;
  const decision = context.calls.limiter.take({ session, metaTool, requestId: id, counted });
  if (!decision.allowed) throw rateLimited(subject, decision);
}

const SUBJECTS = ['query', 'path', ...DECLARED_TOOLS.flatMap(({ id }: GatewayTool) => id ?? [])];

/** Returns the argument that says what the call is about, for the list of recent calls. */
function subjectOf(args: unknown): string {
  if (typeof args !== 'object' || args === null) return '';
  const values = SUBJECTS.map((name) => (args as Record<string, unknown>)[name]);
  return values.find((value) => typeof value === 'string') ?? '';
}
