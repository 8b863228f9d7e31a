import { createdTask } from '../../mcp/mcpTask.ts';
import { UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { type CallOrigin, OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import { ranOutOfTime } from '../../upstream/connection/liveness.ts';
import type { RequestOptions } from '../../upstream/connection/serverRequest.ts';
import { type HomeOfTasks, TaskHome } from '../../upstream/connection/taskHome.ts';
import type { JsonObject } from '../json.ts';
import type { Upstream, UpstreamCall } from './dispatchCall.ts';

/** A server that takes tasks; `ServerConnection` is one. */
export interface TaskUpstream extends Upstream, HomeOfTasks {
  readonly state: HomeOfTasks['state'];
  readonly capabilities: Readonly<JsonObject>;
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  hold(origin?: CallOrigin): () => void;
}

/** A request for a task is answered at once, or the server does not do what it says. */
const GRACE_MS = 5_000;
const CANCEL_TIMEOUT_MS = 10_000;

/**
 * Begins a task. Who gives up waiting for the answer does not know the task's id, and nobody else ever would: so the
 * answer is waited for a little longer, and the task it tells of cancelled.
 */
export function createTask(
  upstream: TaskUpstream,
  tool: string,
  args: JsonObject,
  options: UpstreamCall,
): Promise<JsonObject> {
  const { signal } = options;
  if (signal.aborted) return Promise.reject(givenUp(signal));
  const late = new AbortController();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      const giveUp = (): void => late.abort(signal.reason);
      // Nothing was sent yet: nothing is to be waited for.
      if (upstream.state !== 'ready') giveUp();
      else {
        setTimeout(giveUp, GRACE_MS).unref();
        reject(givenUp(signal));
      }
    };
    signal.addEventListener('abort', onAbort, { once: true });
    upstream
      .call(tool, args, { ...options, signal: late.signal })
      .then((result) => {
        const task = createdTask(result);
        if (task && signal.aborted) void cancelTask(upstream, task.taskId, new TaskHome(upstream));
        resolve(result);
      }, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Nobody wants its result any more. What became of it a server that does not answer cannot tell either. */
export async function cancelTask(
  upstream: Pick<TaskUpstream, 'request'>,
  taskId: string,
  { terms }: Pick<TaskHome, 'terms'>,
): Promise<void> {
  const options = { timeoutMs: CANCEL_TIMEOUT_MS, origin: OWN_BUSINESS, ...terms };
  await upstream.request('tasks/cancel', { taskId }, options).catch(() => undefined);
}

/** Why nobody waits any longer. */
export function givenUp(signal: AbortSignal): UpstreamRequestError {
  const failure = ranOutOfTime(undefined, signal) ? 'timeout' : 'aborted';
  return new UpstreamRequestError(failure, thrownWords(signal.reason));
}
