import type { HeldTask } from '../ops/heldTask.ts';
import type { ReplayContract } from '../ops/replay.ts';
import {
  CONTRACT_NOTIFICATION,
  type JsonRpcMessage,
  LISTED_NOTIFICATION,
  PRIVATE_PREFIX,
  peekResponseId,
  type RequestId,
  STOPPED_NOTIFICATION,
  SUPERSEDED_NOTIFICATION,
  TASK_NOTIFICATION,
} from '../protocol/frames.ts';

/** One that the client has begun, or the id of one that is over. */
export interface TaskTold {
  task?: HeldTask;
  gone?: string;
}

export type WorkerFrame =
  /** Something the worker says or asks by itself. */
  | { kind: 'message' }
  | { kind: 'answer'; id: RequestId }
  /** What a worker tells its host alone. */
  | { kind: 'stopped' }
  | { kind: 'superseded'; memory: Record<string, unknown> | undefined }
  | { kind: 'task'; told: TaskTold }
  | { kind: 'contract'; id: RequestId; contract: ReplayContract }
  | { kind: 'listed'; mark: string }
  | { kind: 'unknown' };

const PRIVATE_HEAD = Buffer.from(`{"jsonrpc":"2.0","method":"${PRIVATE_PREFIX}`);

/** What a frame of a worker is, by its beginning: an answer of a hundred megabytes is not parsed for it. */
export function readWorkerFrame(frame: Buffer): WorkerFrame {
  if (!isPrivate(frame)) {
    const id = peekResponseId(frame);
    return id === undefined ? { kind: 'message' } : { kind: 'answer', id };
  }
  const { method, params } = JSON.parse(frame.toString('utf8')) as JsonRpcMessage;
  if (method === STOPPED_NOTIFICATION) return { kind: 'stopped' };
  if (method === TASK_NOTIFICATION) return { kind: 'task', told: params as TaskTold };
  if (method === LISTED_NOTIFICATION) return { kind: 'listed', mark: String(params?.mark) };
  if (method === SUPERSEDED_NOTIFICATION) return { kind: 'superseded', memory: params };
  if (method !== CONTRACT_NOTIFICATION) return { kind: 'unknown' };
  const { id, contract } = params as { id: RequestId; contract: ReplayContract };
  return { kind: 'contract', id, contract };
}

function isPrivate(frame: Buffer): boolean {
  return frame.length > PRIVATE_HEAD.length && frame.subarray(0, PRIVATE_HEAD.length).equals(PRIVATE_HEAD);
}
