import type { ServerConnection } from './serverConnection.ts';

type Connection = Pick<ServerConnection, 'health' | 'pid' | 'state'>;

/**
 * Where a task lives. A process takes its tasks with it; what a server at a URL does outlives our connections to it, so
 * only that server can tell.
 */
export class TaskHome {
  readonly #connection: Connection;
  readonly #generation: number;
  /** Whether its tasks end with it. */
  readonly isProcess: boolean;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#generation = connection.health.generation;
    this.isProcess = connection.pid !== undefined;
  }

  get isGone(): boolean {
    if (!this.isProcess) return false;
    const { state, health } = this.#connection;
    return state !== 'ready' || health.generation !== this.#generation;
  }
}
