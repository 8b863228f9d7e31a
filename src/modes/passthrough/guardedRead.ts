import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import type { CallContext } from '../../mcp/session/sessionMode.ts';
import { takeQuota } from '../gateway/gatewayMode.ts';
import { authorized } from '../primitives/primitivePorts.ts';
import { type CallEvent, failedEvent, forwardedReadEvent } from '../shared/callEvents.ts';
import { beginCall } from '../shared/callRecord.ts';
import type { PassthroughContext } from './passthroughContext.ts';

/** Read of a resource or prompt by a method of MCP. */
export interface Read {
  method: 'resources/read' | 'prompts/get';
  /** The item in the form that rules use; a server may have more than it lists. */
  choice: CatalogTool;
  isListed: boolean;
}

/** Gateway tools under whose names telemetry counts these reads. */
const COUNTED_AS = { 'resources/read': 'resource_read', 'prompts/get': 'prompt_get' } as const;

/**
 * Reads with the same rules, limits and telemetry as in gateway mode, where the read counts as a `tool_view` (G7.8).
 * Forwards the server's answer unchanged.
 */
export async function guardedRead<T>(
  { method, choice, isListed }: Read,
  call: CallContext,
  { context, sessionId }: { context: PassthroughContext; sessionId: string },
  send: () => Promise<T>,
): Promise<T> {
  const counted = COUNTED_AS[method];
  const end = beginCall(context, call, { metaTool: method, subject: choice.id, sessionId });
  let event: CallEvent = forwardedReadEvent(counted, isListed ? choice : undefined);
  try {
    await context.admit();
    await authorized(context.primitives, choice, call);
    takeQuota('tool_view', { [`${counted.split('_')[0]}_id`]: choice.id }, context, call);
    return await send();
  } catch (thrown) {
    const error = thrown instanceof GatewayError ? thrown : unexplained(thrown, choice);
    event = failedEvent(counted, {}, error, () => choice);
    throw thrown instanceof GatewayError ? new RpcError(INTERNAL_ERROR, thrown.message, thrown.toObject()) : thrown;
  } finally {
    end(event);
  }
}

function unexplained(thrown: unknown, { id, server }: CatalogTool): GatewayError {
  const words = thrown instanceof RpcError ? `${server} answered with an error of its own.` : 'The read failed.';
  return new GatewayError('UPSTREAM_ERROR', words, { path: id });
}
