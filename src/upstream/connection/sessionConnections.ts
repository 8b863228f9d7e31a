import type { ServerConnection } from './serverConnection.ts';

/** Each may be a browser. Beyond, the session that used its connection least recently loses it. */
const MAX_SESSIONS = 16;

/** Connections of one server by client session, for a server that keeps state for its client. */
export class SessionConnections {
  readonly #make: (session: object) => ServerConnection;
  readonly #bySession = new Map<object, ServerConnection>();
  readonly #ending = new Set<Promise<void>>();

  constructor(make: (session: object) => ServerConnection) {
    this.#make = make;
  }

  get all(): readonly ServerConnection[] {
    return [...this.#bySession.values()];
  }

  /** Returns the connection of a session. Throws if there are too many and all have calls. */
  of(session: object, tooMany: () => Error): ServerConnection {
    const known = this.#bySession.get(session);
    if (!known && this.#bySession.size >= MAX_SESSIONS) {
      const unused = [...this.#bySession].find(([, { origins }]) => origins.length === 0);
      if (!unused) throw tooMany();
      this.end(unused[0]);
    }
    const connection = known ?? this.#make(session);
    // The order of use decides who loses a connection.
    this.#bySession.delete(session);
    this.#bySession.set(session, connection);
    return connection;
  }

  /** Ends the connection of a session after its calls. */
  end(session: object): void {
    const connection = this.#bySession.get(session);
    if (!connection) return;
    this.#bySession.delete(session);
    const ended = connection.retire(() => undefined);
    this.#ending.add(ended);
    void ended.then(() => this.#ending.delete(ended));
  }

  /** Ends all after their calls; resolves when their processes have ended. */
  async retire(): Promise<void> {
    for (const session of [...this.#bySession.keys()]) this.end(session);
    await Promise.all(this.#ending);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.all.map((connection) => connection.stop()), ...this.#ending]);
  }
}
