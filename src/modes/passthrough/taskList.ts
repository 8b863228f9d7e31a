import { knowsTaskMethod, readTask } from '../../mcp/mcpTask.ts';
import { OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { TaskHome } from '../../upstream/connection/taskHome.ts';
import { askedList } from '../../upstream/listing/askedList.ts';
import type { OwnedTask } from './ownedTask.ts';
import { objects } from './owners.ts';
import { wasLost } from './serverError.ts';
import type { TaskLedger } from './taskLedger.ts';

type Item = Readonly<Record<string, unknown>>;

const LIST_TIMEOUT_MS = 30_000;

/** Those of one session: each server tells how they are; of one that cannot list, what it told last counts. */
export async function listTasks(own: readonly OwnedTask[], ledger: TaskLedger): Promise<Item[]> {
  const asked = new Set(own.flatMap(({ connection, isGone }) => (connection && !isGone ? [connection] : [])));
  const able = [...asked].filter(({ capabilities }) => knowsTaskMethod(capabilities, 'list'));
  const ended = new Set<ServerConnection | undefined>();
  await Promise.all(
    able.map(async (connection) => {
      try {
        const options = { timeoutMs: LIST_TIMEOUT_MS, origin: OWN_BUSINESS, ...new TaskHome(connection).terms };
        for (const item of objects(await askedList(connection, 'tasks/list', 'tasks', options))) {
          const { taskId } = readTask(item) ?? {};
          const task = taskId === undefined ? undefined : ledger.at(connection, taskId);
          if (task && own.includes(task)) task.note(item);
        }
      } catch (error) {
        if (wasLost(error)) ended.add(connection);
      }
    }),
  );
  const there = own.filter(({ isGone, isInProcess, connection }) => !isGone && !(isInProcess && ended.has(connection)));
  return there.flatMap(({ last, id }) => (last ? [{ ...last, taskId: id }] : []));
}
