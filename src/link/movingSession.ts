import type { RequestId } from './frames.ts';

export type ListKind = 'tools' | 'resources' | 'prompts';

/** What a mode remembers of its sessions and what their clients see: it moves to the worker that comes next. */
export interface SessionMemory {
  /** What is remembered of a conversation (`CallContext.session`), as JSON; undefined where that is nothing. */
  take(conversation: object): unknown;
  /** Calls back in the moment that this changes, with the request that was counted where it is by that. */
  watch(conversation: object, onChange: (counted?: RequestId) => void): void;
  /** What another worker has taken, so many seconds ago; whatever it is. */
  give(conversation: object, memory: unknown, age: number): void;
  /** What clients see of a list now, told apart by value; undefined where this mode has no such list. */
  list(kind: ListKind): string | undefined;
  /** Resolves when every server is known or has failed, or after a while: until then lists are not what they will be. */
  settled(): Promise<void>;
}

export interface MovingSessionPorts {
  /** Has the host keep a value for the worker that comes next, or forget it where it is undefined. */
  keep(key: string, value: unknown, counted?: RequestId): void;
  listChanged(kind: ListKind): void;
}

const LIST = 'list:';
/** Under which a host keeps what its client has listed by that method. */
export const listKey = (method: string): string => LIST + method;
const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resources'],
  ['prompts/list', 'prompts'],
]);

/**
 * One session's part of that, on its way from one worker through the host to the next. It is told as it comes to be, in
 * its order among the answers: a worker that is killed says nothing more.
 */
export class MovingSession {
  readonly #memory: SessionMemory | undefined;
  readonly #ports: MovingSessionPorts;
  readonly #conversations: Conversations;
  /** What stands for the lists that the client has by another worker, by the method. */
  readonly #listed = new Map<string, unknown>();
  #handedOver = false;

  constructor(memory: SessionMemory | undefined, ports: MovingSessionPorts) {
    this.#memory = memory;
    this.#ports = ports;
    this.#conversations = new Conversations({
      begins: (conversation, key) =>
        memory?.watch(conversation, (counted) => this.#keep(key, memory.take(conversation), counted)),
      isForgotten: (key) => this.#keep(key, undefined),
    });
  }

  /** What stands for the conversation that a request belongs to. */
  conversation(meta: Readonly<Record<string, unknown>> | undefined): object {
    return this.#conversations.of(meta);
  }

  /** What the host has kept. */
  receive(kept: unknown): void {
    if (!Array.isArray(kept)) return;
    for (const entry of kept) {
      const [key, value, age] = Array.isArray(entry) ? (entry as unknown[]) : [];
      if (typeof key !== 'string') continue;
      if (key.startsWith(LIST)) this.#listed.set(key.slice(LIST.length), value);
      else this.#give(key, value, age);
    }
  }

  /** The client is initialized here: of a list that it has by another worker and would see otherwise it is told, once. */
  async begin(): Promise<void> {
    if (this.#listed.size === 0) return;
    await this.#memory?.settled();
    const changed = [...this.#listed].flatMap(([method, mark]) => {
      const kind = LISTS.get(method);
      const shown = kind && this.#memory?.list(kind);
      return kind && shown !== undefined && shown !== mark ? [kind] : [];
    });
    this.#listed.clear();
    for (const kind of new Set(changed)) this.#ports.listChanged(kind);
  }

  /** A request is answered. */
  answered(method: string): void {
    const kind = LISTS.get(method);
    if (kind) this.#noteListed(method, kind);
  }

  /** Another worker has taken over: the host has given it all that was kept, and hears from that one from now on. */
  handOver(): void {
    this.#handedOver = true;
  }

  #noteListed(method: string, kind: ListKind): void {
    const mark = this.#memory?.list(kind);
    if (mark === undefined) return;
    this.#listed.delete(method);
    // The worker that compares lists is another by now, and does not know of this one.
    if (this.#handedOver) this.#ports.listChanged(kind);
    else this.#keep(listKey(method), mark);
  }

  #keep(key: string, value: unknown, counted?: RequestId): void {
    if (!this.#handedOver) this.#ports.keep(key, value, counted);
  }

  #give(key: string, value: unknown, age: unknown): void {
    const conversation = this.#conversations.keyed(key);
    if (!conversation) return;
    // Of what is no age nothing has passed: a limit is met too soon rather than too late.
    const seconds = typeof age === 'number' && Number.isFinite(age) && age > 0 ? age : 0;
    this.#memory?.give(conversation, value, seconds);
  }
}

/** VS Code has one MCP session for all its chats and names the chat with each call: a chat is what a person calls one. */
const CONVERSATION_KEY = 'vscode.conversationId';
const MAX_CHATS = 100;
const SESSION = 'session';
const CHAT = 'chat:';

interface ConversationEvents {
  begins(conversation: object, key: string): void;
  /** It was the longest without a call: there are too many. */
  isForgotten(key: string): void;
}

/** The objects that stand for a session's conversations; where none is named, the session is one. */
export class Conversations {
  readonly #events: ConversationEvents;
  readonly #session = {};
  readonly #chats = new Map<string, object>();

  constructor(events: ConversationEvents) {
    this.#events = events;
    events.begins(this.#session, SESSION);
  }

  of(meta: Readonly<Record<string, unknown>> | undefined): object {
    const id = meta?.[CONVERSATION_KEY];
    return typeof id === 'string' ? this.#chat(CHAT + id) : this.#session;
  }

  /** By the key that was told of it, maybe in another process; undefined where that is none. */
  keyed(key: string): object | undefined {
    if (key === SESSION) return this.#session;
    return key.startsWith(CHAT) ? this.#chat(key) : undefined;
  }

  #chat(key: string): object {
    const known = this.#chats.get(key);
    const chat = known ?? {};
    // The latest stays longest.
    this.#chats.delete(key);
    this.#chats.set(key, chat);
    if (!known) this.#events.begins(chat, key);
    for (const oldest of this.#chats.keys()) {
      if (this.#chats.size <= MAX_CHATS) break;
      this.#chats.delete(oldest);
      this.#events.isForgotten(oldest);
    }
    return chat;
  }
}
