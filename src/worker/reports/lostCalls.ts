import type { CatalogTool } from '../../catalog/types.ts';
import type { CallRecord } from '../../control/contract.ts';
import { faultError } from '../../errors/faultError.ts';
import { INTERNAL_ERROR } from '../../errors/rpcCodes.ts';
import { type SessionRequest, UNKNOWN_METHOD } from '../../mcp/session/sessionRequest.ts';
import { type CallEvent, failedEvent } from '../../modes/shared/callEvents.ts';
import { callRecord } from '../../modes/shared/callRecord.ts';
import type { LostCall } from '../../replay/lostCall.ts';

/** A call that its host has answered without a worker, as it is told and counted beside those that were answered here. */
export function lostToolCall(
  { tool: name = '', toolId, metaTool = name, took, fault, knowledge, contract, dispatches }: LostCall,
  client: string,
  toolOf: (toolId: string) => CatalogTool | undefined,
): { record: Omit<CallRecord, 'id'>; event: CallEvent } {
  const error = faultError(fault, { subject: undefined, knowledge, contract, dispatches });
  const event = failedEvent(name, { tool_id: toolId }, error, toolOf);
  const call = { at: Date.now() - took, client, metaTool, subject: toolId ?? '', durationMs: took };
  return { record: callRecord(call, event), event };
}

export function lostRequest({ method, contract, took, dispatches }: LostCall): SessionRequest {
  // What is asked for by MCP's own methods is a read; a method that is none of those has no row of its own.
  const named = contract === 'convergent' ? method : UNKNOWN_METHOD;
  return { method: named, latencyMs: took, failed: INTERNAL_ERROR, replays: Math.max(0, dispatches - 1) };
}
