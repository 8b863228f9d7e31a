import type { ReplayContract } from '../../replay/replay.ts';
import type { ServerConnection } from './serverConnection.ts';

export type HomeOfTasks = Pick<ServerConnection, 'health' | 'pid' | 'state'>;

/**
 * Where a task lives. A process takes its tasks with it; what a server at a URL does outlives our connections to it, so
 * only that server can tell.
 */
export class TaskHome {
  readonly #connection: HomeOfTasks;
  readonly #generation: number;
  readonly #pid: number | undefined;
  /** Whether its tasks end with it. */
  readonly isProcess: boolean;

  constructor(connection: HomeOfTasks) {
    this.#connection = connection;
    this.#generation = connection.health.generation;
    this.#pid = connection.pid;
    this.isProcess = this.#pid !== undefined;
  }

  /** What may happen to a question about a task: a process that was started anew has never heard of it, or of another. */
  get terms(): { contract?: ReplayContract; start?: number } {
    return this.isProcess ? { contract: 'never_replay', start: this.#generation } : {};
  }

  get isGone(): boolean {
    if (!this.isProcess) return false;
    const { state, health, pid } = this.#connection;
    return state !== 'ready' || health.generation !== this.#generation || pid !== this.#pid;
  }
}
