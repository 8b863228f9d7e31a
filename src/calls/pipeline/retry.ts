import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import { type KnownFaultCode, traitsOf } from '../../errors/faultCodes.ts';
import { mayRepeat, type ReplayContract } from '../../replay/replay.ts';
import type { FailedCall } from '../../upstream/connection/callFailed.ts';

/** Conditions and delays for retries of a failed call (G7.2). Replay contracts limit it (G7.3). */
export type RetryPolicy = CallSettings['retry'];

/** Returns the seconds to wait before the attempt after number `failed` (from 0). `fraction` is random, in [0, 1]. */
export function backoffDelay(policy: RetryPolicy, failed: number, fraction: number): number {
  const full = Math.min(policy.baseDelay * 2 ** failed, policy.maxDelay);
  return full * (1 - policy.jitter * fraction);
}

export interface RetryRun {
  policy: RetryPolicy;
  contract: ReplayContract;
  /** Returns a random number in [0, 1). */
  random(): number;
  /** Waits; rejects if the call ends meanwhile. */
  sleep(seconds: number): Promise<void>;
  /** Returns the seconds until the deadline, which no wait exceeds. */
  left(): number;
  /** Classifies a failure and states whether the call may have run. */
  judge(error: unknown): FailedCall;
  /** Returns how often the connection replayed the call after losses. */
  replays?(): number;
}

export interface Attempts<T> {
  value: T;
  attempts: number;
  /** Seconds waited before each repetition. */
  delays: readonly number[];
}

/** Last failure, with the number of attempts and their delays. */
export class AttemptsFailed extends Error {
  override readonly name = 'AttemptsFailed';
  readonly attempts: number;
  readonly delays: readonly number[];

  constructor(cause: unknown, attempts: number, delays: readonly number[]) {
    super('all attempts failed', { cause });
    this.attempts = attempts;
    this.delays = delays;
  }
}

/** Calls until the call succeeds or must not be repeated. */
export async function callWithRetry<T>(call: () => Promise<T>, run: RetryRun): Promise<Attempts<T>> {
  const delays: number[] = [];
  const attempts = (): number => delays.length + 1 + (run.replays?.() ?? 0);
  for (;;) {
    let failure: unknown;
    try {
      return { value: await call(), attempts: attempts(), delays };
    } catch (error) {
      failure = error;
    }
    const delay = attempts() >= run.policy.maxAttempts ? undefined : nextDelay(failure, delays.length, run);
    if (delay === undefined) throw new AttemptsFailed(failure, attempts(), delays);
    try {
      await run.sleep(delay);
    } catch {
      throw new AttemptsFailed(failure, attempts(), delays);
    }
    delays.push(delay);
  }
}

/**
 * Faults that a retry cannot cure: the call crashes its server, or the server stays stopped for longer than a call
 * waits.
 */
const NOT_RETRIED: ReadonlySet<string> = new Set<KnownFaultCode>(['replay_exhausted', 'crash_loop', 'circuit_open']);

function nextDelay(error: unknown, failed: number, run: RetryRun): number | undefined {
  const { policy } = run;
  const { fault, knowledge, retryAfterSeconds = 0 } = run.judge(error);
  const { error: code, remedy } = traitsOf(fault);
  // A retry does not help if the user has to act.
  if (remedy !== 'time' || NOT_RETRIED.has(fault.code)) return undefined;
  if (!policy.retryableCodes.some((one) => one === code) || !mayRepeat(run.contract, knowledge)) return undefined;
  const delay = Math.max(backoffDelay(policy, failed, run.random()), retryAfterSeconds);
  return delay < run.left() ? delay : undefined;
}
