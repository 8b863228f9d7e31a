import type { HeldTask } from '../../mcp/heldTask.ts';
import { hasEnded, type McpTask, readTask } from '../../mcp/mcpTask.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { TaskHome } from '../../upstream/connection/taskHome.ts';
import { SessionCall } from '../shared/sessionCall.ts';

type Json = Readonly<Record<string, unknown>>;

/** What is kept of a task is for lists; a server could put anything there. */
const MAX_KEPT_CHARS = 16_384;

/** The longest that a timer of Node can wait. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A task that a client has begun, on the way to its server and back. */
export class OwnedTask {
  readonly held: HeldTask;
  /** The client's session, and no other's. */
  readonly session: object;
  /** Absent where nobody has it any more. */
  readonly connection: ServerConnection | undefined;
  /** Whose it is, to what its server asks meanwhile. */
  readonly call: SessionCall;
  /** Begun by a worker before this one. */
  readonly isAdopted: boolean;
  readonly #home: TaskHome | undefined;
  readonly #onExpired: () => void;
  #release: (() => void) | undefined;
  #last: Json | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    held: HeldTask,
    parts: {
      session: object;
      connection: ServerConnection | undefined;
      call?: SessionCall | undefined;
      onExpired: () => void;
    },
  ) {
    const { session, connection, call, onExpired } = parts;
    this.held = held;
    this.session = session;
    this.connection = connection;
    this.isAdopted = call === undefined;
    this.call = call ?? new SessionCall(undefined);
    this.call.task = { id: held.serverTaskId, shownAs: held.id };
    this.#onExpired = onExpired;
    this.#home = connection && new TaskHome(connection);
    // Its result is in the server's memory alone: it must not be stopped as idle before that has been fetched.
    this.#release = connection?.hold(this.call);
    this.#expireIn(held.ttl, held.since);
  }

  get id(): string {
    return this.held.id;
  }

  /** As its server told of it last, whole. */
  get last(): Json | undefined {
    return this.#last;
  }

  /** Whether somebody may still want something of its server. */
  get isOpen(): boolean {
    return this.#release !== undefined;
  }

  /** Whether it ends with a process of this worker's. */
  get isInProcess(): boolean {
    return this.#home?.isProcess === true;
  }

  /** What may happen to a question about it that is lost. */
  get terms(): TaskHome['terms'] {
    return this.#home?.terms ?? {};
  }

  /** Whether whoever ran it is no longer there. */
  get isGone(): boolean {
    return !this.connection || this.connection.state === 'stopped' || this.#home?.isGone === true;
  }

  /** Its server has told how it is. */
  note(told: Json): void {
    const task = readTask(told);
    if (!task) return;
    const ended = hasEnded(task) && !(this.#last && hasEnded(this.#last as Pick<McpTask, 'status'>));
    this.#last = bounded(told, task);
    if (task.status === 'cancelled') this.settle();
    // Servers keep what has ended for as long again.
    if (ended) this.#expireIn(task.ttl, Date.now());
  }

  /** Nobody waits for anything of its server any more. */
  settle(): void {
    this.#release?.();
    this.#release = undefined;
    this.call.end();
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.settle();
  }

  #expireIn(ttl: number | null, since: number): void {
    clearTimeout(this.#timer);
    if (ttl === null) return;
    const leftMs = Math.max(0, since + ttl - Date.now());
    if (leftMs > LONGEST_TIMER_MS) return;
    this.#timer = setTimeout(this.#onExpired, leftMs);
    this.#timer.unref();
  }
}

function bounded(told: Json, { statusMessage: _message, ...task }: McpTask): Json {
  if (JSON.stringify(told).length <= MAX_KEPT_CHARS) return told;
  const { createdAt, lastUpdatedAt } = told;
  return { ...task, createdAt: String(createdAt).slice(0, 64), lastUpdatedAt: String(lastUpdatedAt).slice(0, 64) };
}
