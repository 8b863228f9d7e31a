import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import { type KnownFaultCode, traitsOf } from '../../errors/faultCodes.ts';
import { mayRepeat, type ReplayContract } from '../../replay/replay.ts';
import type { FailedCall } from '../../upstream/connection/callFailed.ts';

/** When and after how long a failed call is made again (G7.2). Replay contracts limit it (G7.3). */
export type RetryPolicy = CallSettings['retry'];

/** Seconds before the attempt after number `failed` (from 0); `fraction` is a chance in [0, 1]. */
export function backoffDelay(policy: RetryPolicy, failed: number, fraction: number): number {
  const full = Math.min(policy.baseDelay * 2 ** failed, policy.maxDelay);
  return full * (1 - policy.jitter * fraction);
}

export interface RetryRun {
  policy: RetryPolicy;
  contract: ReplayContract;
  /** A chance in [0, 1). */
  random(): number;
  /** Seconds; rejects when the call is over meanwhile. */
  sleep(seconds: number): Promise<void>;
  /** Seconds until the call must be over: no wait goes beyond. */
  left(): number;
  /** What a failure was, and what is known of its execution. */
  judge(error: unknown): FailedCall;
  /** How often the connection has sent it again by itself, after losses. */
  replays?(): number;
}

export interface Attempts<T> {
  value: T;
  attempts: number;
  /** Seconds waited before each repetition. */
  delays: readonly number[];
}

/** The last failure, with how it was tried. */
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

/** Of these a repetition is no cure: the call ends its server, or the server is left alone for longer than a call waits. */
const TOLD_AT_ONCE: ReadonlySet<string> = new Set<KnownFaultCode>(['replay_exhausted', 'crash_loop', 'circuit_open']);

function nextDelay(error: unknown, failed: number, run: RetryRun): number | undefined {
  const { policy } = run;
  const { fault, knowledge, retryAfterSeconds = 0 } = run.judge(error);
  const { error: code, remedy } = traitsOf(fault);
  // What waits for the person is not to be had by asking again.
  if (remedy !== 'time' || TOLD_AT_ONCE.has(fault.code)) return undefined;
  if (!policy.retryableCodes.some((one) => one === code) || !mayRepeat(run.contract, knowledge)) return undefined;
  const delay = Math.max(backoffDelay(policy, failed, run.random()), retryAfterSeconds);
  return delay < run.left() ? delay : undefined;
}
