import { listPages } from '../protocol/listPages.ts';
import { OWN_BUSINESS } from './callOrigin.ts';
import type { ServerConnection } from './serverConnection.ts';

const LIST_TIMEOUT_MS = 30_000;

/** All tasks that a server knows, whoever has begun them, as they came. */
export async function tasksOf(server: ServerConnection): Promise<readonly unknown[]> {
  const { items } = await listPages('tasks', async (cursor, leftMs) => {
    const options = { timeoutMs: Math.min(LIST_TIMEOUT_MS, leftMs), origin: OWN_BUSINESS };
    const { tasks, nextCursor } = await server.request('tasks/list', cursor === undefined ? {} : { cursor }, options);
    return { items: Array.isArray(tasks) ? tasks : [], nextCursor };
  });
  return items;
}
