import { GatewayError } from '../../errors/gatewayError.ts';
import type { RequestId } from '../../link/frames.ts';
import type { JsonPath } from '../json.ts';
import { asObject, ConfigBlock } from '../settings/configReader.ts';

/** Gateway tools that rate limits name, besides single tools (G7.8). */
export type MetaTool = 'tool_browse' | 'tool_execute' | 'tool_view';

export interface RateLimit {
  max_calls_per_minute: number | null;
  max_calls_per_session: number | null;
}

export type RateLimits = Readonly<Partial<Record<MetaTool, RateLimit>>> & {
  readonly per_tool?: Readonly<Record<string, RateLimit>>;
};

export interface QuotaDecision {
  allowed: boolean;
  /** `tool_execute/minute`, `tool:{id}/session`: which limit was met; "" when none was. */
  scope: string;
  /** Seconds; none where waiting does not help. */
  retry_after: number | null;
}

export interface QuotaLeft {
  scope: string;
  limit: number;
  left: number;
}

/** How many calls were so many seconds ago. */
type CallsOfAge = readonly [age: number, calls: number];

/** By the name of a limit. */
export type QuotaMemory = Readonly<Record<string, { recent: readonly CallsOfAge[]; total: number }>>;

export interface QuotaSubject {
  /** The same object for one session's calls: what is counted goes with it. */
  session: object;
  metaTool: MetaTool;
  toolId?: string | undefined;
  /** The client's request, as whoever sends it again knows it. */
  requestId?: RequestId | undefined;
  /** It was let in and counted in another process: what is remembered of the session has it. */
  counted?: boolean | undefined;
}

const WINDOW_SECONDS = 60;
/** More than one session can make. */
const MAX_CALLS_A_SECOND = 100_000;
const META_TOOLS: readonly MetaTool[] = ['tool_browse', 'tool_execute', 'tool_view'];
const ALLOWED: QuotaDecision = { allowed: true, scope: '', retry_after: null };

interface Bucket {
  /** Times of the calls within the window, oldest first. */
  recent: number[];
  total: number;
}

export class RateLimiter {
  /** Replaced by an edit of the configuration. Counts stay. */
  limits: RateLimits;
  /** Seconds, from wherever: only differences count. */
  readonly #now: () => number;
  readonly #onCounted: (session: object, requestId: RequestId | undefined) => void;
  readonly #sessions = new WeakMap<object, Map<string, Bucket>>();

  constructor(
    limits: RateLimits,
    now: () => number = () => performance.now() / 1000,
    onCounted: (session: object, requestId: RequestId | undefined) => void = () => undefined,
  ) {
    this.limits = limits;
    this.#onCounted = onCounted;
    this.#now = now;
  }

  /** Whether one more call fits, counting nothing. */
  evaluate(subject: QuotaSubject): QuotaDecision {
    const now = this.#now();
    for (const { name, limit } of this.#limitsOf(subject)) {
      const bucket = this.#sessions.get(subject.session)?.get(name);
      if (!bucket) continue;
      if (limit.max_calls_per_session !== null && bucket.total >= limit.max_calls_per_session) {
        return { allowed: false, scope: `${name}/session`, retry_after: null };
      }
      const recent = within(bucket, now);
      if (limit.max_calls_per_minute !== null && recent.length >= limit.max_calls_per_minute) {
        // The call that has to leave the window before there is room.
        const leaving = recent[recent.length - limit.max_calls_per_minute] as number;
        return { allowed: false, scope: `${name}/minute`, retry_after: WINDOW_SECONDS - (now - leaving) };
      }
    }
    return ALLOWED;
  }

  /** Counts one call where all limits allow it, and none where one does not. */
  take(subject: QuotaSubject): QuotaDecision {
    if (subject.counted) return ALLOWED;
    const decision = this.evaluate(subject);
    if (!decision.allowed) return decision;
    const now = this.#now();
    const limits = this.#limitsOf(subject);
    for (const { name, limit } of limits) {
      const bucket = this.#bucket(subject.session, name);
      // No more of them than the limit itself is.
      if (limit.max_calls_per_minute !== null) bucket.recent = [...within(bucket, now), now];
      bucket.total += 1;
    }
    if (limits.length > 0) this.#onCounted(subject.session, subject.requestId);
    return decision;
  }

  /** What is left, of every limit that applies. */
  left(subject: QuotaSubject): QuotaLeft[] {
    const now = this.#now();
    return this.#limitsOf(subject).flatMap(({ name, limit }) => {
      const bucket = this.#sessions.get(subject.session)?.get(name) ?? { recent: [], total: 0 };
      const { max_calls_per_minute: minute, max_calls_per_session: session } = limit;
      const rows: QuotaLeft[] = [];
      if (minute !== null) rows.push(leftOf(`${name}/minute`, minute, within(bucket, now).length));
      if (session !== null) rows.push(leftOf(`${name}/session`, session, bucket.total));
      return rows;
    });
  }

  /** What is counted of a session, for another process: ages, since clocks of processes have nothing in common. */
  memoryOf(session: object): QuotaMemory | undefined {
    const buckets = this.#sessions.get(session);
    if (!buckets) return undefined;
    const now = this.#now();
    const entries = [...buckets].map(([name, bucket]) => {
      return [name, { recent: byAge(within(bucket, now), now), total: bucket.total }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** What `memoryOf` has said `age` seconds ago. */
  remember(session: object, memory: unknown, age = 0): void {
    const now = this.#now() - age;
    for (const [name, value] of Object.entries(memory ?? {})) {
      const { recent, total } = (value ?? {}) as { recent?: unknown; total?: unknown };
      if (!Array.isArray(recent) || !recent.every(isCallsOfAge)) continue;
      if (!Number.isSafeInteger(total) || (total as number) < 0) continue;
      const bucket = this.#bucket(session, name);
      bucket.recent = recent.flatMap(([old, calls]) => Array<number>(calls).fill(now - old));
      bucket.total = total as number;
    }
  }

  #limitsOf({ metaTool, toolId }: QuotaSubject): { name: string; limit: RateLimit }[] {
    const found: { name: string; limit: RateLimit }[] = [];
    const { per_tool: perTool = {} } = this.limits;
    const own = this.limits[metaTool];
    if (own) found.push({ name: metaTool, limit: own });
    const tool = toolId !== undefined && Object.hasOwn(perTool, toolId) ? perTool[toolId] : undefined;
    if (tool) found.push({ name: `tool:${toolId}`, limit: tool });
    return found;
  }

  #bucket(session: object, name: string): Bucket {
    const buckets = this.#sessions.get(session) ?? new Map<string, Bucket>();
    this.#sessions.set(session, buckets);
    const bucket = buckets.get(name) ?? { recent: [], total: 0 };
    buckets.set(name, bucket);
    return bucket;
  }
}

/** A call leaves the window at exactly sixty seconds. */
function within(bucket: Bucket, now: number): number[] {
  return bucket.recent.filter((at) => now - at < WINDOW_SECONDS);
}

/** In whole seconds, of which the window has few however many calls it has; none leaves it sooner for that. */
function byAge(recent: readonly number[], now: number): CallsOfAge[] {
  const calls = new Map<number, number>();
  for (const at of recent) {
    const age = Math.floor(now - at);
    calls.set(age, (calls.get(age) ?? 0) + 1);
  }
  return [...calls];
}

function isCallsOfAge(value: unknown): value is CallsOfAge {
  const [age, calls] = Array.isArray(value) ? (value as unknown[]) : [];
  const isCount = Number.isSafeInteger(calls) && (calls as number) >= 0 && (calls as number) <= MAX_CALLS_A_SECOND;
  return typeof age === 'number' && age >= 0 && isCount;
}

function leftOf(scope: string, limit: number, used: number): QuotaLeft {
  return { scope, limit, left: Math.max(0, limit - used) };
}

export function rateLimited(path: string, { scope, retry_after: wait }: QuotaDecision): GatewayError {
  const seconds = wait === null ? undefined : Math.round(wait * 1_000) / 1_000;
  const remedy =
    seconds === undefined
      ? 'This session has used up its calls; the user can raise "rate_limits" or start a new session.'
      : `Call again in ${Math.ceil(seconds)} s.`;
  return new GatewayError('RATE_LIMITED', `The limit ${scope} is reached. ${remedy}`, {
    path,
    // The same session never has more of them.
    retryable: seconds !== undefined,
    details: { scope, ...(seconds === undefined ? {} : { retry_after: seconds }) },
  });
}

/** The `rate_limits` block. */
export function readRateLimits(value: unknown, path: JsonPath = ['rate_limits']): RateLimits {
  const block = new ConfigBlock(value, path, [...META_TOOLS, 'per_tool']);
  const limits: Record<string, unknown> = {};
  for (const name of META_TOOLS) {
    if (block.get(name) !== undefined) limits[name] = readLimit(block.get(name), [...path, name]);
  }
  const perTool = block.get('per_tool');
  if (perTool !== undefined && perTool !== null) {
    const entries = Object.entries(asObject(perTool, [...path, 'per_tool']));
    limits.per_tool = Object.fromEntries(
      entries.map(([id, limit]) => [id, readLimit(limit, [...path, 'per_tool', id])]),
    );
  }
  return limits as RateLimits;
}

function readLimit(value: unknown, path: JsonPath): RateLimit {
  const block = new ConfigBlock(value, path, ['max_calls_per_minute', 'max_calls_per_session']);
  return {
    max_calls_per_minute: block.count('max_calls_per_minute'),
    max_calls_per_session: block.count('max_calls_per_session'),
  };
}
