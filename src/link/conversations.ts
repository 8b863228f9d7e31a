/** VS Code has one MCP session for all its chats and names the chat with each call: a chat is what a person calls one. */
const CONVERSATION_KEY = 'vscode.conversationId';
const MAX_CHATS = 100;
const SESSION = 'session';
const CHAT = 'chat:';

export interface ConversationEvents {
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
