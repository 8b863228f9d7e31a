import type { ServerConfig } from '../../config/gatewayConfig.ts';
import {
  type ConnectionEvents,
  type ConnectionServices,
  type Predecessor,
  ServerConnection,
} from './serverConnection.ts';

export interface PoolEvents extends ConnectionEvents {
  /** A new connection exists but has not started; subscribe now to miss nothing. */
  onConnection?(connection: ServerConnection): void;
}

export interface DesiredServer {
  config: ServerConfig;
  /** Key of everything that a start of the server uses. A server restarts when the key changes. */
  startedWith: string;
}

interface PooledServer {
  connection: ServerConnection;
  startedWith: string;
}

/** Servers of a configuration. A server that hangs or fails does not affect the others. */
export class ServerPool {
  readonly #services: ConnectionServices;
  readonly #events: PoolEvents;
  #servers = new Map<string, PooledServer>();
  /** Removed or replaced servers that still have calls. */
  readonly #retired = new Set<ServerConnection>();
  /** Ends of earlier connections by name. A server must not meet a process of its predecessor. */
  readonly #endings = new Map<string, Predecessor>();

  constructor(services: ConnectionServices, events: PoolEvents) {
    this.#services = services;
    this.#events = events;
  }

  get connections(): readonly ServerConnection[] {
    return [...this.#servers.values()].map(({ connection }) => connection);
  }

  get(name: string): ServerConnection | undefined {
    return this.#servers.get(name)?.connection;
  }

  /**
   * Applies a configuration in one step. A server whose start would be the same keeps its process. A changed server
   * restarts after its current calls, a removed server ends after them, and a new server begins.
   */
  reconcile(servers: readonly DesiredServer[]): void {
    const before = this.#servers;
    const after = new Map<string, PooledServer>();
    const begins: (() => void)[] = [];
    for (const { config, startedWith } of servers) {
      const pooled = before.get(config.name);
      if (pooled?.startedWith === startedWith) {
        after.set(config.name, pooled);
        begins.push(() => pooled.connection.adopt(config));
        continue;
      }
      if (pooled) this.#retire(pooled.connection);
      // A server that was removed and is back waits too.
      const connection = new ServerConnection(config, this.#services, this.#events, this.#endings.get(config.name));
      after.set(config.name, { connection, startedWith });
      this.#events.onConnection?.(connection);
      // The user who changed a server wants to see whether it starts.
      begins.push(() => (pooled ? void connection.start() : connection.begin()));
    }
    // Listeners that a start notifies see all servers.
    this.#servers = after;
    for (const [name, { connection }] of before) if (!after.has(name)) this.#retire(connection);
    for (const begin of begins) begin();
    this.#events.onChange();
  }

  /** Applies changed approvals and secrets: servers that waited for them begin. */
  recheck(): void {
    for (const connection of this.#retired) connection.recheckApproval();
    for (const connection of this.connections) {
      connection.recheckApproval();
      if (connection.state === 'needs_secret') void connection.start();
    }
  }

  /** Lists a server again, and starts it if it is down. Resolves when it has answered or failed. */
  async refresh(connection: ServerConnection): Promise<void> {
    if (!this.#endings.has(connection.config.name)) return connection.refresh();
    // A changed server may wait long for its current calls, and lists itself after them.
    void connection.start();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.connections, ...this.#retired].map((connection) => connection.stop()));
  }

  #retire(connection: ServerConnection): void {
    const { name } = connection.config;
    const ended = connection.retire(() => this.get(name));
    const ending = { ended, catalog: connection.listed };
    this.#retired.add(connection);
    this.#endings.set(name, ending);
    void ended.then(() => {
      this.#retired.delete(connection);
      if (this.#endings.get(name) === ending) this.#endings.delete(name);
    });
  }
}
