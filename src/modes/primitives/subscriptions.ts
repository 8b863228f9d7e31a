import { READ_TIMEOUT_MS } from '../../calls/pipeline/readRequest.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { Pace } from '../../lib/pace.ts';
import type { ClientPeer } from '../../mcp/session/sessionMode.ts';
import type { PrimitiveUpstream } from './primitivePorts.ts';
import type { ResourceTarget } from './resourceDirectory.ts';

/** Of one session; also how many a host remembers. */
export const MAX_SUBSCRIPTIONS = 1_024;
/** Some servers tell of a file at each of its lines: a client that reads it after each would do nothing else. */
const UPDATE_PACE = { delayMs: 20, intervalMs: 250 };

interface Listener {
  peer: ClientPeer;
  prefix: string;
  pace: Pace;
}

/** One address of one server, subscribed there once, however many sessions want to know of it. */
interface Subscription {
  server: string;
  uri: string;
  listeners: Map<object, Listener>;
  /** The server has said yes; until then nothing is sent again. */
  settled: boolean;
  subscribing: Promise<void>;
  release: () => void;
}

/** Who wants to hear of which resource. It outlives the servers: one that starts again is told anew. */
export class Subscriptions {
  readonly #upstream: (server: string) => PrimitiveUpstream | undefined;
  readonly #log: (line: string) => void;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(upstream: (server: string) => PrimitiveUpstream | undefined, log: (line: string) => void) {
    this.#upstream = upstream;
    this.#log = log;
  }

  /** Rejects where the server refuses, and then nothing is kept. */
  async subscribe(peer: ClientPeer, target: ResourceTarget): Promise<void> {
    const { server, uri, prefix } = target;
    const upstream = this.#upstream(server);
    if (!subscribable(upstream)) {
      throw new RpcError(METHOD_NOT_FOUND, `${server} does not tell of changes of its resources.`);
    }
    if (this.#countOf(peer.session) >= MAX_SUBSCRIPTIONS) {
      throw new RpcError(INVALID_PARAMS, `A session can subscribe to ${MAX_SUBSCRIPTIONS} resources; end one first.`);
    }
    const key = keyOf(target);
    const subscription = this.#subscriptions.get(key) ?? this.#begin(key, target, upstream);
    if (!subscription.listeners.has(peer.session)) {
      const tell = (): void => peer.notify('notifications/resources/updated', { uri: prefix + uri });
      subscription.listeners.set(peer.session, { peer, prefix, pace: new Pace(tell, UPDATE_PACE) });
    }
    await subscription.subscribing;
  }

  async unsubscribe(session: object, target: ResourceTarget): Promise<void> {
    const key = keyOf(target);
    const subscription = this.#subscriptions.get(key);
    if (!subscription?.listeners.has(session)) return;
    await this.#leave(key, subscription, session);
  }

  /** The session has ended. */
  end(session: object): void {
    for (const [key, subscription] of [...this.#subscriptions]) void this.#leave(key, subscription, session);
  }

  /** What a server tells goes to those who asked for it; it may tell of something below what was asked for. */
  updated(server: string, params: Readonly<Record<string, unknown>>): void {
    const { uri } = params;
    if (typeof uri !== 'string') return;
    const exact = this.#subscriptions.get(keyOf({ server, uri }));
    for (const { pace } of exact?.listeners.values() ?? []) pace.request();
    for (const subscription of this.#subscriptions.values()) {
      if (subscription === exact || subscription.server !== server || !isBelow(uri, subscription.uri)) continue;
      for (const [session, { peer, prefix }] of subscription.listeners) {
        if (exact?.listeners.has(session)) continue;
        peer.notify('notifications/resources/updated', { ...params, uri: prefix + uri });
      }
    }
  }

  /** A session was with another worker until now: what changed meanwhile nobody has told it. */
  resumed(session: object, target: ResourceTarget): void {
    this.#subscriptions.get(keyOf(target))?.listeners.get(session)?.pace.request();
  }

  /** A server has started: it knows nothing of what its predecessor was asked. */
  serverReady(server: string): void {
    const upstream = this.#upstream(server);
    if (!subscribable(upstream)) return;
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.server !== server || !subscription.settled) continue;
      // It may be another connection by now.
      subscription.release();
      subscription.release = upstream.hold();
      this.#send(upstream, 'resources/subscribe', subscription.uri).then(
        () => {
          for (const { pace } of subscription.listeners.values()) pace.request();
        },
        (error: Error) => this.#log(`${server}: a resource could not be subscribed to again: ${error.message}`),
      );
    }
  }

  #begin(key: string, { server, uri }: ResourceTarget, upstream: PrimitiveUpstream): Subscription {
    const subscription: Subscription = {
      server,
      uri,
      listeners: new Map(),
      settled: false,
      subscribing: Promise.resolve(),
      release: upstream.hold(),
    };
    subscription.subscribing = this.#send(upstream, 'resources/subscribe', uri).then(
      () => {
        subscription.settled = true;
      },
      (error: unknown) => {
        this.#drop(key, subscription);
        throw error;
      },
    );
    this.#subscriptions.set(key, subscription);
    return subscription;
  }

  async #leave(key: string, subscription: Subscription, session: object): Promise<void> {
    const listener = subscription.listeners.get(session);
    if (!listener) return;
    listener.pace.stop();
    subscription.listeners.delete(session);
    if (subscription.listeners.size > 0) return;
    this.#drop(key, subscription);
    const upstream = this.#upstream(subscription.server);
    // One that is down has forgotten it already.
    if (upstream?.state !== 'ready') return;
    await this.#send(upstream, 'resources/unsubscribe', subscription.uri).catch((error: Error) =>
      this.#log(`${subscription.server}: a subscription could not be ended: ${error.message}`),
    );
  }

  #drop(key: string, subscription: Subscription): void {
    subscription.release();
    if (this.#subscriptions.get(key) === subscription) this.#subscriptions.delete(key);
  }

  async #send(upstream: PrimitiveUpstream, method: string, uri: string): Promise<void> {
    await upstream.request(method, { uri }, { timeoutMs: READ_TIMEOUT_MS });
  }

  #countOf(session: object): number {
    let count = 0;
    for (const { listeners } of this.#subscriptions.values()) if (listeners.has(session)) count += 1;
    return count;
  }
}

function subscribable(upstream: PrimitiveUpstream | undefined): upstream is PrimitiveUpstream {
  const { resources } = (upstream?.capabilities ?? {}) as { resources?: { subscribe?: unknown } };
  return resources?.subscribe === true;
}

function keyOf({ server, uri }: Pick<ResourceTarget, 'server' | 'uri'>): string {
  return `${server}\n${uri}`;
}

function isBelow(uri: string, subscribed: string): boolean {
  return uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}
