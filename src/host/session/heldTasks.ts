import { encodeMessage, type JsonRpcMessage, TASKS_NOTIFICATION } from '../../link/frames.ts';
import { type HeldTask, MAX_HELD_TASKS } from '../../mcp/heldTask.ts';
import type { TaskTold } from './workerFrame.ts';

/** Those that name a task. */
const TASK_METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel']);

/** The tasks of a session, and which worker has each: part of what the next one has to be told of it. */
export class HeldTasks {
  readonly #tasks = new Map<string, { task: HeldTask; generation: number }>();

  /** A worker tells of one that it has begun or taken over, or that is over. */
  note(generation: number, { task, gone }: TaskTold): void {
    if (gone !== undefined && this.#tasks.get(gone)?.generation === generation) this.#tasks.delete(gone);
    if (!task) return;
    this.#tasks.set(task.id, { task, generation });
    for (const oldest of this.#tasks.keys()) {
      if (this.#tasks.size <= MAX_HELD_TASKS) break;
      this.#tasks.delete(oldest);
    }
  }

  /** Which worker has the task that a request is about. */
  runnerFor({ method, params }: Pick<JsonRpcMessage, 'method' | 'params'>): number | undefined {
    if (method === undefined || !TASK_METHODS.has(method)) return undefined;
    return this.#tasks.get(String(params?.taskId))?.generation;
  }

  /** What a new worker is told. */
  frames(): string[] {
    if (this.#tasks.size === 0) return [];
    const tasks = [...this.#tasks.values()].map(({ task }) => task);
    return [encodeMessage({ method: TASKS_NOTIFICATION, params: { tasks } })];
  }
}
