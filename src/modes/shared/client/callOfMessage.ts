import { relatedTask } from '../../../mcp/mcpTask.ts';
import { OWN_BUSINESS } from '../../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';
import { SessionCall } from '../sessionCall.ts';

type Params = Record<string, unknown>;

/**
 * Returns the call that a server's message belongs to. A message that names a task belongs to the call that runs it. Over
 * Streamable HTTP, the stream identifies the call. On stdio nothing does, so a message is forwarded only if a single
 * session has running calls.
 */
export async function callOf(
  connection: ServerConnection,
  params: Params,
  related: object | undefined,
): Promise<SessionCall | 'none' | 'several'> {
  const task = relatedTask(params);
  // A message that names a task never goes to another call, even when the caller of that task has gone.
  return task === undefined ? plainCallOf(connection, related) : ((await callOfTask(connection, task)) ?? 'none');
}

/** Returns the call of a message that names no task. */
export function plainCallOf(
  connection: ServerConnection,
  related: object | undefined,
): SessionCall | 'none' | 'several' {
  if (related instanceof SessionCall) return related.over.aborted ? 'none' : related;
  if (related === OWN_BUSINESS) return 'none';
  const calls = connection.origins;
  const sessions = new Set(calls.map((origin) => origin.session ?? origin));
  if (sessions.size > 1) return 'several';
  const newest = calls.at(-1);
  return newest instanceof SessionCall ? newest : 'none';
}

/** Returns the call that runs a task, while that call waits for its answer. */
export async function callOfTask(connection: ServerConnection, taskId: string): Promise<SessionCall | undefined> {
  const find = (): SessionCall | undefined => {
    const found = connection.origins.find((origin) => origin.taskId === taskId);
    return found instanceof SessionCall && !found.over.aborted ? found : undefined;
  };
  const known = find();
  if (known) return known;
  // The answer that names the task may have arrived together with this message, and be on its way to the call.
  await new Promise((resolve) => setImmediate(resolve));
  return find();
}
