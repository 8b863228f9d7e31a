import type { ServerConfig } from '../../config/gatewayConfig.ts';
import {
  type ConnectionEvents,
  type ConnectionServices,
  type Predecessor,
  ServerConnection,
} from './serverConnection.ts';

export interface PoolEvents extends ConnectionEvents {
  /** One that has not begun yet: whoever wants to hear of it from its first start on listens now. */
  onConnection?(connection: ServerConnection): void;
}

export interface DesiredServer {
  config: ServerConfig;
  /** Stands for all that a start of the server uses. A server restarts when it changes. */
  startedWith: string;
}

interface PooledServer {
  connection: ServerConnection;
  startedWith: string;
}

/** The servers of a configuration, each on its own: one that hangs or fails delays and harms nobody. */
export class ServerPool {
  readonly #services: ConnectionServices;
  readonly #events: PoolEvents;
  #servers = new Map<string, PooledServer>();
  /** Servers that were removed or replaced and still have calls. */
  readonly #retired = new Set<ServerConnection>();

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
   * Makes the servers those of a configuration, in one step. A server whose start would be the same keeps its process.
   * A changed server restarts after the calls that it has, a removed one ends after them, a new one begins.
   */
  reconcile(servers: readonly DesiredServer[]): void {
    const before = this.#servers;
    this.#servers = new Map();
    for (const { config, startedWith } of servers) {
      const pooled = before.get(config.name);
      if (pooled?.startedWith === startedWith) {
        before.delete(config.name);
        this.#servers.set(config.name, pooled);
        pooled.connection.adopt(config);
        continue;
      }
      const predecessor = pooled && this.#retire(pooled.connection);
      before.delete(config.name);
      const connection = new ServerConnection(config, this.#services, this.#events, predecessor);
      this.#servers.set(config.name, { connection, startedWith });
      this.#events.onConnection?.(connection);
      // The user who has changed a server wants to see whether it starts.
      if (predecessor) void connection.start();
      else connection.begin();
    }
    for (const { connection } of before.values()) this.#retire(connection);
    this.#events.onChange();
  }

  /** Something was approved, given, or taken back: those that waited for it begin. */
  recheck(): void {
    for (const connection of this.#retired) connection.recheckApproval();
    for (const connection of this.connections) {
      connection.recheckApproval();
      if (connection.state === 'needs_secret') void connection.start();
    }
  }

  /** Every server lists its tools again; what is down is started. Resolves when all have answered or failed. */
  async refresh(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.refresh()));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.connections, ...this.#retired].map((connection) => connection.stop()));
  }

  #retire(connection: ServerConnection): Predecessor {
    const ended = connection.retire();
    this.#retired.add(connection);
    void ended.then(() => this.#retired.delete(connection));
    return { ended, catalog: connection.listed };
  }
}
