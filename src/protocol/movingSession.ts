import type { Conversations } from './conversations.ts';

/** What a surface remembers of its sessions and what their clients see: it moves to the worker that takes over. */
export interface SessionMemory {
  /** What is remembered of a session (`SurfaceCall.session`), as JSON; undefined where that is nothing. */
  take(session: object): unknown;
  /** What another worker has taken; whatever it is. */
  give(session: object, memory: unknown): void;
  /** What clients see of each list now, told apart by value. */
  lists(): Readonly<Record<string, string>>;
}

/** One session's part of that, on its way from one worker through the host to the next. */
export class MovingSession {
  readonly #memory: SessionMemory | undefined;
  readonly #conversations: Conversations;
  #listed: Readonly<Record<string, unknown>> | undefined;

  constructor(memory: SessionMemory | undefined, conversations: Conversations) {
    this.#memory = memory;
    this.#conversations = conversations;
  }

  /** For the worker that takes over. */
  get handedOver(): Record<string, unknown> | undefined {
    const memory = this.#memory;
    return memory && { lists: memory.lists(), conversations: this.#conversations.map((one) => memory.take(one)) };
  }

  /** What the worker before has handed over. */
  receive({ lists, conversations }: Readonly<Record<string, unknown>>): void {
    if (typeof lists === 'object' && lists !== null) this.#listed = { ...lists };
    this.#conversations.restore(conversations, (one, memory) => this.#memory?.give(one, memory));
  }

  /** The lists that the client has by the worker before and would see otherwise here; told once. */
  changedLists(): string[] {
    const listed = this.#listed;
    if (!listed || !this.#memory) return [];
    this.#listed = undefined;
    const changed = Object.entries(this.#memory.lists()).filter(
      ([kind, shown]) => kind in listed && listed[kind] !== shown,
    );
    return changed.map(([kind]) => kind);
  }
}
