import { type CallOrigin, OWN_BUSINESS } from './callOrigin.ts';

/** Tracks the clients that use a server: now, and since its start. */
export class Callers {
  readonly #origins: CallOrigin[] = [];
  #only: object | undefined;
  #several = false;
  #onOver: (() => void)[] = [];

  /** Origins of the running requests, one entry per request. */
  get origins(): readonly CallOrigin[] {
    return this.#origins;
  }

  /** Only session that has used the server since its start; `undefined` if several have. */
  get only(): object | undefined {
    return this.#only;
  }

  /** Adds a running request; call `leave` when it ends. */
  enter(origin: CallOrigin): void {
    if (origin === OWN_BUSINESS) return;
    this.#origins.push(origin);
    this.#note(origin);
  }

  leave(origin: CallOrigin): void {
    if (origin === OWN_BUSINESS) return;
    this.#origins.splice(this.#origins.indexOf(origin), 1);
    if (this.#origins.length === 0) for (const resolve of this.#onOver.splice(0)) resolve();
  }

  /** Resolves when no request is running. */
  over(): Promise<void> {
    if (this.#origins.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onOver.push(resolve));
  }

  /** Resets the sessions for a new start, except for requests that wait for it. */
  started(): void {
    this.#only = undefined;
    this.#several = false;
    for (const origin of this.#origins) this.#note(origin);
  }

  #note(origin: CallOrigin): void {
    if (this.#several) return;
    const session = origin.session ?? origin;
    this.#several = this.#only !== undefined && this.#only !== session;
    this.#only = this.#several ? undefined : session;
  }
}
