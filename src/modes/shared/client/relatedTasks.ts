import { relatedTask, relateTo } from '../../../mcp/mcpTask.ts';
import type { CallOrigin } from '../../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';
import { SessionCall } from '../sessionCall.ts';

/** What servers say of tasks (`_meta`, 2025-11-25, Tasks): whose it is, and by which id its client knows the task. */

type Params = Record<string, unknown>;
type Connection = Pick<ServerConnection, 'origins'>;

/** Who began a task; where one is just being begun it is waited for, because it may be that one. */
export async function taskCallOf(connection: Connection, taskId: string): Promise<SessionCall | undefined> {
  const known = find(connection, taskId);
  if (known) return known;
  const creating = connection.origins.flatMap(({ creating, task }) => (creating && !task ? [creating] : []));
  if (creating.length === 0) return undefined;
  let found: SessionCall | undefined;
  // One of them may take its time, and be another's.
  const settled = creating.map((one) =>
    one.then(() => {
      found ??= find(connection, taskId);
      if (!found) throw new Error('another task');
    }),
  );
  await Promise.any(settled).catch(() => undefined);
  return found;
}

/** Calls that a message may belong to which names no task: one that belongs to a task names it, so those come last. */
export function sessionCallsOf({ origins }: Connection): readonly CallOrigin[] {
  const plain = origins.filter(({ task }) => !task);
  return plain.length > 0 ? plain : origins;
}

/** What a server says, as the client of its call knows the task; one that knows of no task does not hear of it. */
export function asShown(params: Params, { task }: Pick<SessionCall, 'task'>): Params {
  return relatedTask(params) === undefined ? params : relateTo(task?.shownAs, params);
}

/** The client's answer to that, as the server knows the task. */
export function asServerKnows(answer: Params, { task }: Pick<SessionCall, 'task'>, asked: Params): Params {
  return relatedTask(asked) === undefined ? answer : relateTo(task?.id, answer);
}

function find({ origins }: Connection, taskId: string): SessionCall | undefined {
  const found = origins.find(({ task }) => task?.id === taskId);
  return found instanceof SessionCall && !found.over.aborted ? found : undefined;
}
