import { Pace } from '../../../lib/pace.ts';
import type { ListKind } from '../../../link/movingSession.ts';
import type { ClientPeer } from '../../../mcp/session/sessionMode.ts';

/** Several servers come up within a moment: a client that lists again after each of them would do nothing else. */
const NEWS_PACE = { delayMs: 100, intervalMs: 1_000 };

/** The sessions there are, and what all of them are told. */
export class ClientNews {
  readonly #peers = new Map<object, ClientPeer>();
  readonly #paces: Readonly<Record<ListKind, Pace>>;
  /** The sessions that were there when a list has changed: one that comes later lists what there is then. */
  readonly #due: Readonly<Record<ListKind, Set<object>>>;

  constructor() {
    const paced = (kind: ListKind): Pace => new Pace(() => this.#tell(kind), NEWS_PACE);
    this.#due = { tools: new Set(), resources: new Set(), prompts: new Set() };
    this.#paces = { tools: paced('tools'), resources: paced('resources'), prompts: paced('prompts') };
  }

  /** Returns what ends it. */
  add(peer: ClientPeer): () => void {
    this.#peers.set(peer.session, peer);
    return () => this.#peers.delete(peer.session);
  }

  /** A session by what all its requests have in common. */
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

  #tell(kind: ListKind): void {
    const due = [...this.#due[kind]];
    this.#due[kind].clear();
    for (const session of due) this.#peers.get(session)?.notify(`notifications/${kind}/list_changed`);
  }
}
