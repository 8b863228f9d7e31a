import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { type ConnectionEvents, type ConnectionServices, ServerConnection } from './serverConnection.ts';

export interface PoolEvents extends ConnectionEvents {
  /** One that has not begun yet: whoever wants to hear of it from its first start on listens now. */
  onConnection?(connection: ServerConnection): void;
}

/** The servers of a configuration, each on its own: one that hangs or fails delays and harms nobody. */
export class ServerPool {
  readonly #services: ConnectionServices;
  readonly #events: PoolEvents;
  readonly #connections = new Map<string, ServerConnection>();

  constructor(services: ConnectionServices, events: PoolEvents) {
    this.#services = services;
    this.#events = events;
  }

  get connections(): readonly ServerConnection[] {
    return [...this.#connections.values()];
  }

  get(name: string): ServerConnection | undefined {
    return this.#connections.get(name);
  }

  /** To be called once: a configuration holds for as long as its gateway does. `atOnce` are those that are waited for. */
  open(configs: readonly ServerConfig[], atOnce: (config: ServerConfig) => boolean): void {
    for (const config of configs) {
      const connection = new ServerConnection(config, this.#services, this.#events);
      this.#connections.set(config.name, connection);
      this.#events.onConnection?.(connection);
      if (atOnce(config)) void connection.start();
      else connection.begin();
    }
    this.#events.onChange();
  }

  /** Something was approved, given, or taken back: those that waited for it begin. */
  recheck(): void {
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
    await Promise.all(this.connections.map((connection) => connection.stop()));
  }
}
