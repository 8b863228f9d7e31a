import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import { takeQuota } from '../gateway/answerCall.ts';
import { failedCallEvent } from '../gateway/toolTable.ts';
import { authorized } from '../primitives/primitivePorts.ts';
import { type CallEvent, completedEvent, ofTool, UNKNOWN } from '../shared/callEvent.ts';
import { beginCall } from '../shared/callRecord.ts';
import { PROMPT_GET, RESOURCE_READ } from '../shared/gatewayTools.ts';
import type { PassthroughContext } from './passthroughContext.ts';

/** Read of a resource or prompt. */
export interface Read {
  method: 'resources/read' | 'prompts/get';
  /** Entry of the catalog. For an address that the server does not list, it is made up for the policy. */
  choice: CatalogTool;
  isListed: boolean;
  /** Parameters of the request. */
  sent: Readonly<Record<string, unknown>>;
}

/** Gateway tools whose limit and telemetry count the reads. */
const COUNTED_AS = { 'resources/read': RESOURCE_READ, 'prompts/get': PROMPT_GET } as const;

/**
 * Reads with the same rules, limits and telemetry as in gateway mode, where the read counts as a `tool_view` (G7.8).
 * Forwards the server's answer unchanged.
 */
export async function guardedRead<T>(
  { method, choice, isListed, sent }: Read,
  given: CallContext,
  { context, sessionId }: { context: PassthroughContext; sessionId: string },
  send: (call: CallContext) => Promise<T>,
): Promise<T> {
  const counted = COUNTED_AS[method];
  const begun = { metaTool: method, subject: choice.id, sessionId, args: sent };
  const { call, end } = beginCall(context, given, begun);
  // An address that no server lists may be private, so the event does not name it.
  const named = isListed ? ofTool(choice) : { toolId: UNKNOWN };
  let failure: GatewayError | undefined;
  let answer: T | undefined;
  let event: CallEvent = completedEvent(counted, { ...named, dispatched: true });
  try {
    await context.admit();
    await authorized(context.primitives, choice, call, sent);
    takeQuota(counted, choice.id, context, call);
    answer = await send(call);
    return answer;
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : unexplained(thrown, choice);
    failure = error;
    event = failedCallEvent(counted.definition.name, {}, error, () => choice);
    throw thrown instanceof GatewayError ? new RpcError(INTERNAL_ERROR, thrown.message, thrown.toObject()) : thrown;
  } finally {
    end(event, { answer: answer as object | undefined, error: failure });
  }
}

function unexplained(thrown: unknown, { id, server }: CatalogTool): GatewayError {
  const words = thrown instanceof RpcError ? `${server} answered with an error of its own.` : 'The read failed.';
  return new GatewayError('UPSTREAM_ERROR', words, { path: id });
}
