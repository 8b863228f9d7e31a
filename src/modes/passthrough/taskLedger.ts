import { MAX_HELD_TASKS } from '../../mcp/heldTask.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { OwnedTask } from './ownedTask.ts';

/** Whose each task is. A session has its own and knows of no other's. */
export class TaskLedger {
  readonly #sessions = new Map<object, Map<string, OwnedTask>>();
  readonly #servers = new Map<ServerConnection, Map<string, OwnedTask>>();
  readonly #onForgotten: (task: OwnedTask) => void;

  constructor(onForgotten: (task: OwnedTask) => void) {
    this.#onForgotten = onForgotten;
  }

  /** How many tasks would be lost with this worker. */
  get atStake(): number {
    return [...this.#sessions.values()].reduce(
      (sum, own) => sum + [...own.values()].filter((task) => task.isOpen && task.isInProcess && !task.isGone).length,
      0,
    );
  }

  /** Of one session, in the order in which they were begun. */
  of(session: object): readonly OwnedTask[] {
    return [...(this.#sessions.get(session)?.values() ?? [])];
  }

  find(session: object, id: unknown): OwnedTask | undefined {
    return typeof id === 'string' ? this.#sessions.get(session)?.get(id) : undefined;
  }

  /** By the server's own id. */
  at(connection: ServerConnection, serverTaskId: string): OwnedTask | undefined {
    return this.#servers.get(connection)?.get(serverTaskId);
  }

  allAt(connection: ServerConnection): readonly OwnedTask[] {
    return [...(this.#servers.get(connection)?.values() ?? [])];
  }

  /** Whether one more may be begun: what is over makes room. */
  makeRoom(session: object): boolean {
    const own = this.of(session);
    if (own.length < MAX_HELD_TASKS) return true;
    const over = own.find(({ isOpen }) => !isOpen);
    if (over) this.forget(over);
    return over !== undefined;
  }

  add(task: OwnedTask): void {
    const { session, connection, held } = task;
    // A server that was started anew may count from one again.
    const namesake = connection && this.at(connection, held.serverTaskId);
    if (namesake) this.forget(namesake);
    const own = this.#sessions.get(session) ?? new Map<string, OwnedTask>();
    this.#sessions.set(session, own.set(task.id, task));
    if (connection) {
      const there = this.#servers.get(connection) ?? new Map<string, OwnedTask>();
      this.#servers.set(connection, there.set(held.serverTaskId, task));
    }
    // Those that were begun at the same time have all found room.
    for (const oldest of own.values()) {
      if (own.size <= MAX_HELD_TASKS) break;
      this.forget(oldest);
    }
  }

  forget(task: OwnedTask): void {
    const { session, connection, held } = task;
    const own = this.#sessions.get(session);
    if (own?.get(task.id) === task) own.delete(task.id);
    if (own?.size === 0) this.#sessions.delete(session);
    const there = connection && this.#servers.get(connection);
    if (there?.get(held.serverTaskId) === task) there.delete(held.serverTaskId);
    if (connection && there?.size === 0) this.#servers.delete(connection);
    task.dispose();
    this.#onForgotten(task);
  }
}
