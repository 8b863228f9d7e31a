import { isDeepStrictEqual } from 'node:util';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { type ConnectionEvents, type ConnectionServices, ServerConnection } from './serverConnection.ts';

export interface PoolEvents extends ConnectionEvents {
  /** One that has not begun yet: whoever wants to hear of it from its first start on listens now. */
  onConnection?(connection: ServerConnection): void;
}

/** The servers of a configuration, each on its own: one that hangs or fails delays and harms nobody. */
export class ServerPool {
  readonly #services: ConnectionServices;
  readonly #events: PoolEvents;
  #connections = new Map<string, ServerConnection>();

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

  /** Begins what is new, stops what is gone, restarts what is configured otherwise; leaves the rest alone. */
  apply(configs: readonly ServerConfig[]): void {
    const next = new Map<string, ServerConnection>();
    for (const config of configs) {
      const current = this.#connections.get(config.name);
      if (current && sameServer(current.config, config)) {
        current.config = config;
        next.set(config.name, current);
      } else {
        const connection = new ServerConnection(config, this.#services, this.#events);
        next.set(config.name, connection);
        this.#events.onConnection?.(connection);
        // Who changes a server wants to see what comes of it.
        if (current) void connection.start();
        else connection.begin();
      }
    }
    const gone = this.connections.filter((connection) => next.get(connection.config.name) !== connection);
    this.#connections = next;
    for (const connection of gone) void connection.stop();
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

/** Where a server stands in the file, and what is shown of it, may change without the server being another. */
function sameServer(a: ServerConfig, b: ServerConfig): boolean {
  return isDeepStrictEqual(whatRuns(a), whatRuns(b));
}

function whatRuns({ location: _location, tools: _tools, required: _required, ...rest }: ServerConfig): object {
  return rest;
}
