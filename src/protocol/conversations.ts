/** VS Code has one MCP session for all its chats and names the chat with each call: a chat is what a person calls one. */
const CONVERSATION_KEY = 'vscode.conversationId';
const MAX_CONVERSATIONS = 100;

/** The objects that stand for a session's conversations; where none is named, the session is one. */
export class Conversations {
  readonly #session = {};
  readonly #named = new Map<string, object>();

  of(meta: Readonly<Record<string, unknown>> | undefined): object {
    const id = meta?.[CONVERSATION_KEY];
    if (typeof id !== 'string') return this.#session;
    const conversation = this.#named.get(id) ?? {};
    // The latest stays longest.
    this.#named.delete(id);
    this.#named.set(id, conversation);
    for (const oldest of this.#named.keys()) {
      if (this.#named.size <= MAX_CONVERSATIONS) break;
      this.#named.delete(oldest);
    }
    return conversation;
  }

  /** What there is to say of each, by its name; null is the session itself. */
  map<T>(of: (conversation: object) => T | undefined): [name: string | null, value: T][] {
    const all: [string | null, object][] = [[null, this.#session], ...this.#named];
    return all.flatMap(([name, conversation]): [string | null, T][] => {
      const value = of(conversation);
      return value === undefined ? [] : [[name, value]];
    });
  }

  /** What `map` has made, in another process. */
  restore(values: unknown, give: (conversation: object, value: unknown) => void): void {
    if (!Array.isArray(values)) return;
    for (const entry of values.slice(0, MAX_CONVERSATIONS + 1)) {
      if (!Array.isArray(entry)) continue;
      const [name, value] = entry as unknown[];
      if (name === null) give(this.#session, value);
      else if (typeof name === 'string') give(this.of({ [CONVERSATION_KEY]: name }), value);
    }
  }
}
