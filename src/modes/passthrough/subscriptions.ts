import type { ClientPeer } from '../../mcp/session/sessionMode.ts';
import { OWN_BUSINESS } from '../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../upstream/connection/serverConnection.ts';

const TIMEOUT_MS = 10_000;

interface Subscription {
  connection: ServerConnection;
  uri: string;
  sessions: Map<object, ClientPeer>;
  /** Keeps a server with subscribers running, since a stopped one sends no updates. */
  release: () => void;
}

/** Subscriptions of sessions to resources. A server knows only one subscriber, the gateway. */
export class Subscriptions {
  readonly #all = new Map<string, Map<string, Subscription>>();

  add(connection: ServerConnection, uri: string, peer: ClientPeer): void {
    const { name } = connection.config;
    const own = this.#all.get(name) ?? new Map<string, Subscription>();
    this.#all.set(name, own);
    const subscription = own.get(uri) ?? { connection, uri, sessions: new Map(), release: connection.hold() };
    own.set(uri, subscription);
    subscription.sessions.set(peer.session, peer);
  }

  /** Removes a session. Returns whether it was the last, so that the server can be unsubscribed. */
  remove(connection: ServerConnection, uri: string, session: object): boolean {
    const own = this.#all.get(connection.config.name);
    const subscription = own?.get(uri);
    if (!subscription?.sessions.delete(session) || subscription.sessions.size > 0) return false;
    subscription.release();
    own?.delete(uri);
    return true;
  }

  /** Ends the subscriptions of a session, at the server too unless another session shares them. */
  leave(session: object): void {
    for (const { connection, uri } of this.#subscriptions()) {
      if (this.remove(connection, uri, session)) send(connection, 'resources/unsubscribe', uri);
    }
  }

  /** Subscribes again after a restart of the server. */
  renew(connection: ServerConnection): void {
    for (const subscription of this.#all.get(connection.config.name)?.values() ?? []) {
      // A changed server has another connection.
      subscription.release();
      subscription.release = connection.hold();
      subscription.connection = connection;
      send(connection, 'resources/subscribe', subscription.uri);
    }
  }

  /** Returns the subscribers of a resource. A server may report a part of a subscribed resource. */
  listeners(connection: ServerConnection, changed: string): ClientPeer[] {
    const peers = new Map<object, ClientPeer>();
    for (const { uri, sessions } of this.#all.get(connection.config.name)?.values() ?? []) {
      if (changed !== uri && !changed.startsWith(uri.endsWith('/') ? uri : `${uri}/`)) continue;
      for (const [session, peer] of sessions) peers.set(session, peer);
    }
    return [...peers.values()];
  }

  #subscriptions(): Subscription[] {
    return [...this.#all.values()].flatMap((own) => [...own.values()]);
  }
}

function send(connection: ServerConnection, method: string, uri: string): void {
  if (connection.state !== 'ready') return;
  void connection.request(method, { uri }, { timeoutMs: TIMEOUT_MS, origin: OWN_BUSINESS }).catch(() => undefined);
}
