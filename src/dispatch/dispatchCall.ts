import type { CatalogTool } from '../catalog/types.ts';
import type { Probe } from '../ops/probe.ts';
import type { ReplayContract } from '../ops/replay.ts';
import type { TaskTerms } from '../protocol/taskProgress.ts';
import type { CallOrigin } from '../upstream/callOrigin.ts';
import { thrownWords } from './classifyError.ts';
import { Deadline, LONGEST_CALL_MS } from './deadline.ts';
import { dispatchError, judgeFailure } from './dispatchError.ts';
import type { JsonObject } from './json.ts';
import { completedByProbe, probeLost } from './probeLost.ts';
import { type Attempts, callWithRetry, type RetryBudget, type RetryPolicy } from './retry.ts';

/** A server as dispatch sees it; `ServerConnection` is one. */
export interface Upstream {
  readonly state: string;
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  call(tool: string, args: JsonObject, options: UpstreamCall): Promise<JsonObject>;
}

export interface UpstreamCall {
  timeoutMs: number;
  signal: AbortSignal;
  onProgress: (progress: CallProgress) => void;
  origin?: CallOrigin | undefined;
  meta?: Readonly<JsonObject> | undefined;
  task?: TaskTerms | undefined;
}

export interface CallProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** What the client has to do with its call. */
export interface ClientEnd {
  signal: AbortSignal;
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Where what the server asks during the call goes. */
  origin?: CallOrigin | undefined;
  /** The request's `_meta`, trace context and all, for the server. */
  meta?: Readonly<JsonObject> | undefined;
  /** The answer it waits for is that a task has begun. */
  task?: TaskTerms | undefined;
}

export interface DispatchTerms {
  retry: RetryPolicy;
  contract: ReplayContract;
  /** How to find out what became of a call that was lost. */
  probe?: Probe;
  deadlineMs: number;
  budget: RetryBudget;
  random(): number;
  scrubSecrets(text: string): string;
  /** The full detail of a failure, free of secrets, for whoever runs the gateway. */
  log(line: string): void;
}

/** A connection's own limit comes after the deadline, which then tells what happened. */
const SLACK_MS = 1_000;

/** Sends a call to its server, again where that is allowed. What goes wrong is thrown as an error object of 000 §3.4. */
export async function dispatchCall(
  tool: CatalogTool,
  upstream: Upstream,
  args: JsonObject,
  { signal, onProgress, origin, meta, task }: ClientEnd,
  terms: DispatchTerms,
): Promise<Attempts<JsonObject>> {
  const deadline = new Deadline(terms.deadlineMs, signal);
  const leave = terms.budget.enter();
  if (origin) origin.stillWorking = () => deadline.extend();
  const send = () =>
    callWithRetry(
      () =>
        deadline.race((stop) =>
          upstream.call(tool.upstreamName, args, {
            // A question to the person moves the deadline, which the connection does not know.
            timeoutMs: (origin ? Math.max(deadline.leftMs, LONGEST_CALL_MS) : deadline.leftMs) + SLACK_MS,
            signal: stop,
            origin,
            meta,
            task,
            onProgress: (progress) => {
              deadline.extend();
              onProgress?.(progress);
            },
          }),
        ),
      {
        policy: terms.contract === 'convergent' ? repeatedOnce(terms.retry) : terms.retry,
        contract: terms.contract,
        budget: terms.budget,
        random: terms.random,
        sleep: (seconds) => deadline.sleep(seconds * 1_000),
        left: () => deadline.leftMs / 1_000,
        classify: judgeFailure,
      },
    );
  const { contract, probe, deadlineMs, scrubSecrets } = terms;
  try {
    try {
      return await send();
    } catch (lost) {
      const call = { contract, probe, args, leftMs: deadline.leftMs, signal };
      const found = await probeLost(lost, upstream, call);
      if (found === 'unresolved') throw lost;
      if (found === 'safe_to_replay') return await send();
      return { value: completedByProbe(tool.upstreamName, probe as Probe), attempts: 1, delays: [] };
    }
  } catch (error) {
    const told = dispatchError(error, { tool, contract, deadlineMs, scrubSecrets });
    terms.log(scrubSecrets(`${tool.id}: ${told.code}: ${fullDetail(error)}`));
    throw told;
  } finally {
    leave();
    deadline.dispose();
  }
}

/** What may be replayed is, once, whatever `retry` says: that is what the person has declared (004, Replay). */
function repeatedOnce(retry: RetryPolicy): RetryPolicy {
  return { ...retry, max_attempts: Math.max(2, retry.max_attempts) };
}

function fullDetail(error: unknown): string {
  const parts: string[] = [];
  for (let link = error, depth = 0; link !== undefined && depth < 5; depth++) {
    parts.push(link instanceof Error ? `${link.name}: ${link.message}` : thrownWords(link));
    link = link instanceof Error ? link.cause : undefined;
  }
  return parts.join(' <- ').slice(0, 8_000);
}
