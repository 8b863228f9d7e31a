import { cancelTask } from '../../calls/pipeline/createTask.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { deferred } from '../../lib/deferred.ts';
import { type HeldTask, MAX_HELD_TASKS } from '../../mcp/heldTask.ts';
import {
  createdTask,
  hasEnded,
  knowsTaskMethod,
  readTask,
  relatedTask,
  relateTo,
  takesTasks,
} from '../../mcp/mcpTask.ts';
import type { ClientPeer, SurfaceCall } from '../../mcp/session/sessionMode.ts';
import type { TaskTerms } from '../../mcp/wire/taskProgress.ts';
import { oneLine } from '../../text/porcelain.ts';
import { OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import { TaskHome } from '../../upstream/connection/taskHome.ts';
import { taskCallOf } from '../shared/client/relatedTasks.ts';
import { SessionCall } from '../shared/sessionCall.ts';
import { OwnedTask } from './ownedTask.ts';
import type { PassthroughContext } from './passthroughContext.ts';
import { ownErrorOf, requestError, wasLost } from './serverError.ts';
import { shownResult } from './shownResult.ts';
import { TaskLedger } from './taskLedger.ts';
import { listTasks } from './taskList.ts';
import { prefixed } from './toolRoutes.ts';

type Params = Readonly<Record<string, unknown>>;
type Result = Record<string, unknown>;

const TIMEOUT_MS = 120_000;
/** `tasks/result` is answered when the task has ended: longer than this nobody keeps a request open. */
const RESULT_TIMEOUT_MS = 60 * 60_000;
const MAX_NAME_CHARS = 60;

/**
 * Tasks of clients (2025-11-25, Tasks): a call is answered with the promise of a result, which the client fetches
 * itself. Each belongs to the session that has begun it, and to whoever asks besides there is no such task.
 */
export class Tasks {
  readonly #context: PassthroughContext;
  readonly #ledger: TaskLedger;
  readonly #peers = new Map<object, ClientPeer>();

  constructor(context: PassthroughContext) {
    this.#context = context;
    this.#ledger = new TaskLedger((task) => this.#peers.get(task.session)?.tasks?.drop(task.id));
  }

  /** How many tasks would be lost with this worker. */
  get atStake(): number {
    return this.#ledger.atStake;
  }

  attach(connection: ServerConnection): void {
    connection.onNotification('notifications/tasks/status', (params) => void this.#onStatus(connection, params));
    connection.onReady(() => {
      for (const task of this.#ledger.allAt(connection)) if (task.isGone) task.settle();
    });
  }

  open(peer: ClientPeer): () => void {
    this.#peers.set(peer.session, peer);
    return () => {
      this.#peers.delete(peer.session);
      for (const task of this.#ledger.of(peer.session)) this.#abandon(task);
    };
  }

  /** What the session has begun with a worker before this one: processes ended with that, servers at a URL did not. */
  adopt(tasks: readonly HeldTask[], peer: ClientPeer): void {
    for (const held of tasks) {
      const connection = this.#context.connections().find(({ config }) => config.name === held.server);
      // One that was started anew may have given the name to somebody else's task since.
      const there = connection && this.#ledger.at(connection, held.serverTaskId);
      const lives = connection !== undefined && 'url' in connection.config && !there;
      const task = this.#own(held, peer.session, lives ? connection : undefined);
      task.call.peer = peer;
      // It is this worker's now: requests about it need not go where it was begun.
      if (lives) peer.tasks?.hold(held);
    }
  }

  /** Has a call run as a task. `run` sends it. */
  async begin(
    tool: CatalogTool,
    connection: ServerConnection,
    call: SurfaceCall,
    run: (origin: SessionCall, task: TaskTerms) => Promise<Result>,
  ): Promise<Result> {
    const session = sessionOf(call);
    if (!this.#ledger.makeRoom(session)) throw tooMany(tool);
    const origin = new SessionCall(call.peer);
    const created = deferred<void>();
    origin.creating = created.promise;
    const release = connection.hold(origin);
    try {
      const answer = await run(origin, { request: call.task ?? {}, over: origin.over });
      const begun = createdTask(answer);
      if (!begun) {
        // A server may answer at once after all.
        origin.end();
        return answer;
      }
      if (call.signal.aborted) {
        // Whoever wanted it has gone just now, and nobody would ever ask for it.
        origin.end();
        await cancelTask(connection, begun.taskId, new TaskHome(connection));
        return answer;
      }
      const id = this.#idFor(tool, session, begun.taskId);
      const task = this.#own(
        {
          id,
          server: connection.config.name,
          serverTaskId: begun.taskId,
          toolId: tool.id,
          upstreamName: tool.upstreamName,
          ttl: begun.ttl,
          since: Date.now(),
        },
        session,
        connection,
        origin,
      );
      task.note(answer.task as Params);
      origin.peer = this.#peers.get(session) ?? call.peer;
      call.peer?.tasks?.hold(task.held);
      return { ...shownTo(task, answer), task: { ...(answer.task as Params), taskId: id } };
    } catch (error) {
      origin.end();
      throw error;
    } finally {
      release();
      // What the server tells of it comes behind the answer that names it.
      setImmediate(created.resolve);
    }
  }

  /** `undefined` for what is not about tasks, or where no server has any. */
  request(method: string, params: Params, call: SurfaceCall): Promise<object> | undefined {
    if (!METHODS.has(method)) return undefined;
    const session = sessionOf(call);
    const any = this.#context.connections().some(({ capabilities }) => takesTasks(capabilities));
    if (!any && this.#ledger.of(session).length === 0) return undefined;
    if (method === 'tasks/list') return listTasks(this.#ledger.of(session), this.#ledger).then((tasks) => ({ tasks }));
    const task = this.#ledger.find(session, params.taskId);
    if (!task) return Promise.reject(unknownTask(params.taskId));
    return method === 'tasks/result' ? this.#result(task, params, call) : this.#send(task, method, params, call);
  }

  async #send(task: OwnedTask, method: string, params: Params, call: SurfaceCall): Promise<Result> {
    const answer = await this.#ask(task, method, params, call, { timeoutMs: TIMEOUT_MS, origin: OWN_BUSINESS });
    task.note(answer);
    return { ...shownTo(task, answer), taskId: task.id };
  }

  async #result(task: OwnedTask, params: Params, call: SurfaceCall): Promise<object> {
    const origin = task.call;
    // What is asked meanwhile belongs to this request: over HTTP that is its stream.
    if (call.peer) origin.peer = call.peer;
    try {
      const answer = await this.#ask(task, 'tasks/result', params, call, { timeoutMs: RESULT_TIMEOUT_MS, origin });
      task.settle();
      const { toolId: id, upstreamName } = task.held;
      return shownTo(task, await shownResult(answer, { id, upstreamName }, this.#context));
    } finally {
      origin.peer = this.#peers.get(task.session) ?? origin.peer;
    }
  }

  async #ask(
    task: OwnedTask,
    method: string,
    { _meta = {}, ...params }: Params,
    { signal, progress: onProgress }: SurfaceCall,
    options: { timeoutMs: number; origin: SessionCall | typeof OWN_BUSINESS },
  ): Promise<Result> {
    const { connection, held } = task;
    if (!connection || this.#isLost(task)) throw lost(task);
    const meta = relatedTask({ _meta }) === undefined ? _meta : relateTo(held.serverTaskId, { _meta })._meta;
    try {
      return await connection.request(
        method,
        { ...params, taskId: held.serverTaskId },
        { ...options, signal, ...task.terms, meta: meta as Params, ...(onProgress ? { onProgress } : {}) },
      );
    } catch (error) {
      if (this.#isLost(task) || (task.isInProcess && wasLost(error))) throw lost(task);
      const own = ownErrorOf(error);
      // The error is the result; or the server no longer knows it.
      if (own && (method === 'tasks/result' || (method === 'tasks/get' && own.code === INVALID_PARAMS))) task.settle();
      const told = requestError(held.server, method, error);
      // A server at a URL may have forgotten it with the connection of the worker that began it.
      if (task.isAdopted && told.code === INVALID_PARAMS && method !== 'tasks/cancel') throw lost(task);
      throw told;
    }
  }

  async #onStatus(connection: ServerConnection, params: Params): Promise<void> {
    const { taskId } = readTask(params) ?? {};
    if (taskId === undefined) return;
    // It may just be being begun.
    if (!this.#ledger.at(connection, taskId)) await taskCallOf(connection, taskId);
    const task = this.#ledger.at(connection, taskId);
    if (!task) return;
    task.note(params);
    const peer = this.#peers.get(task.session);
    peer?.notify('notifications/tasks/status', { ...shownTo(task, params), taskId: task.id });
  }

  #own(held: HeldTask, session: object, connection: ServerConnection | undefined, call?: SessionCall): OwnedTask {
    const onExpired = (): void => this.#ledger.forget(task);
    const task: OwnedTask = new OwnedTask(held, { session, connection, call, onExpired });
    this.#ledger.add(task);
    return task;
  }

  /** As the server calls it; where there are several, with the prefix that its tools have. */
  #idFor({ server, namespace }: CatalogTool, session: object, serverTaskId: string): string {
    let id = this.#context.hasSeveralServers() ? prefixed(namespace, serverTaskId) : serverTaskId;
    // A namespace may begin with another and two underscores, and an id with the rest of it.
    const isTaken = ({ held }: OwnedTask): boolean => held.server !== server || held.serverTaskId !== serverTaskId;
    for (let there = this.#ledger.find(session, id); there && isTaken(there); there = this.#ledger.find(session, id)) {
      id += '_';
    }
    return id;
  }

  /** Its client has gone, and nobody else may ask for it: where it goes on with another worker, that is not its end. */
  #abandon(task: OwnedTask): void {
    const { connection, held, last } = task;
    const isOver = !task.isOpen || (last !== undefined && hasEnded({ status: String(last.status) }));
    const canCancel = connection?.state === 'ready' && knowsTaskMethod(connection.capabilities, 'cancel');
    if (canCancel && !isOver && !this.#isLost(task) && !this.#context.sessionsMoveOn()) {
      void cancelTask(connection, held.serverTaskId, task);
    }
    this.#ledger.forget(task);
  }

  #isLost(task: OwnedTask): boolean {
    if (!task.isGone) return false;
    task.settle();
    return true;
  }
}

const METHODS: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']);

function sessionOf({ peer, session }: SurfaceCall): object {
  return peer?.session ?? session;
}

/** What its server sent, with the id that its client knows it by. */
function shownTo(task: OwnedTask, message: Params): Result {
  return relatedTask(message) === undefined ? { ...message } : relateTo(task.id, message);
}

/** The same for a task of somebody else's and for none: who asks learns nothing of others. */
function unknownTask(id: unknown): RpcError {
  return new RpcError(INVALID_PARAMS, `Task not found: ${oneLine(String(id), 120)}`);
}

function lost({ id, held }: OwnedTask): RpcError {
  const [task, server] = [id, held.server].map((words) => oneLine(words, MAX_NAME_CHARS));
  return new RpcError(
    INVALID_PARAMS,
    `Task ${task} is lost: ${server}, which ran it, has ended or does not know it any more. It may have taken effect: check before you call its tool again.`,
  );
}

function tooMany({ id }: CatalogTool): GatewayError {
  return new GatewayError(
    'RATE_LIMITED',
    `This session has ${MAX_HELD_TASKS} tasks whose results nobody has fetched. Fetch some, or cancel them, and call again.`,
    { path: id },
  );
}
