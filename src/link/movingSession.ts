import type { RequestId } from './frames.ts';

export type ListKind = 'tools' | 'resources' | 'prompts';

/** State of a mode's sessions that moves to the next worker (O4.1). */
export interface SessionMemory {
  /** Returns the state of a conversation (`CallContext.session`) as JSON; undefined where it is empty. */
  take(conversation: object): unknown;
  /** Calls back as soon as the state changes, with the request whose counting changed it. */
  watch(conversation: object, onChange: (counted?: RequestId) => void): void;
  /** Restores state that another worker has taken, with its age in seconds. The value may be anything. */
  give(conversation: object, memory: unknown, age: number): void;
  /** Returns a fingerprint of a list as clients see it now; undefined where this mode has no such list. */
  list(kind: ListKind): string | undefined;
  /** Resolves when every server is known or has failed, or after a while. Lists are incomplete before. */
  settled(): Promise<void>;
}

export interface MovingSessionPorts {
  /** Asks the host to keep a value for the next worker, or to forget it if the value is undefined. */
  keep(key: string, value: unknown, counted?: RequestId): void;
  listChanged(kind: ListKind): void;
}

const LIST = 'list:';
/** Key under which a host keeps the fingerprint of a list that its client got. */
export const listKey = (method: string): string => LIST + method;
const LISTS: ReadonlyMap<string, ListKind> = new Map([
  ['tools/list', 'tools'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resources'],
  ['prompts/list', 'prompts'],
]);

/**
 * State of one session on its way from one worker through the host to the next. Each change is sent at once, in order
 * among the answers, because a killed worker sends nothing more (O4.2).
 */
export class MovingSession {
  readonly #memory: SessionMemory | undefined;
  readonly #ports: MovingSessionPorts;
  readonly #conversations: Conversations;
  /** Fingerprints of lists that the client got from another worker, by method. */
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

  /** Returns the conversation of a request. */
  conversation(meta: Readonly<Record<string, unknown>> | undefined): object {
    return this.#conversations.of(meta);
  }

  /** Takes the values that the host has kept. */
  receive(kept: unknown): void {
    if (!Array.isArray(kept)) return;
    for (const entry of kept) {
      const [key, value, age] = Array.isArray(entry) ? (entry as unknown[]) : [];
      if (typeof key !== 'string') continue;
      if (key.startsWith(LIST)) this.#listed.set(key.slice(LIST.length), value);
      else this.#give(key, value, age);
    }
  }

  /**
   * Compares the client's lists with those of this worker, after the client is initialized here, and announces each
   * outdated list once.
   */
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

  /** Records an answered request. */
  answered(method: string): void {
    const kind = LISTS.get(method);
    if (kind) this.#noteListed(method, kind);
  }

  /** Stops sending values: another worker has taken over, and the host listens to that one. */
  handOver(): void {
    this.#handedOver = true;
  }

  #noteListed(method: string, kind: ListKind): void {
    const mark = this.#memory?.list(kind);
    if (mark === undefined) return;
    this.#listed.delete(method);
    // The next worker compares lists without knowledge of this one, so announce the change here.
    if (this.#handedOver) this.#ports.listChanged(kind);
    else this.#keep(listKey(method), mark);
  }

  #keep(key: string, value: unknown, counted?: RequestId): void {
    if (!this.#handedOver) this.#ports.keep(key, value, counted);
  }

  #give(key: string, value: unknown, age: unknown): void {
    const conversation = this.#conversations.keyed(key);
    if (!conversation) return;
    // An invalid age counts as 0: a limit is reached too soon rather than too late.
    const seconds = typeof age === 'number' && Number.isFinite(age) && age > 0 ? age : 0;
    this.#memory?.give(conversation, value, seconds);
  }
}

/**
 * Member with which VS Code names the chat of a call. VS Code has one MCP session for all chats, and a person thinks of
 * a chat as a session.
 */
export const CONVERSATION_KEY = 'vscode.conversationId';
const MAX_CHATS = 100;
const SESSION = 'session';
const CHAT = 'chat:';

interface ConversationEvents {
  begins(conversation: object, key: string): void;
  /** Called for the conversation with the longest pause, when there are too many. */
  isForgotten(key: string): void;
}

/** Objects for a session's conversations. Without a name, the session is a single conversation. */
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

  /** Returns the conversation of a key, possibly from another process; undefined for an invalid key. */
  keyed(key: string): object | undefined {
    if (key === SESSION) return this.#session;
    return key.startsWith(CHAT) ? this.#chat(key) : undefined;
  }

  #chat(key: string): object {
    const known = this.#chats.get(key);
    const chat = known ?? {};
    // Reinsert, so that the latest conversation stays longest.
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
