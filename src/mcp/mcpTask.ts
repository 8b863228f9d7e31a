/** Tasks of MCP 2025-11-25, as far as they are looked into on their way through: everything else of one passes as it came. */

/** In `_meta`: the task that a message belongs to. */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

export interface McpTask {
  readonly taskId: string;
  readonly status: string;
  readonly statusMessage?: string;
  /** How long its server keeps it, in milliseconds; `null` for as long as it likes. */
  readonly ttl: number | null;
  readonly pollInterval?: number;
}

type Json = Readonly<Record<string, unknown>>;

/** Ids are opaque; one that is longer is nobody's. */
const MAX_ID_CHARS = 1_024;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

export function hasEnded({ status }: Pick<McpTask, 'status'>): boolean {
  return ENDED.has(status);
}

/** The task that an answer tells has begun; an answer of any other kind has none. */
export function createdTask({ task }: Json): McpTask | undefined {
  return readTask(task);
}

/** A task as `tasks/get` and `notifications/tasks/status` tell of it. */
export function readTask(value: unknown): McpTask | undefined {
  const { taskId, status, statusMessage, ttl, pollInterval } = (value ?? {}) as Record<string, unknown>;
  if (!isTaskId(taskId) || typeof status !== 'string') return undefined;
  return {
    taskId,
    status,
    ttl: isDuration(ttl) ? ttl : null,
    ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
    ...(isDuration(pollInterval) ? { pollInterval } : {}),
  };
}

export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_ID_CHARS;
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value >= 0;
}

/** Whether a server takes calls of tools as tasks. */
export function takesTasks(capabilities: Json | undefined): boolean {
  return member(member(member(capabilities?.tasks, 'requests'), 'tools'), 'call') !== undefined;
}

/** Whether it knows `tasks/list` or `tasks/cancel`. */
export function knowsTaskMethod(capabilities: Json | undefined, method: 'list' | 'cancel'): boolean {
  return member(capabilities?.tasks, method) !== undefined;
}

function member(value: unknown, name: string): unknown {
  return (value as Json | null | undefined)?.[name];
}

export function relatedTask({ _meta }: Json): string | undefined {
  const { taskId } = ((_meta as Json | undefined)?.[RELATED_TASK] ?? {}) as Json;
  return isTaskId(taskId) ? taskId : undefined;
}

/** The same message as part of that task, or of none. */
export function relateTo(taskId: string | undefined, message: Json): Record<string, unknown> {
  const { _meta, ...rest } = message;
  const { [RELATED_TASK]: given, ...meta } = (_meta ?? {}) as Record<string, unknown>;
  if (taskId !== undefined) meta[RELATED_TASK] = { ...(given as object | undefined), taskId };
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}
