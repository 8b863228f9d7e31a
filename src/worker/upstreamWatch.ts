import type { ToldFault } from '../ops/telemetry.ts';

/** A connection as it is at one moment. */
export interface WatchedServer {
  name: string;
  state: string;
  reason: string | undefined;
  tools: readonly unknown[];
}

export interface UpstreamEvent {
  event:
    | 'upstream.started'
    | 'upstream.failed'
    | 'upstream.crashed'
    | 'upstream.restarting'
    | 'upstream.stopped'
    | 'upstream.waiting'
    | 'upstream.list_changed';
  server: string;
  attributes: Record<string, unknown>;
  /** What went wrong, where something did. */
  fault?: ToldFault;
}

export interface ServerRecord {
  /** How often it was started. */
  generation: number;
  consecutive_failures: number;
  /** Starts after a failure: one that was idle and is needed again has not failed. */
  restart_count: number;
  /** When it became ready, on a clock that never goes back. */
  readySince?: number;
  last_fault?: ToldFault;
}

interface Watched extends ServerRecord {
  state: string;
  tools: readonly unknown[];
}

/** What became of each server since the last look, and its history so far. */
export class UpstreamWatch {
  readonly #now: () => number;
  readonly #servers = new Map<string, Watched>();

  constructor(now: () => number) {
    this.#now = now;
  }

  record(name: string): ServerRecord {
    return this.#servers.get(name) ?? { generation: 0, consecutive_failures: 0, restart_count: 0 };
  }

  /** To be called at every change: each state is seen once. */
  look(connections: readonly WatchedServer[]): UpstreamEvent[] {
    const events: UpstreamEvent[] = [];
    for (const server of connections) {
      const known = this.#servers.get(server.name);
      const watched = known ?? { ...this.record(server.name), state: 'new', tools: [] };
      this.#servers.set(server.name, watched);
      if (watched.state !== server.state) events.push(...this.#changed(watched, server));
      else if (server.state === 'ready' && watched.tools !== server.tools) {
        events.push(event('upstream.list_changed', server, { tool_count: server.tools.length }, watched));
      }
      watched.state = server.state;
      watched.tools = server.tools;
    }
    const names = new Set(connections.map(({ name }) => name));
    for (const [name, watched] of this.#servers) {
      if (names.has(name)) continue;
      this.#servers.delete(name);
      events.push({ event: 'upstream.stopped', server: name, attributes: { generation: watched.generation } });
    }
    return events;
  }

  #changed(watched: Watched, server: WatchedServer): UpstreamEvent[] {
    switch (server.state) {
      case 'starting': {
        watched.generation += 1;
        delete watched.readySince;
        if (watched.state !== 'failed') return [];
        watched.restart_count += 1;
        return [event('upstream.restarting', server, { restart_count: watched.restart_count }, watched)];
      }
      case 'ready':
        watched.readySince = this.#now();
        watched.consecutive_failures = 0;
        return [event('upstream.started', server, { tool_count: server.tools.length }, watched)];
      case 'failed': {
        const crashed = watched.state === 'ready';
        watched.consecutive_failures += 1;
        delete watched.readySince;
        const fault: ToldFault = {
          generation: Math.max(1, watched.generation),
          class: 'process',
          code: crashed ? 'upstream_ended' : 'upstream_start_failed',
          directive: 'restart_and_replay',
          recovery_hint: 'replace_worker',
          detail: `${server.name}: ${server.reason ?? 'it gave no reason.'}`,
        };
        watched.last_fault = fault;
        const { consecutive_failures } = watched;
        const attributes = { reason: server.reason ?? null, consecutive_failures };
        return [{ ...event(crashed ? 'upstream.crashed' : 'upstream.failed', server, attributes, watched), fault }];
      }
      case 'needs_approval':
      case 'needs_secret':
      case 'needs_sign_in':
        delete watched.readySince;
        return [event('upstream.waiting', server, { state: server.state }, watched)];
      default:
        delete watched.readySince;
        // What was never started has not stopped.
        return watched.generation === 0 ? [] : [event('upstream.stopped', server, {}, watched)];
    }
  }
}

function event(
  name: UpstreamEvent['event'],
  { name: server }: WatchedServer,
  attributes: Record<string, unknown>,
  { generation }: ServerRecord,
): UpstreamEvent {
  return { event: name, server, attributes: { generation, ...attributes } };
}
