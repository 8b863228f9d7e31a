import {
  CONTRACT_NOTIFICATION,
  isRequestId,
  type JsonRpcMessage,
  KEEP_NOTIFICATION,
  PRIVATE_PREFIX,
  peekResponseId,
  type RequestId,
  STOPPED_NOTIFICATION,
  SUPERSEDED_NOTIFICATION,
} from '../../link/frames.ts';
import type { ReplayContract } from '../../replay/replay.ts';

export type WorkerFrame =
  /** Notification or request of the worker for the client. */
  | { kind: 'message' }
  | { kind: 'answer'; id: RequestId }
  /** Private messages from the worker to its host. */
  | { kind: 'stopped' }
  | { kind: 'superseded' }
  | { kind: 'contract'; id: RequestId; contract: ReplayContract; begins: boolean; toolId: string | undefined }
  | { kind: 'keep'; key: string; value: unknown; bytes: number; counted: RequestId | undefined }
  | { kind: 'unknown' };

const PRIVATE_HEAD = Buffer.from(`{"jsonrpc":"2.0","method":"${PRIVATE_PREFIX}`);

/** Classifies a worker's frame by its first bytes; an answer of a hundred megabytes is never parsed. */
export function readWorkerFrame(frame: Buffer): WorkerFrame {
  if (!isPrivate(frame)) {
    const id = peekResponseId(frame);
    return id === undefined ? { kind: 'message' } : { kind: 'answer', id };
  }
  const { method, params } = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
  if (method === STOPPED_NOTIFICATION) return { kind: 'stopped' };
  if (method === SUPERSEDED_NOTIFICATION) return { kind: 'superseded' };
  if (method === KEEP_NOTIFICATION) {
    const { key, value, counted } = params ?? {};
    return {
      kind: 'keep',
      key: String(key),
      value,
      bytes: frame.length,
      counted: isRequestId(counted) ? counted : undefined,
    };
  }
  if (method !== CONTRACT_NOTIFICATION) return { kind: 'unknown' };
  const { id, contract, begins = true, toolId } = params as Extract<WorkerFrame, { kind: 'contract' }>;
  return { kind: 'contract', id, contract, begins, toolId };
}

function isPrivate(frame: Buffer): boolean {
  return frame.length > PRIVATE_HEAD.length && frame.subarray(0, PRIVATE_HEAD.length).equals(PRIVATE_HEAD);
}
