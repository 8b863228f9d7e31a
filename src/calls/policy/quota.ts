import type { RateLimit, RateLimits } from '../../config/declaration/rateLimitsBlock.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { RequestId } from '../../link/frames.ts';

/** Gateway tools that rate limits name, besides single tools (G7.8). */
export type MetaTool = 'tool_browse' | 'tool_execute' | 'tool_view';

export interface QuotaDecision {
  allowed: boolean;
  /** Limit that was reached: `tool_execute/minute`, `tool:{id}/session`; "" if none was. */
  scope: string;
  /** Seconds; `null` if waiting does not help. */
  retry_after: number | null;
  /** Why the limits cannot be read, if that decided. */
  unreadable?: string;
}

export interface QuotaLeft {
  scope: string;
  limit: number;
  left: number;
}

/** Limit with what is left of it. `session` is absent for a limit that all sessions share. */
export interface QuotaWindow<S extends object> extends QuotaLeft {
  session?: S;
  /** Seconds until one more call fits; absent where waiting does not help, or none has been made. */
  freesIn?: number;
}

/** Number of calls of one age in whole seconds. */
type CallsOfAge = readonly [age: number, calls: number];

/** Counts of a session by the name of a limit. */
export type QuotaMemory = Readonly<Record<string, { recent: readonly CallsOfAge[]; total: number }>>;

export interface QuotaSubject {
  /** Identity of the session: counts last as long as this object. */
  session: object;
  metaTool: MetaTool;
  toolId?: string | undefined;
  /** Id of the client's request, by which its host recognises it. */
  requestId?: RequestId | undefined;
  /** Whether another process counted the request already; its count is part of the session's memory. */
  counted?: boolean | undefined;
}

const WINDOW_SECONDS = 60;
/** Plausibility bound of a remembered count. */
const MAX_CALLS_A_SECOND = 100_000;
const ALLOWED: QuotaDecision = { allowed: true, scope: '', retry_after: null };

interface Bucket {
  /** Times of the calls within the window, oldest first. */
  recent: number[];
  total: number;
}

export class RateLimiter {
  /** Replaced by an edit of the configuration. Counts stay. */
  limits: RateLimits;
  /** Seconds since any fixed time: only differences count. */
  readonly #now: () => number;
  readonly #onCounted: (session: object, requestId: RequestId | undefined) => void;
  readonly #sessions = new WeakMap<object, Map<string, Bucket>>();
  /** Times of the calls of all sessions by limit, oldest first: a client can begin as many sessions as it likes. */
  readonly #all = new Map<string, readonly number[]>();

  constructor(
    limits: RateLimits,
    now: () => number = () => performance.now() / 1000,
    onCounted: (session: object, requestId: RequestId | undefined) => void = () => undefined,
  ) {
    this.limits = limits;
    this.#onCounted = onCounted;
    this.#now = now;
  }

  /** Checks whether one more call fits, and counts nothing. */
  evaluate(subject: QuotaSubject): QuotaDecision {
    const { unreadable } = this.limits;
    // A search calls no server, and its answer reports the error.
    if (unreadable !== undefined && subject.metaTool !== 'tool_browse') {
      return { allowed: false, scope: 'unreadable', retry_after: null, unreadable };
    }
    const now = this.#now();
    for (const { name, limit } of this.#limitsOf(subject)) {
      const total = this.#sessions.get(subject.session)?.get(name)?.total ?? 0;
      if (limit.maxCallsPerSession !== null && total >= limit.maxCallsPerSession) {
        return { allowed: false, scope: `${name}/session`, retry_after: null };
      }
      const recent = within(this.#all.get(name), now);
      if (limit.maxCallsPerMinute !== null && recent.length >= limit.maxCallsPerMinute) {
        // There is room again once this call leaves the window.
        const leaving = recent[recent.length - limit.maxCallsPerMinute] as number;
        return { allowed: false, scope: `${name}/minute`, retry_after: WINDOW_SECONDS - (now - leaving) };
      }
    }
    return ALLOWED;
  }

  /** Counts one call if all limits allow it. */
  take(subject: QuotaSubject): QuotaDecision {
    if (subject.counted) return ALLOWED;
    const decision = this.evaluate(subject);
    if (!decision.allowed) return decision;
    const now = this.#now();
    const limits = this.#limitsOf(subject);
    for (const { name, limit } of limits) {
      const bucket = this.#bucket(subject.session, name);
      // The list never grows longer than the limit.
      if (limit.maxCallsPerMinute !== null) {
        bucket.recent = [...within(bucket.recent, now), now];
        this.#all.set(name, [...within(this.#all.get(name), now), now]);
      }
      bucket.total += 1;
    }
    if (limits.length > 0) this.#onCounted(subject.session, subject.requestId);
    return decision;
  }

  /** Returns the remaining calls of every limit that applies. */
  left(subject: QuotaSubject): QuotaLeft[] {
    const now = this.#now();
    return this.#limitsOf(subject).flatMap(({ name, limit }) => {
      const total = this.#sessions.get(subject.session)?.get(name)?.total ?? 0;
      const { maxCallsPerMinute: minute, maxCallsPerSession: session } = limit;
      const rows: QuotaLeft[] = [];
      if (minute !== null) rows.push(leftOf(`${name}/minute`, minute, within(this.#all.get(name), now).length));
      if (session !== null) rows.push(leftOf(`${name}/session`, session, total));
      return rows;
    });
  }

  /** Returns every limit that is set: one of a minute for all sessions together, one of a session for each. */
  windows<S extends object>(sessions: readonly S[], sessionOf: (session: S) => object): QuotaWindow<S>[] {
    const now = this.#now();
    const { tool_browse, tool_execute, tool_view, perTool = {} } = this.limits;
    const named = [
      ...Object.entries({ tool_execute, tool_browse, tool_view }),
      ...Object.entries(perTool).map(([id, limit]) => [`tool:${id}`, limit] as const),
    ];
    return named.flatMap(([name, limit]) => {
      const { maxCallsPerMinute: minute = null, maxCallsPerSession: each = null } = limit ?? {};
      const rows: QuotaWindow<S>[] = [];
      if (minute !== null) {
        const recent = within(this.#all.get(name), now);
        // A lowered limit is met until enough calls have left the window.
        const leaving = recent[Math.max(0, recent.length - minute)];
        const freesIn = leaving === undefined ? {} : { freesIn: WINDOW_SECONDS - (now - leaving) };
        rows.push({ ...leftOf(`${name}/minute`, minute, recent.length), ...freesIn });
      }
      if (each !== null) {
        for (const session of sessions) {
          const total = this.#sessions.get(sessionOf(session))?.get(name)?.total ?? 0;
          rows.push({ ...leftOf(`${name}/session`, each, total), session });
        }
      }
      return rows;
    });
  }

  /** Returns a session's counts for another process. Ages replace times, because processes do not share a clock. */
  memoryOf(session: object): QuotaMemory | undefined {
    const buckets = this.#sessions.get(session);
    if (!buckets) return undefined;
    const now = this.#now();
    const entries = [...buckets].map(([name, bucket]) => {
      return [name, { recent: byAge(within(bucket.recent, now), now), total: bucket.total }] as const;
    });
    return Object.fromEntries(entries);
  }

  /** Restores the result of `memoryOf`, `age` seconds old. */
  remember(session: object, memory: unknown, age = 0): void {
    const now = this.#now() - age;
    for (const [name, value] of Object.entries(memory ?? {})) {
      const { recent, total } = (value ?? {}) as { recent?: unknown; total?: unknown };
      if (!Array.isArray(recent) || !recent.every(isCallsOfAge)) continue;
      if (!Number.isSafeInteger(total) || (total as number) < 0) continue;
      const bucket = this.#bucket(session, name);
      const others = within(this.#all.get(name), now).filter((at) => !bucket.recent.includes(at));
      bucket.recent = recent.flatMap(([old, calls]) => Array<number>(calls).fill(now - old));
      bucket.total = total as number;
      this.#all.set(
        name,
        [...others, ...bucket.recent].sort((a, b) => a - b),
      );
    }
  }

  #limitsOf({ metaTool, toolId }: QuotaSubject): { name: string; limit: RateLimit }[] {
    const found: { name: string; limit: RateLimit }[] = [];
    const { perTool = {} } = this.limits;
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

/** Returns the calls in the window, which a call leaves after exactly sixty seconds. */
function within(recent: readonly number[] | undefined, now: number): number[] {
  return (recent ?? []).filter((at) => now - at < WINDOW_SECONDS);
}

/** Groups calls by age in whole seconds, so the window bounds the size. Rounding down never frees a slot early. */
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

export function rateLimited(path: string, { scope, retry_after: wait, unreadable }: QuotaDecision): GatewayError {
  if (unreadable !== undefined) {
    const message = `No call is allowed, because "rateLimits" cannot be read: ${unreadable} Ask the user to correct it.`;
    return new GatewayError('RATE_LIMITED', message, { path, retryable: false, details: { scope } });
  }
  const seconds = wait === null ? undefined : Math.round(wait * 1_000) / 1_000;
  const remedy =
    seconds === undefined
      ? 'This session has used up its calls; the user can raise "rateLimits" or start a new session.'
      : `Call again in ${Math.ceil(seconds)} s.`;
  return new GatewayError('RATE_LIMITED', `The limit ${scope} is reached. ${remedy}`, {
    path,
    // Waiting does not renew the limit of a session.
    retryable: seconds !== undefined,
    details: { scope, ...(seconds === undefined ? {} : { retry_after: seconds }) },
  });
}
