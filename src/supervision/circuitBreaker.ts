import type { Fault } from '../errors/fault.ts';
import { traitsOf } from '../errors/faultCodes.ts';

export interface BreakerLimits {
  /** Number of failed calls in a row that opens the breaker. */
  failures: number;
  /** Duration of the first opening. Each failed trial in a row doubles it. */
  openMs: number;
  maxOpenMs: number;
}

export const BREAKER_LIMITS: BreakerLimits = { failures: 5, openMs: 30_000, maxOpenMs: 300_000 };

export type BreakerState = 'closed' | 'open' | 'half_open';

/** Permit for one call. Report the outcome once; later reports are ignored. */
export interface CallPermit {
  succeeded(): void;
  /** Reports a failure. `retryAfter`: seconds that the server itself asked for. */
  failed(fault: Fault, retryAfter?: number): void;
  /** Reports an end that says nothing about the server: cancelled, or never sent. */
  abandoned(): void;
}

export type BreakerAnswer =
  | { readonly allowed: true; readonly permit: CallPermit }
  /** Seconds until the next call may be tried. */
  | { readonly allowed: false; readonly retryAfter: number };

/**
 * Returns whether a fault says that the server is unhealthy. Errors that a healthy server returns do not count, nor
 * does our own queue.
 */
export function countsAgainstServer(fault: Pick<Fault, 'class' | 'code'>): boolean {
  switch (fault.class) {
    case 'transport':
    case 'process':
    case 'timeout':
    case 'protocol':
    case 'ambiguous_outcome':
    case 'replay':
      return true;
    case 'downstream': {
      const { error } = traitsOf(fault);
      return error === 'UPSTREAM_UNAVAILABLE' || error === 'UPSTREAM_TIMEOUT';
    }
    default:
      return false;
  }
}

/** Keeps calls from a failing server, and lets one through from time to time as a trial (O5.5). */
export class CircuitBreaker {
  readonly #limits: BreakerLimits;
  /** Milliseconds that never go backwards. */
  readonly #now: () => number;
  #failures = 0;
  /** Number of openings in a row. */
  #openings = 0;
  #openUntil: number | undefined;
  /** Whether the one call of the half-open state is running. Each opening resets it. */
  #onTrial = false;
  /** Changes with every opening and closing: a call from before says nothing about the present. */
  #era = 0;

  constructor(now: () => number, limits: BreakerLimits = BREAKER_LIMITS) {
    this.#now = now;
    this.#limits = limits;
  }

  get state(): BreakerState {
    if (this.#openUntil === undefined) return 'closed';
    return this.#now() < this.#openUntil ? 'open' : 'half_open';
  }

  admit(): BreakerAnswer {
    const { state } = this;
    if (state === 'closed') return { allowed: true, permit: this.#permit() };
    if (state === 'half_open' && !this.#onTrial) {
      this.#onTrial = true;
      return { allowed: true, permit: this.#permit() };
    }
    const left = Math.max(0, (this.#openUntil as number) - this.#now());
    return { allowed: false, retryAfter: Math.max(1, Math.ceil(left / 1_000)) };
  }

  /** Resets the breaker, for a server that was restarted or configured anew. */
  reset(): void {
    this.#era += 1;
    this.#failures = 0;
    this.#openings = 0;
    this.#openUntil = undefined;
  }

  #permit(): CallPermit {
    const era = this.#era;
    let reported = false;
    const once = (report: () => void) => (): void => {
      if (!reported && era === this.#era) report();
      reported = true;
    };
    const succeeded = once(() => (this.#openUntil === undefined ? this.#clear() : this.reset()));
    return {
      succeeded,
      failed: (fault, retryAfter = 0) => {
        if (countsAgainstServer(fault)) once(() => this.#failed(retryAfter))();
        else succeeded();
      },
      abandoned: once(() => {
        this.#onTrial = false;
      }),
    };
  }

  #clear(): void {
    this.#failures = 0;
  }

  #failed(retryAfter: number): void {
    this.#failures += 1;
    if (this.#failures < this.#limits.failures) return;
    const { openMs, maxOpenMs } = this.#limits;
    const wait = Math.max(openMs * 2 ** this.#openings, retryAfter * 1_000);
    this.#era += 1;
    this.#openings += 1;
    this.#onTrial = false;
    this.#openUntil = this.#now() + Math.min(wait, maxOpenMs);
  }
}
