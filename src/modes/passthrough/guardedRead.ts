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
  call: CallContext,
  { context, sessionId }: { context: PassthroughContext; sessionId: string },
  send: () => Promise<T>,
): Promise<T> {
  const counted = COUNTED_AS[method];
  const end = beginCall(context, call, { metaTool: method, subject: choice.id, sessionId });
  // An address that no server lists may be private, so the event does not name it.
  const named = isListed ? ofTool(choice) : { toolId: UNKNOWN };
  let event: CallEvent = completedEvent(counted, { ...named, dispatched: true });
  try {
    await context.admit();
    await authorized(context.primitives, choice, call, sent);
    takeQuota(counted, choice.id, context, call);
    return await send();
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : unexplained(thrown, choice);
    event = failedCallEvent(counted.definition.name, {}, error, () => choice);
    throw thrown instanceof GatewayError ? new RpcError(INTERNAL_ERROR, thrown.message, thrown.toObject()) : thrown;
  } finally {
    end(event);
  }
}

function unexplained(thrown: unknown, { id, server }: CatalogTool): GatewayError {
  const words = thrown instanceof RpcError ? `${server} answered with an error of its own.` : 'The read failed.';
  return new GatewayError('UPSTREAM_ERROR', words, { path: id });
}
