import { randomUUID } from 'node:crypto';
import { INTERNAL_ERROR } from '../errors/rpcCodes.ts';
import type { RequestId } from './frames.ts';

/** Reason why an answer is unusable. The names are codes of the fault table (O2.4). */
export type FrameFault = 'malformed_response' | 'bad_result' | 'frame_too_large';

export interface FaultResponse {
  jsonrpc: '2.0';
  id: RequestId;
  error: { code: number; message: string; data: string };
}

/** Random mark of our own errors, which no server can guess. */
const MARK = randomUUID();

/** Makes the answer that fails a call with an unusable answer. */
export function faultResponse(id: RequestId, fault: FrameFault, message: string): FaultResponse {
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message, data: `${MARK}:${fault}` } };
}

/** Returns the fault in an error's `data`, where we put it there. */
export function frameFaultOf(data: unknown): FrameFault | undefined {
  return typeof data === 'string' && data.startsWith(`${MARK}:`)
    ? (data.slice(MARK.length + 1) as FrameFault)
    : undefined;
}
