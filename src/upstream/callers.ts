import { type CallOrigin, OWN_BUSINESS } from './callOrigin.ts';

/** On whose behalf a server is asked: now, and since its start. */
export class Callers {
  readonly #origins: CallOrigin[] = [];
  #sessions = new Set<object>();

  /** On whose behalf requests are under way, each once for every request. */
  get origins(): readonly CallOrigin[] {
    return this.#origins;
  }

  /** The sessions that have asked for anything since the start. */
  get sessions(): ReadonlySet<object> {
    return this.#sessions;
  }

  /** A request begins; `leave` is to be called when it is over. */
  enter(origin: CallOrigin): void {
    if (origin === OWN_BUSINESS) return;
    this.#origins.push(origin);
    this.#sessions.add(sessionOf(origin));
  }

  leave(origin: CallOrigin): void {
    if (origin !== OWN_BUSINESS) this.#origins.splice(this.#origins.indexOf(origin), 1);
  }

  /** Who waits for the server to start has asked it; who asked the one before has not. */
  started(): void {
    this.#sessions = new Set(this.#origins.map(sessionOf));
  }
}

function sessionOf(origin: CallOrigin): object {
  return origin.session ?? origin;
}
