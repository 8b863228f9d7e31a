import type { ArgRepair } from '../validation/argRepairs.ts';

/** Try at a server. `outcome`: `ok`, or the error's code. */
export interface TracedAttempt {
  at: number;
  durationMs: number;
  outcome: string;
}

/**
 * Follows a call for the user's view of the activity. Keeps references and times, so that it costs a call next to
 * nothing; the view is made when the user asks for it.
 */
export class CallTrace {
  readonly id: number;
  readonly client: string;
  /** Aborts when the client or the user cancels the call. */
  readonly signal: AbortSignal;
  readonly at = Date.now();
  tool: { readonly id: string; readonly server: string } | undefined;
  readonly stages: { stage: string; durationMs: number }[] = [];
  readonly attempts: TracedAttempt[] = [];
  repairs: readonly ArgRepair[] = [];
  readonly #started = performance.now();
  readonly #controller = new AbortController();
  readonly #clientSignal: AbortSignal;
  readonly #onPhase: () => void;
  #questions = 0;
  #waitsSince = 0;
  #waitedMs = 0;

  /** `onPhase` is called when the call begins to wait for the user, and when it goes on. */
  constructor(
    { id, client, signal }: { id: number; client: string; signal: AbortSignal },
    onPhase: () => void = () => undefined,
  ) {
    this.id = id;
    this.client = client;
    this.#clientSignal = signal;
    this.#onPhase = onPhase;
    this.signal = this.#controller.signal;
    if (signal.aborted) this.#follow();
    else signal.addEventListener('abort', this.#follow, { once: true });
  }

  /** Whether the user was asked and has not answered. */
  get isWaiting(): boolean {
    return this.#questions > 0;
  }

  /** Time since the begin, without the time in which the user was asked. */
  get durationMs(): number {
    const now = performance.now();
    const waiting = this.isWaiting ? now - this.#waitsSince : 0;
    return Math.max(0, now - this.#started - this.#waitedMs - waiting);
  }

  /** Notes that the user is asked. Call the returned function when that is over. */
  asksUser(): () => void {
    if (this.#questions === 0) this.#waitsSince = performance.now();
    this.#questions += 1;
    if (this.#questions === 1) this.#onPhase();
    return () => {
      this.#questions -= 1;
      if (this.#questions > 0) return;
      this.#waitedMs += performance.now() - this.#waitsSince;
      this.#onPhase();
    };
  }

  cancel(): void {
    this.#controller.abort(new DOMException('The user cancelled the call.', 'AbortError'));
  }

  end(): void {
    this.#clientSignal.removeEventListener('abort', this.#follow);
  }

  readonly #follow = (): void => this.#controller.abort(this.#clientSignal.reason);
}
