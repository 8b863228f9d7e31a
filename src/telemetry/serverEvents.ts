import type { ServerState } from '../control/serverStates.ts';
import type { Fault } from '../errors/fault.ts';
import { traitsOf } from '../errors/faultCodes.ts';
import type { HealthSnapshot } from '../supervision/health.ts';
import type { EventName } from './diagnosticEvent.ts';

/** State of a connection at one moment. */
export interface WatchedServer {
  name: string;
  state: ServerState;
  tools: readonly unknown[];
  health: Pick<HealthSnapshot, 'generation' | 'consecutive_failures' | 'restart_count' | 'last_fault' | 'supervision'>;
}

export interface ServerEvent {
  event: Extract<EventName, `upstream.${string}`>;
  server: string;
  attributes: Record<string, unknown>;
  /** Fault behind a crash or a failed start. */
  fault?: Fault;
}

interface Seen {
  state: ServerState | undefined;
  /** Current start of the server; 0 before the first. */
  generation: number;
  restarts: number;
  tools: readonly unknown[];
  fault: Fault | undefined;
}

/** Only the user can end these states, so they are no failures. */
const WAITING: ReadonlySet<ServerState> = new Set(['needs_approval', 'needs_secret', 'needs_sign_in']);

/** Derives events from the states of servers. */
export class ServerWatch {
  readonly #servers = new Map<string, Seen>();

  /** Returns what changed since the last call. Call after every change. */
  look(connections: readonly WatchedServer[]): ServerEvent[] {
    const events = connections.flatMap((server) => this.#lookAt(server));
    const names = new Set(connections.map(({ name }) => name));
    for (const [name, { generation }] of this.#servers) {
      if (names.has(name)) continue;
      this.#servers.delete(name);
      events.push({ event: 'upstream.stopped', server: name, attributes: { generation } });
    }
    return events;
  }

  #lookAt({ name, state, tools, health }: WatchedServer): ServerEvent[] {
    const seen: Seen = this.#servers.get(name) ?? {
      state: undefined,
      generation: 0,
      restarts: 0,
      tools: [],
      fault: undefined,
    };
    this.#servers.set(name, seen);
    const events: ServerEvent[] = [];
    const report = (event: ServerEvent['event'], attributes: object, fault?: Fault): void => {
      const generation = fault?.generation ?? seen.generation;
      events.push({ event, server: name, attributes: { generation, ...attributes }, ...(fault ? { fault } : {}) });
    };

    const fault = health.last_fault;
    if (fault && fault !== seen.fault) {
      seen.fault = fault;
      // The detail may repeat a secret of the server, so the log gets Waygate's own words.
      const reason = `It ${traitsOf(fault).says} (${fault.class}/${fault.code}).`;
      const attributes = { reason, consecutive_failures: health.consecutive_failures };
      const event = seen.state === 'ready' ? 'upstream.crashed' : 'upstream.failed';
      if (!WAITING.has(state)) report(event, attributes, { ...fault, detail: `${name}: ${fault.detail}` });
    }
    if (health.restart_count > seen.restarts) {
      report('upstream.restarting', { generation: health.generation, restart_count: health.restart_count });
    }
    // An edited server counts its restarts anew.
    seen.restarts = health.restart_count;
    if (health.supervision !== 'idle' || seen.generation > 0) seen.generation = health.generation;
    if (seen.state !== state) {
      // A server that was never started has not stopped.
      const hasStopped = (state === 'not_started' || state === 'stopped') && seen.generation > 0;
      if (state === 'ready') report('upstream.started', { tool_count: tools.length });
      else if (WAITING.has(state)) report('upstream.waiting', { state });
      else if (hasStopped) report('upstream.stopped', {});
    } else if (state === 'ready' && seen.tools !== tools) {
      report('upstream.list_changed', { tool_count: tools.length });
    }
    seen.state = state;
    seen.tools = tools;
    return events;
  }
}
