import { createdTask } from '../ops/mcpTask.ts';
import { type CallOrigin, OWN_BUSINESS } from '../upstream/callOrigin.ts';
import type { TaskHome } from '../upstream/taskHome.ts';
import type { Upstream, UpstreamCall } from './dispatchCall.ts';
import type { JsonObject } from './json.ts';

/** A server that takes tasks; `ServerConnection` is one. */
export interface TaskUpstream extends Upstream, Pick<ConstructorParameters<typeof TaskHome>[0], 'health' | 'pid'> {
  readonly state: ConstructorParameters<typeof TaskHome>[0]['state'];
  readonly capabilities: Readonly<JsonObject>;
  request(
    method: string,
    params: JsonObject,
    options: {
      timeoutMs: number;
      signal?: AbortSignal;
      origin?: CallOrigin | undefined;
      meta?: Readonly<JsonObject> | undefined;
    },
  ): Promise<JsonObject>;
  hold(origin?: CallOrigin): () => void;
}

/** A request for a task is answered at once, or the server does not do what it says. */
const GRACE_MS = 5_000;
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Begins a task. Who gives up waiting for the answer does not know the task's id, and nobody else ever would: so the
 * answer is waited for a little longer, and the task it tells of cancelled.
 */
export async function createTask(
  upstream: TaskUpstream,
  tool: string,
  args: JsonObject,
  options: UpstreamCall,
): Promise<JsonObject> {
  const { signal } = options;
  const late = new AbortController();
  const onAbort = (): void => void setTimeout(() => late.abort(signal.reason), GRACE_MS).unref();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const result = await upstream.call(tool, args, { ...options, signal: late.signal });
    const task = createdTask(result);
    if (task && signal.aborted) await cancelTask(upstream, task.taskId);
    return result;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Nobody wants its result any more. What became of it a server that does not answer cannot tell either. */
export async function cancelTask(upstream: Pick<TaskUpstream, 'request'>, taskId: string): Promise<void> {
  const options = { timeoutMs: CANCEL_TIMEOUT_MS, origin: OWN_BUSINESS };
  await upstream.request('tasks/cancel', { taskId }, options).catch(() => undefined);
}
