import type { Fault } from '../errors/fault.ts';
import { traitsOf } from '../errors/faultCodes.ts';

/** Limits that decide when a process that ended is started again (O5.2, O5.3). */
export interface RestartLimits {
  /** Longest wait of the second start in a row; each further one doubles it. The first does not wait. */
  baseDelayMs: number;
  maxDelayMs: number;
  /** Number of ends within the window that make a crash loop. */
  crashes: number;
  windowMs: number;
  /** Interval of starts in a crash loop. */
  probeIntervalMs: number;
  /** Running time after which the process has recovered. */
  stableMs: number;
}

export const RESTART_LIMITS: RestartLimits = {
  baseDelayMs: 100,
  maxDelayMs: 30_000,
  crashes: 5,
  windowMs: 180_000,
  probeIntervalMs: 60_000,
  stableMs: 60_000,
};

export type RestartDecision =
  | { readonly action: 'start'; readonly delayMs: number; readonly crashLoop: boolean }
  /** Wait for the user: no attempt before a sign-in or another configuration. */
  | { readonly action: 'park'; readonly until: 'sign_in' | 'configuration' };

/** Decides about restarts and keeps the state for it. Clock and random numbers are passed in. */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  /** Milliseconds that never go backwards. */
  readonly #now: () => number;
  /** Random number in [0, 1). */
  readonly #random: () => number;
  /** Times of unrequested ends within the window. */
  #crashes: number[] = [];
  #consecutive = 0;
  #readySince: number | undefined;
  #looping = false;

  constructor(now: () => number, random: () => number, limits: RestartLimits = RESTART_LIMITS) {
    this.#now = now;
    this.#random = random;
    this.#limits = limits;
  }

  /** Number of ends in a row without a stable time between them. */
  get consecutiveFailures(): number {
    return this.#recovered ? 0 : this.#consecutive;
  }

  get crashLoop(): boolean {
    return this.#looping && !this.#recovered;
  }

  ready(): void {
    this.#readySince = this.#now();
  }

  /** Records an unrequested end or a failed start. */
  failed(fault: Fault): RestartDecision {
    if (this.#recovered) this.reset();
    this.#readySince = undefined;
    this.#consecutive += 1;
    const { remedy } = traitsOf(fault);
    if (remedy !== 'time') return { action: 'park', until: remedy };
    const now = this.#now();
    const { crashes, windowMs, probeIntervalMs } = this.#limits;
    this.#crashes = [...this.#crashes.filter((at) => now - at < windowMs), now];
    // Only a stable time ends a crash loop: one start a minute never fills the window.
    this.#looping ||= this.#crashes.length >= crashes;
    if (this.#looping) return { action: 'start', delayMs: probeIntervalMs, crashLoop: true };
    return { action: 'start', delayMs: this.#backoff(), crashLoop: false };
  }

  /** Records a requested end. Such an end says nothing about the process, but a stable time before it counts. */
  stopped(): void {
    if (this.#recovered) this.reset();
    this.#readySince = undefined;
  }

  /** Resets the state after a change of the cause: a new configuration, a sign-in, a requested start. */
  reset(): void {
    this.#crashes = [];
    this.#consecutive = 0;
    this.#looping = false;
  }

  get #recovered(): boolean {
    return this.#readySince !== undefined && this.#now() - this.#readySince >= this.#limits.stableMs;
  }

  /** Full jitter, so that processes that ended together do not restart together. */
  #backoff(): number {
    if (this.#consecutive <= 1) return 0;
    const { baseDelayMs, maxDelayMs } = this.#limits;
    return this.#random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (this.#consecutive - 2));
  }
}
