import type { Fault } from '../errors/fault.ts';
import { traitsOf } from '../errors/faultCodes.ts';

/** Limits that decide when a process that ended is started again (O5.2, O5.3). */
export interface RestartLimits {
  /** The second start in a row waits this long at most, each further one twice as long. The first does not wait. */
  baseDelayMs: number;
  maxDelayMs: number;
  /** This many ends within the window are a crash loop. */
  crashes: number;
  windowMs: number;
  /** In a crash loop, one start in this time. */
  probeIntervalMs: number;
  /** Who has run this long has recovered. */
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
  /** Not by itself: when the person has signed in, or the configuration is another. */
  | { readonly action: 'park'; readonly until: 'sign_in' | 'configuration' };

/** Decides, and remembers what it needs for that. The time and the chance are given to it. */
export class RestartPolicy {
  readonly #limits: RestartLimits;
  /** Milliseconds, from wherever, never backwards. */
  readonly #now: () => number;
  /** Random number in [0, 1). */
  readonly #random: () => number;
  /** When it ended without having been asked to, within the window. */
  #crashes: number[] = [];
  #consecutive = 0;
  #readySince: number | undefined;
  #looping = false;

  constructor(now: () => number, random: () => number, limits: RestartLimits = RESTART_LIMITS) {
    this.#now = now;
    this.#random = random;
    this.#limits = limits;
  }

  /** Ends in a row, none of which came after a stable time. */
  get consecutiveFailures(): number {
    return this.#recovered ? 0 : this.#consecutive;
  }

  get crashLoop(): boolean {
    return this.#looping && !this.#recovered;
  }

  ready(): void {
    this.#readySince = this.#now();
  }

  /** It ended, or could not start. */
  failed(fault: Fault): RestartDecision {
    if (this.#recovered) this.reset();
    this.#readySince = undefined;
    this.#consecutive += 1;
    const { remedy } = traitsOf(fault);
    if (remedy !== 'time') return { action: 'park', until: remedy };
    const now = this.#now();
    const { crashes, windowMs, probeIntervalMs } = this.#limits;
    this.#crashes = [...this.#crashes.filter((at) => now - at < windowMs), now];
    // Once in a loop only a stable time leads out: a start a minute never fills the window.
    this.#looping ||= this.#crashes.length >= crashes;
    if (this.#looping) return { action: 'start', delayMs: probeIntervalMs, crashLoop: true };
    return { action: 'start', delayMs: this.#backoff(), crashLoop: false };
  }

  /** It was asked to end. That says nothing about it, but what it was good for until then still counts. */
  stopped(): void {
    if (this.#recovered) this.reset();
    this.#readySince = undefined;
  }

  /** What made it fail is another now: a new configuration, a sign-in, a person who asks for a start. */
  reset(): void {
    this.#crashes = [];
    this.#consecutive = 0;
    this.#looping = false;
  }

  get #recovered(): boolean {
    return this.#readySince !== undefined && this.#now() - this.#readySince >= this.#limits.stableMs;
  }

  /** Full jitter: many that ended together must not come back together. */
  #backoff(): number {
    if (this.#consecutive <= 1) return 0;
    const { baseDelayMs, maxDelayMs } = this.#limits;
    return this.#random() * Math.min(maxDelayMs, baseDelayMs * 2 ** (this.#consecutive - 2));
  }
}
