import type { JSONRPCNotification } from '@modelcontextprotocol/sdk/types.js';
import type { Oddities } from './oddities.ts';

/** Interval at which to deliver the last of several notifications about one subject (M7.3). */
const COALESCE_MS = 100;
/** Number of progress notifications of a call to deliver at once: few calls have more, and a client may count them. */
const PROGRESS_AT_ONCE = 16;
/** Rate of logs and other notifications; more would be unreadable. */
const OTHERS_PER_SECOND = 100;
const OTHERS_BURST = 200;

interface Held {
  deliveredAt: number;
  /** Number of notifications delivered without a wait. */
  atOnce: number;
  next?: JSONRPCNotification;
  timer?: NodeJS.Timeout;
}

/** Paces the notifications of a server, whether or not the server means well. */
export class NotificationPace {
  readonly #deliver: (notification: JSONRPCNotification) => void;
  readonly #oddities: Oddities;
  readonly #held = new Map<string, Held>();
  #allowance = OTHERS_BURST;
  #allowedAt = performance.now();

  constructor(deliver: (notification: JSONRPCNotification) => void, oddities: Oddities) {
    this.#deliver = deliver;
    this.#oddities = oddities;
  }

  add(notification: JSONRPCNotification): void {
    const key = keyOf(notification);
    if (key === undefined) {
      if (this.#isAllowed()) this.#deliver(notification);
      else this.#oddities.add(notification.method === LOG ? 'dropped_log' : 'dropped_notification');
    } else this.#coalesce(key, notification);
  }

  /** Delivers held progress of a call now, because its answer follows. */
  flushProgress(token: string | number): void {
    const key = progressKey(token);
    const held = this.#held.get(key);
    if (!held) return;
    clearTimeout(held.timer);
    this.#held.delete(key);
    if (held.next) this.#deliver(held.next);
  }

  close(): void {
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    this.#held.clear();
  }

  #coalesce(key: string, notification: JSONRPCNotification): void {
    const held = this.#held.get(key);
    const now = performance.now();
    const isPassed = notification.method === PROGRESS && (held?.atOnce ?? 0) < PROGRESS_AT_ONCE;
    if (held && !isPassed && (held.timer !== undefined || now - held.deliveredAt < COALESCE_MS)) {
      if (held.next && notification.method === PROGRESS) this.#oddities.add('dropped_progress');
      held.next = notification;
      held.timer ??= setTimeout(() => this.#release(key), held.deliveredAt + COALESCE_MS - now).unref();
      return;
    }
    this.#makeRoom();
    this.#held.set(key, { deliveredAt: now, atOnce: (held?.atOnce ?? 0) + 1 });
    this.#deliver(notification);
  }

  #release(key: string): void {
    const held = this.#held.get(key);
    if (!held?.next) return;
    this.#held.set(key, { deliveredAt: performance.now(), atOnce: held.atOnce });
    this.#deliver(held.next);
  }

  /** Forgets the oldest subjects, because a server may name a million resources. */
  #makeRoom(): void {
    for (const [oldest, { next, timer }] of this.#held) {
      if (this.#held.size < MAX_KEYS) return;
      clearTimeout(timer);
      this.#held.delete(oldest);
      if (next) this.#deliver(next);
    }
  }

  #isAllowed(): boolean {
    const now = performance.now();
    this.#allowance = Math.min(OTHERS_BURST, this.#allowance + ((now - this.#allowedAt) / 1_000) * OTHERS_PER_SECOND);
    this.#allowedAt = now;
    if (this.#allowance < 1) return false;
    this.#allowance -= 1;
    return true;
  }
}

const MAX_KEYS = 1_000;
const LOG = 'notifications/message';
const PROGRESS = 'notifications/progress';
const UPDATED = 'notifications/resources/updated';

/** Returns the subject of a notification that a later one supersedes. */
function keyOf({ method, params }: JSONRPCNotification): string | undefined {
  if (method === PROGRESS) return progressKey((params as { progressToken?: string | number }).progressToken ?? '');
  if (method === UPDATED) return `${method} ${String(params?.uri).slice(0, 1_000)}`;
  return method.endsWith('/list_changed') ? method.slice(0, 100) : undefined;
}

function progressKey(token: string | number): string {
  return `${typeof token} ${token}`;
}
