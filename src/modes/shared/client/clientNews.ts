import { Pace } from '../../../lib/pace.ts';
import type { ListKind } from '../../../link/movingSession.ts';
import type { ClientPeer } from '../../../mcp/session/sessionMode.ts';

/** Limits notifications: when several servers start, the client should list again only once. */
const NEWS_PACE = { delayMs: 100, intervalMs: 1_000 };

/** Sessions, and the notifications that all of them get. */
export class ClientNews {
  readonly #peers = new Map<object, ClientPeer>();
  readonly #paces: Readonly<Record<ListKind, Pace>>;
  /** Sessions that existed at a change. A later session lists the current state anyway. */
  readonly #due: Readonly<Record<ListKind, Set<object>>>;

  constructor() {
    const paced = (kind: ListKind): Pace => new Pace(() => this.#notify(kind), NEWS_PACE);
    this.#due = { tools: new Set(), resources: new Set(), prompts: new Set() };
    this.#paces = { tools: paced('tools'), resources: paced('resources'), prompts: paced('prompts') };
  }

  /** Registers a session and returns a function that removes it. */
  add(peer: ClientPeer): () => void {
    this.#peers.set(peer.session, peer);
    return () => this.#peers.delete(peer.session);
  }

  /** Returns the session with an identity that all its requests share. */
  get(session: object): ClientPeer | undefined {
    return this.#peers.get(session);
  }

  changed(kind: ListKind): void {
    for (const session of this.#peers.keys()) this.#due[kind].add(session);
    this.#paces[kind].request();
  }

  stop(): void {
    for (const pace of Object.values(this.#paces)) pace.stop();
  }

  #notify(kind: ListKind): void {
    const due = [...this.#due[kind]];
    this.#due[kind].clear();
    for (const session of due) this.#peers.get(session)?.notify(`notifications/${kind}/list_changed`);
  }
}
