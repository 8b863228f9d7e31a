import { isTaskId } from './mcpTask.ts';

/** A task of a client's as its host remembers it: the worker that began it may be replaced while it runs. */
export interface HeldTask {
  /** As the client knows it. */
  readonly id: string;
  /** Who runs it, and how that one calls it. */
  readonly server: string;
  readonly serverTaskId: string;
  /** Whose result it will be. */
  readonly toolId: string;
  readonly upstreamName: string;
  readonly ttl: number | null;
  /** When it began; by `Date.now()`. */
  readonly since: number;
}

/** As many as a session may have. */
export const MAX_HELD_TASKS = 256;

/** Reads a task from another process. */
export function readHeldTasks(value: unknown): HeldTask[] {
  return Array.isArray(value) ? value.slice(0, MAX_HELD_TASKS).flatMap((one) => readHeldTask(one) ?? []) : [];
}

function readHeldTask(value: unknown): HeldTask | undefined {
  const { id, server, serverTaskId, toolId, upstreamName, ttl, since } = (value ?? {}) as Record<string, unknown>;
  // With its server's prefix an id may be longer than the server's own.
  if (typeof id !== 'string' || !isTaskId(serverTaskId) || typeof since !== 'number') return undefined;
  if (typeof server !== 'string' || typeof toolId !== 'string' || typeof upstreamName !== 'string') return undefined;
  return { id, server, serverTaskId, toolId, upstreamName, ttl: typeof ttl === 'number' ? ttl : null, since };
}
