/** Reads tasks of MCP 2025-11-25, for tools that a server runs in no other way. */

/** Key in `_meta` for the task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export interface McpTask {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  readonly pollInterval?: number;
}

type Json = Readonly<Record<string, unknown>>;

/** Ids are opaque; Waygate rejects longer ones. */
const MAX_ID_CHARS = 1_024;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export function hasEnded({ status }: Pick<McpTask, 'status'>): boolean {
  return ENDED.has(status);
}

/** Returns the task that an answer has created, if the answer is of that kind. */
export function createdTask({ task }: Json): McpTask | undefined {
  return readTask(task);
}

/** Reads an answer to `tasks/get`. */
export function readTask(value: unknown): McpTask | undefined {
  const { taskId, status, statusMessage, pollInterval } = (value ?? {}) as Record<string, unknown>;
  if (!isTaskId(taskId) || typeof status !== 'string') return undefined;
  return {
    taskId,
    status,
    ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
    ...(typeof pollInterval === 'number' && pollInterval >= 0 ? { pollInterval } : {}),
  };
}

function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_CHARS;
}

/** Returns whether a server runs tools as tasks. */
export function takesTasks(capabilities: Json | undefined): boolean {
  return member(member(member(capabilities?.tasks, 'requests'), 'tools'), 'call') !== undefined;
}

function member(value: unknown, name: string): unknown {
  return (value as Json | null | undefined)?.[name];
}

export function relatedTask({ _meta }: Json): string | undefined {
  const { taskId } = ((_meta as Json | undefined)?.[RELATED_TASK] ?? {}) as Json;
  return isTaskId(taskId) ? taskId : undefined;
}

/** Returns a copy of the message that belongs to `taskId`, or to no task. */
export function relateTo(taskId: string | undefined, message: Json): Record<string, unknown> {
  const { _meta, ...rest } = message;
  const { [RELATED_TASK]: given, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  if (taskId !== undefined) meta[RELATED_TASK] = { ...(given as object | undefined), taskId };
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
