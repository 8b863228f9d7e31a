import { type CallOrigin, OWN_BUSINESS } from './callOrigin.ts';

/** On whose behalf a server is asked: now, and since its start. */
export class Callers {
  readonly #origins: CallOrigin[] = [];
  #only: object | undefined;
  #several = false;
  #onOver: (() => void)[] = [];

  /** On whose behalf requests are under way, each once for every request. */
  get origins(): readonly CallOrigin[] {
    return this.#origins;
  }

  /** The one session that has asked for anything since the start, where no other has: of many none is kept. */
  get only(): object | undefined {
    return this.#only;
  }

  /** A request begins; `leave` is to be called when it is over. */
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

  /** Resolves when no request is under way. */
  over(): Promise<void> {
    if (this.#origins.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onOver.push(resolve));
  }

  /** Who waits for the server to start has asked it; who asked the one before has not. */
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
