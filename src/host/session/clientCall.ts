import { type Fault, faultFrom } from '../../errors/fault.ts';
import { faultError } from '../../errors/faultError.ts';
import { errorText } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import {
  encodeMessage,
  errorResponse,
  RESENT_NOTIFICATION,
  type RequestId,
  resultResponse,
} from '../../link/frames.ts';
import type { Terminal } from '../../replay/journalCall.ts';
import type { LostCall } from '../../replay/lostCall.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { faultAt } from './faultAt.ts';

/** Client request, as the host keeps it until it is answered. */
export interface ClientCall {
  readonly id: RequestId;
  readonly method: string;
  /** URI of a request about a resource. */
  readonly uri: string | undefined;
  /** Level of a `logging/setLevel` request. */
  readonly level: string | undefined;
  /** Gateway tool of a `tools/call`, and `tool_id` in its arguments. In passthrough mode the method's own name. */
  readonly tool: string | undefined;
  readonly toolId: string | undefined;
  /** Tool that a worker has begun to run, whatever the client called it. */
  runs?: string | undefined;
  /** The client called a gateway tool and wants JSON. */
  readonly wantsData?: boolean;
  /** Time of arrival, from `performance.now()`. */
  readonly since: number;
  /** Original bytes, including the newline. */
  readonly frame: Buffer;
  /** A worker has counted the call for the session's quotas, and the next worker must not count it again. */
  counted?: boolean;
}

/**
 * Returns the frames that send a call to a worker. `replays`: how often an earlier worker may already have begun it.
 */
export function framesOf({ id, frame, counted = false }: ClientCall, replays: number): Buffer {
  if (!counted && replays === 0) return frame;
  return Buffer.concat([
    Buffer.from(encodeMessage({ method: RESENT_NOTIFICATION, params: { id, counted, replays } })),
    frame,
  ]);
}

export type FaultTerminal = Extract<Terminal<never>, { kind: 'fault' }>;

/** Facts about a fault: seconds until a retry makes sense, and the path of the worker's log. */
export interface FaultContext {
  retryAfter?: number | undefined;
  log?: string | undefined;
}

type Answered = Pick<ClientCall, 'id' | 'method' | 'wantsData'>;

/** Makes the host's answer in place of the worker's: a tool result, like every operational fault (G4.8). */
export function faultAnswer(
  { id, method, wantsData }: Answered,
  { fault, knowledge, contract, dispatches }: Omit<FaultTerminal, 'kind'>,
  { retryAfter, log }: FaultContext = {},
): string {
  const error = faultError(fault, {
    subject: undefined,
    knowledge,
    contract,
    dispatches,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(log === undefined ? {} : { log }),
  });
  const data = error.toObject();
  if (method !== 'tools/call') return errorResponse(id, INTERNAL_ERROR, error.message, data);
  const content = [{ type: 'text', text: wantsData ? visibleJson(data) : errorText(error) }];
  return resultResponse(id, { content, ...(wantsData ? { structuredContent: data } : {}), isError: true });
}

/** Makes the answer to a request that an earlier host had begun, and whose answer ended with that host. */
export function lostWithHost(method: string): string {
  const fault = faultFrom('outcome_unknown', faultAt(1, 'stopped', 'Waygate ended during the call'));
  const terms = { fault, knowledge: 'outcome_unknown', contract: 'never_replay', dispatches: 1 } as const;
  return faultAnswer({ id: 0, method }, terms);
}

/** Makes the answer to a request that the host did not send to any worker. */
export function refusal(call: Answered, fault: Fault, context?: FaultContext): string {
  if (fault.code === 'duplicate_id') {
    return errorResponse(call.id, INVALID_REQUEST, `Request id ${visibleJson(call.id)} is in flight already.`);
  }
  const terms = { fault, knowledge: 'not_dispatched', contract: 'never_replay', dispatches: 0 } as const;
  return faultAnswer(call, terms, context);
}

/** Makes the record of a failed call that the next worker counts. */
export function lostCall(
  { method, tool, toolId, runs, since }: ClientCall,
  { fault, knowledge, contract, dispatches }: FaultTerminal,
): LostCall {
  return {
    method,
    tool,
    toolId: runs ?? toolId,
    runs: runs !== undefined,
    took: performance.now() - since,
    fault,
    knowledge,
    contract,
    dispatches,
  };
}
