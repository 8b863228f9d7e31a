import { type KnownFaultCode, traitsOf } from '../../errors/faultCodes.ts';
import type { GatewayErrorCode } from '../../errors/gatewayError.ts';
import { mayRepeat, type ReplayContract } from '../../replay/replay.ts';
import type { FailedCall } from '../../upstream/connection/callFailed.ts';
import { dotted, type JsonPath } from '../json.ts';
import { DispatchConfigError } from '../settings/configError.ts';
import { ConfigBlock } from '../settings/configReader.ts';

/** When, and after which delay, a failed call is repeated (G7.2). Replay contracts limit it (G7.3). */
export interface RetryPolicy {
  max_attempts: number;
  /** Seconds. */
  base_delay: number;
  max_delay: number;
  /** Share of a delay that chance may take off: 0 none, 1 full jitter. */
  jitter: number;
  retryable_codes: readonly GatewayErrorCode[];
}

export const RETRY_DEFAULTS: RetryPolicy = {
  max_attempts: 1,
  base_delay: 0.1,
  max_delay: 5,
  jitter: 0,
  retryable_codes: ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE'],
};

/** What the configuration starts from: many clients that failed together must not come back together. */
export const RETRY_WITH_FULL_JITTER: RetryPolicy = { ...RETRY_DEFAULTS, jitter: 1 };

/** Seconds before the attempt after number `failed` (from 0); `fraction` is a chance in [0, 1]. */
export function backoffDelay(policy: RetryPolicy, failed: number, fraction: number): number {
  const full = Math.min(policy.base_delay * 2 ** failed, policy.max_delay);
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
    const delay = attempts() >= run.policy.max_attempts ? undefined : nextDelay(failure, delays.length, run);
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
  if (!policy.retryable_codes.includes(code) || !mayRepeat(run.contract, knowledge)) return undefined;
  const delay = Math.max(backoffDelay(policy, failed, run.random()), retryAfterSeconds);
  return delay < run.left() ? delay : undefined;
}

/** The `retry` block. */
export function readRetryPolicy(
  value: unknown,
  path: JsonPath = ['retry'],
  defaults: RetryPolicy = RETRY_DEFAULTS,
): RetryPolicy {
  const block = new ConfigBlock(value, path, Object.keys(RETRY_DEFAULTS));
  const attempts = block.number('max_attempts', defaults.max_attempts, 1);
  if (!Number.isInteger(attempts)) throw block.wrong('max_attempts', 'a whole number of at least 1');
  const codes = block.texts('retryable_codes') ?? defaults.retryable_codes;
  for (const code of codes) {
    if (!REPEATABLE_CODES.includes(code)) {
      const at = [...path, 'retryable_codes'];
      throw new DispatchConfigError(`"${dotted(at)}" may hold ${REPEATABLE_CODES.join(', ')}, not "${code}".`, at);
    }
  }
  return {
    max_attempts: attempts,
    base_delay: block.number('base_delay', defaults.base_delay, 0),
    max_delay: block.number('max_delay', defaults.max_delay, 0),
    jitter: block.number('jitter', defaults.jitter, 0, 1),
    retryable_codes: codes as readonly GatewayErrorCode[],
  };
}

const REPEATABLE_CODES: readonly string[] = [
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'RATE_LIMITED',
  'UPSTREAM_ERROR',
];
