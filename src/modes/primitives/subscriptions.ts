import { READ_TIMEOUT_MS } from '../../calls/pipeline/readRequest.ts';
import { INVALID_PARAMS, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
import { Pace } from '../../lib/pace.ts';
import type { ClientPeer } from '../../mcp/session/sessionMode.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { PrimitiveUpstream } from './primitivePorts.ts';
import type { ResourceTarget } from './resourceDirectory.ts';

/** Limit per session, for the host too. */
export const MAX_SUBSCRIPTIONS = 1_024;
/** Limits updates to a client. Some servers report a file at every line, and the client would read it each time. */
const UPDATE_PACE = { delayMs: 20, intervalMs: 250 };

interface Listener {
  peer: ClientPeer;
  prefix: string;
  pace: Pace;
}

/** Subscription to one address of one server, shared by all sessions. */
interface Subscription {
  server: string;
  uri: string;
  listeners: Map<object, Listener>;
  /** True once the server has accepted; restarts do not repeat it before. */
  settled: boolean;
  subscribing: Promise<void>;
  release: () => void;
}

/**
 * Subscriptions of sessions to resources. They outlive the server's process: after a restart, Waygate subscribes again.
 */
export class Subscriptions {
  readonly #upstream: (server: string) => PrimitiveUpstream | undefined;
  readonly #log: (line: string) => void;
  readonly #subscriptions = new Map<string, Subscription>();

  constructor(upstream: (server: string) => PrimitiveUpstream | undefined, log: (line: string) => void) {
    this.#upstream = upstream;
    this.#log = log;
  }

  /** Subscribes a session. Rejects if the server refuses, and stores nothing then. */
  async subscribe(peer: ClientPeer, target: ResourceTarget): Promise<void> {
    const { server, uri, prefix } = target;
    const upstream = this.#upstream(server);
    if (!subscribable(upstream)) {
      throw new RpcError(METHOD_NOT_FOUND, `${oneLine(server, 60)} does not support subscriptions to resources.`);
    }
    if (this.#countOf(peer.session) >= MAX_SUBSCRIPTIONS) {
      throw new RpcError(INVALID_PARAMS, `A session can subscribe to ${MAX_SUBSCRIPTIONS} resources; end one first.`);
    }
    const key = keyOf(target);
    const subscription = this.#subscriptions.get(key) ?? this.#begin(key, target, upstream);
    if (!subscription.listeners.has(peer.session)) {
      const notify = (): void => peer.notify('notifications/resources/updated', { uri: prefix + uri });
      subscription.listeners.set(peer.session, { peer, prefix, pace: new Pace(notify, UPDATE_PACE) });
    }
    await subscription.subscribing;
  }

  async unsubscribe(session: object, target: ResourceTarget): Promise<void> {
    const key = keyOf(target);
    const subscription = this.#subscriptions.get(key);
    if (!subscription?.listeners.has(session)) return;
    await this.#leave(key, subscription, session);
  }

  /** Ends all subscriptions of a session. */
  end(session: object): void {
    for (const [key, subscription] of [...this.#subscriptions]) void this.#leave(key, subscription, session);
  }

  /** Forwards an update to the subscribed sessions. A server may report a resource below the subscribed one. */
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

  /** Sends an update after a session moved here from another worker, because it may have missed one. */
  resumed(session: object, target: ResourceTarget): void {
    this.#subscriptions.get(keyOf(target))?.listeners.get(session)?.pace.request();
  }

  /** Renews the subscriptions of a restarted server, which has lost them. */
  serverReady(server: string): void {
    const upstream = this.#upstream(server);
    if (!subscribable(upstream)) return;
    for (const subscription of this.#subscriptions.values()) {
      if (subscription.server !== server || !subscription.settled) continue;
      // The connection may be a new one.
      subscription.release();
      subscription.release = upstream.hold();
      this.#send(upstream, 'resources/subscribe', subscription.uri).then(
        () => {
          for (const { pace } of subscription.listeners.values()) pace.request();
        },
        (error: Error) => this.#log(`${server}: a subscription could not be renewed: ${error.message}`),
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
    // A stopped server has no subscriptions.
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
