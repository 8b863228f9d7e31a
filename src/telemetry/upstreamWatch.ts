import { traitsOf } from '../errors/faultCodes.ts';
import type { HealthSnapshot } from '../supervision/health.ts';
import type { ToldFault } from './telemetryForms.ts';

/** A connection as it is at one moment. */
export interface WatchedServer {
  name: string;
  state: string;
  reason: string | undefined;
  tools: readonly unknown[];
  /** What its supervisor knows. */
  health: Pick<HealthSnapshot, 'generation' | 'consecutive_failures' | 'restart_count' | 'last_fault' | 'supervision'>;
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

interface Watched {
  state: string;
  /** Which start it is in; 0 before the first. */
  generation: number;
  restart_count: number;
  tools: readonly unknown[];
  /** The fault that was told last, as its supervisor had it. */
  told: unknown;
}

/** Of these the supervisor knows; the others are the person's to end. */
const WAITING: ReadonlySet<string> = new Set(['needs_approval', 'needs_secret', 'needs_sign_in']);

const NEW: Watched = { state: 'new', generation: 0, restart_count: 0, tools: [], told: undefined };

/** What became of each server since the last look. */
export class UpstreamWatch {
  readonly #servers = new Map<string, Watched>();

  /** To be called at every change: each is seen once. */
  look(connections: readonly WatchedServer[]): UpstreamEvent[] {
    const events = connections.flatMap((server) => this.#lookAt(server));
    const names = new Set(connections.map(({ name }) => name));
    for (const [name, watched] of this.#servers) {
      if (names.has(name)) continue;
      this.#servers.delete(name);
      events.push({ event: 'upstream.stopped', server: name, attributes: { generation: watched.generation } });
    }
    return events;
  }

  #lookAt(server: WatchedServer): UpstreamEvent[] {
    const { name, state, tools, health } = server;
    const watched = this.#servers.get(name) ?? { ...NEW };
    this.#servers.set(name, watched);
    const events: UpstreamEvent[] = [];
    const tell = (event: UpstreamEvent['event'], attributes: object, fault?: ToldFault): void => {
      const generation = fault?.generation ?? watched.generation;
      events.push({ event, server: name, attributes: { generation, ...attributes }, ...(fault ? { fault } : {}) });
    };

    if (health.last_fault && health.last_fault !== watched.told) {
      watched.told = health.last_fault;
      const { class: kind, code, detail } = health.last_fault;
      const fault = { ...health.last_fault, detail: `${name}: ${detail}` };
      // In our words alone: the detail may hold a server's, which may repeat what it was given.
      const reason = `It ${traitsOf(health.last_fault).says} (${kind}/${code}).`;
      const attributes = { reason, consecutive_failures: health.consecutive_failures };
      if (!WAITING.has(state))
        tell(watched.state === 'ready' ? 'upstream.crashed' : 'upstream.failed', attributes, fault);
    }
    if (health.restart_count > watched.restart_count) {
      watched.restart_count = health.restart_count;
      tell('upstream.restarting', { generation: health.generation, restart_count: health.restart_count });
    }
    if (health.supervision !== 'idle' || watched.generation > 0) watched.generation = health.generation;
    if (watched.state !== state) {
      // What was never started has not stopped.
      const hasStopped = (state === 'not_started' || state === 'stopped') && watched.generation > 0;
      if (state === 'ready') tell('upstream.started', { tool_count: tools.length });
      else if (WAITING.has(state)) tell('upstream.waiting', { state });
      else if (hasStopped) tell('upstream.stopped', {});
    } else if (state === 'ready' && watched.tools !== tools) {
      tell('upstream.list_changed', { tool_count: tools.length });
    }
    watched.state = state;
    watched.tools = tools;
    return events;
  }
}
