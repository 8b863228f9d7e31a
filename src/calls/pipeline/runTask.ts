import { setTimeout as sleep } from 'node:timers/promises';
import { createdTask, hasEnded, type McpTask, readTask, relateTo, takesTasks } from '../../mcp/mcpTask.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { CallFailedError } from '../../upstream/connection/callFailed.ts';
import { type CallOrigin, OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import { ranOutOfTime } from '../../upstream/connection/liveness.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';
import type { RequestOptions } from '../../upstream/connection/serverRequest.ts';
import type { JsonObject } from '../json.ts';
import type { Upstream, UpstreamCall } from './dispatchCall.ts';

/** Server that runs tools as tasks; `ServerConnection` implements it. */
export interface TaskUpstream extends Upstream, Pick<ServerConnection, 'health' | 'pid' | 'state'> {
  readonly state: ServerConnection['state'];
  readonly capabilities: Readonly<JsonObject>;
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  hold(origin?: CallOrigin): () => void;
}

/** Poll interval if the server names none. */
const POLL_MS = 1_000;
/** Lower bound for the poll interval that a server names. */
const SHORTEST_POLL_MS = 50;
/** Time for which the server shall keep the result; longer than any call. */
const KEPT_MS = 15 * 60_000;
/**
 * A server answers a request for a task at once. After this time, Waygate stops waiting for the id of an abandoned
 * task.
 */
const GRACE_MS = 5_000;
const CANCEL_TIMEOUT_MS = 10_000;

export function canRunTasks(upstream: Upstream): upstream is TaskUpstream {
  return takesTasks((upstream as Partial<TaskUpstream>).capabilities);
}

/** Calls tools as tasks and returns their results, so that the caller sees a plain call. */
export function asTask(upstream: TaskUpstream): Upstream {
  return {
    get state() {
      return upstream.state;
    },
    get reason() {
      return upstream.reason;
    },
    call: (...call) => runTask(upstream, ...call),
  };
}

/** Begins a task, polls it to its end and resolves to its result. Cancels the task when the signal aborts. */
async function runTask(
  upstream: TaskUpstream,
  tool: string,
  args: JsonObject,
  options: UpstreamCall,
): Promise<JsonObject> {
  const { origin } = options;
  // A repeated call has a new task.
  if (origin) delete origin.taskId;
  // Keeps the server from being stopped as idle between two polls.
  const release = upstream.hold(origin);
  try {
    const answer = await begin(upstream, tool, args, options);
    const task = createdTask(answer);
    // An answer without a task is the result itself.
    if (!task) return answer;
    if (origin) origin.taskId = task.taskId;
    return await follow(upstream, task, options);
  } finally {
    release();
  }
}

/** Requests a task. If the signal aborts before the server names the task, waits a little longer to cancel it. */
function begin(upstream: TaskUpstream, tool: string, args: JsonObject, options: UpstreamCall): Promise<JsonObject> {
  const { signal } = options;
  if (signal.aborted) return Promise.reject(givenUp(signal));
  const request = new AbortController();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      const giveUp = (): void => request.abort(signal.reason);
      if (upstream.state !== 'ready') giveUp();
      else {
        setTimeout(giveUp, GRACE_MS).unref();
        reject(givenUp(signal));
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    upstream
      .call(tool, args, { ...options, signal: request.signal, task: { ttl: KEPT_MS } })
      .then((result) => {
        const task = createdTask(result);
        if (task && signal.aborted) void pollsOf(upstream, task).cancel();
        resolve(result);
      }, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

async function follow(upstream: TaskUpstream, begun: McpTask, options: UpstreamCall): Promise<JsonObject> {
  const { signal, onProgress } = options;
  const polls = pollsOf(upstream, begun);
  let task = begun;
  let changes = 0;
  let result: Promise<JsonObject> | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      if (task.status === 'cancelled') throw cancelledBy(task);
      // A server may deliver its question on the stream of `tasks/result` alone (2025-11-25, Input Required Status).
      if (hasEnded(task) || task.status === 'input_required') result ??= polls.ask('tasks/result', options);
      if (result && hasEnded(task)) return relateTo(undefined, await result);
      const waited = sleep(Math.max(SHORTEST_POLL_MS, task.pollInterval ?? POLL_MS), undefined, { signal });
      const first = await Promise.race([waited, ...(result ? [result] : [])]);
      waited.catch(() => undefined);
      if (first) return relateTo(undefined, first);
      const next = readTask(await polls.ask('tasks/get', { ...options, origin: OWN_BUSINESS })) ?? task;
      if (next.status !== task.status || next.statusMessage !== task.statusMessage) {
        changes += 1;
        onProgress?.({ progress: changes, message: next.statusMessage ?? next.status });
      }
      task = next;
    }
  } catch (error) {
    result?.catch(() => undefined);
    if (!signal.aborted) throw error;
    void polls.cancel();
    throw givenUp(signal);
  }
}

/**
 * Returns the requests about one task. A restarted process has lost its tasks and may reuse their ids, so requests go
 * to the same process only.
 */
function pollsOf(upstream: TaskUpstream, { taskId }: McpTask) {
  const { pid, health } = upstream;
  const { generation } = health;
  const terms: Pick<RequestOptions, 'contract' | 'start'> =
    pid === undefined ? {} : { contract: 'never_replay', start: generation };
  const isGone = (): boolean =>
    pid !== undefined &&
    (upstream.state !== 'ready' || upstream.health.generation !== generation || upstream.pid !== pid);
  return {
    async ask(method: string, { timeoutMs, signal, origin }: UpstreamCall): Promise<JsonObject> {
      if (isGone()) throw lostWith(upstream);
      return upstream.request(method, { taskId }, { timeoutMs, signal, origin, ...terms });
    },
    async cancel(): Promise<void> {
      if (isGone()) return;
      const options = { timeoutMs: CANCEL_TIMEOUT_MS, origin: OWN_BUSINESS, ...terms };
      await upstream.request('tasks/cancel', { taskId }, options).catch(() => undefined);
    },
  };
}

/** Error for a process that ended between two polls. */
function lostWith({ health }: TaskUpstream): UpstreamRequestError {
  const error = new UpstreamRequestError('closed', 'the server ended and its task is lost');
  const { last_fault: fault } = health;
  return fault ? new CallFailedError(error, { fault, knowledge: 'outcome_unknown' }) : error;
}

function cancelledBy({ statusMessage }: McpTask): UpstreamRequestError {
  return new UpstreamRequestError('error', `the task was cancelled${statusMessage ? `: ${statusMessage}` : ''}`);
}

function givenUp(signal: AbortSignal): UpstreamRequestError {
  const failure = ranOutOfTime(undefined, signal) ? 'timeout' : 'aborted';
  return new UpstreamRequestError(failure, thrownWords(signal.reason));
}
