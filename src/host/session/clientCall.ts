import type { Fault } from '../../errors/fault.ts';
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

/** A client's request as the host keeps it while a worker has it, or while there is none. */
export interface ClientCall {
  readonly id: RequestId;
  readonly method: string;
  /** The resource, of a request about one. */
  readonly uri: string | undefined;
  /** Of what servers log, of a request for that. */
  readonly level: string | undefined;
  /** Of a `tools/call`: what it names, and the tool that this is to run where it names a tool of ours. */
  readonly tool: string | undefined;
  readonly toolId: string | undefined;
  /** Of a tool of ours: its client wants data. */
  readonly wantsData?: boolean;
  /** When it came; by `performance.now()`. */
  readonly since: number;
  /** As it came, its newline included. */
  readonly frame: Buffer;
  /** A worker has counted it among the session's calls, and has had that kept: the next one does not once more. */
  counted?: boolean;
}

/** What a worker is sent of it; `replays`: how often it was sent before to one that may have begun with it. */
export function framesOf({ id, frame, counted = false }: ClientCall, replays: number): Buffer {
  if (!counted && replays === 0) return frame;
  return Buffer.concat([
    Buffer.from(encodeMessage({ method: RESENT_NOTIFICATION, params: { id, counted, replays } })),
    frame,
  ]);
}

export type FaultTerminal = Extract<Terminal<never>, { kind: 'fault' }>;

/** What is known beside the fault: seconds until it is worth calling again, and where the worker's log is. */
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
  const content = [{ type: 'text', text: wantsData ? JSON.stringify(data) : errorText(error) }];
  return resultResponse(id, { content, ...(wantsData ? { structuredContent: data } : {}), isError: true });
}

/** For a request that is not taken: nothing of it was sent. */
export function refusal(call: Answered, fault: Fault, context?: FaultContext): string {
  if (fault.code === 'duplicate_id') {
    return errorResponse(call.id, INVALID_REQUEST, `Request id ${JSON.stringify(call.id)} is in flight already.`);
  }
  const terms = { fault, knowledge: 'not_dispatched', contract: 'never_replay', dispatches: 0 } as const;
  return faultAnswer(call, terms, context);
}

/** What the next worker has to know of a call that was answered so. */
export function lostCall(
  { method, tool, toolId, since }: ClientCall,
  { fault, knowledge, contract, dispatches }: FaultTerminal,
): LostCall {
  return { method, tool, toolId, took: performance.now() - since, fault, knowledge, contract, dispatches };
}
