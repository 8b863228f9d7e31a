import { setTimeout as sleep } from 'node:timers/promises';
import { deferred } from '../../lib/deferred.ts';
import { createdTask, hasEnded, type McpTask, readTask, relateTo } from '../../mcp/mcpTask.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { CallFailedError } from '../../upstream/connection/callFailed.ts';
import { OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import { TaskHome } from '../../upstream/connection/taskHome.ts';
import type { JsonObject } from '../json.ts';
import { cancelTask, createTask, givenUp, type TaskUpstream } from './createTask.ts';
import type { Upstream, UpstreamCall } from './dispatchCall.ts';

/** Where the server does not say how often it likes to be asked. */
const POLL_MS = 1_000;
/** However often it would like to be. */
const SHORTEST_POLL_MS = 50;
/** Longer than any call here: so long the server is asked to keep what nobody has fetched. */
const KEPT_MS = 15 * 60_000;

/** A server for a tool that can only be called as a task: whoever calls it sees nothing of that. */
export function asTask(upstream: TaskUpstream): Upstream {
  return {
    get state() {
      return upstream.state;
    },
    get reason() {
      return upstream.reason;
    },
    call: (...given) => runTask(upstream, ...given),
  };
}

/** Begins a task, follows it to its end and resolves to its result; a task that is not wanted any more is cancelled. */
async function runTask(
  upstream: TaskUpstream,
  tool: string,
  args: JsonObject,
  options: UpstreamCall,
): Promise<JsonObject> {
  const { signal, origin, onProgress } = options;
  const over = new AbortController();
  const created = deferred<void>();
  if (origin) {
    origin.creating = created.promise;
    // Of a call that is made again: the task before has ended with its server.
    delete origin.task;
  }
  // Its progress as the server tells it, or else how its status changes: one of them, because progress never goes back.
  let heard: 'progress' | 'status' | undefined;
  const release = upstream.hold(origin);
  try {
    const answer = await createTask(upstream, tool, args, {
      ...options,
      task: { request: { ttl: KEPT_MS }, over: over.signal },
      onProgress: (progress) => {
        if (heard === 'status' || !onProgress) return;
        // What is told while the server starts is not of the task.
        if (progress.progress > 0) heard = 'progress';
        onProgress(progress);
      },
    });
    const task = createdTask(answer);
    // A server that takes no tasks after all has given its result.
    if (!task) return answer;
    if (origin) origin.task = { id: task.taskId };
    created.resolve();
    let told = 0;
    const tell = ({ statusMessage, status }: McpTask): void => {
      if (heard === 'progress' || !onProgress) return;
      heard = 'status';
      onProgress({ progress: ++told, message: statusMessage ?? status });
    };
    return await follow({ upstream, task, signal, tell, timeoutMs: options.timeoutMs });
  } finally {
    created.resolve();
    over.abort();
    release();
  }
}

interface Followed {
  upstream: TaskUpstream;
  task: McpTask;
  signal: AbortSignal;
  /** Of each change. */
  tell(task: McpTask): void;
  timeoutMs: number;
}

async function follow({ upstream, task: begun, signal, tell, timeoutMs }: Followed): Promise<JsonObject> {
  const { taskId } = begun;
  const home = new TaskHome(upstream);
  const ask = (method: string): Promise<JsonObject> => {
    // A server that was started anew knows nothing of it.
    if (home.isGone) throw lostWith(upstream);
    return upstream.request(method, { taskId }, { timeoutMs, signal, origin: OWN_BUSINESS, ...home.terms });
  };
  let task = begun;
  let result: Promise<JsonObject> | undefined;
  try {
    for (;;) {
      signal.throwIfAborted();
      if (task.status === 'cancelled') throw cancelledBy(task);
      // A question may be delivered with the result alone, so that is asked for (2025-11-25, Tasks, Input Required Status).
      if (hasEnded(task) || task.status === 'input_required') result ??= ask('tasks/result');
      if (result && hasEnded(task)) return relateTo(undefined, await result);
      const waited = sleep(Math.max(SHORTEST_POLL_MS, task.pollInterval ?? POLL_MS), undefined, { signal });
      const first = await Promise.race([waited, ...(result ? [result] : [])]);
      waited.catch(() => undefined);
      if (first) return relateTo(undefined, first);
      const next = readTask(await ask('tasks/get')) ?? task;
      if (next.status !== task.status || next.statusMessage !== task.statusMessage) tell(next);
      task = next;
    }
  } catch (error) {
    // Nobody may be left who waits for it.
    result?.catch(() => undefined);
    if (!signal.aborted) throw error;
    if (!home.isGone) void cancelTask(upstream, taskId, home);
    throw givenUp(signal);
  }
}

/** The process that ran it has ended while nobody had asked it anything. */
function lostWith({ health }: TaskUpstream): UpstreamRequestError {
  const error = new UpstreamRequestError('closed', 'the server ended, and the task with it');
  const { last_fault: fault } = health;
  return fault ? new CallFailedError(error, { fault, knowledge: 'outcome_unknown' }) : error;
}

function cancelledBy({ statusMessage }: McpTask): UpstreamRequestError {
  return new UpstreamRequestError('error', `the task was cancelled${statusMessage ? `: ${statusMessage}` : ''}`);
}
