import { randomUUID } from 'node:crypto';
import { encodeMessage, type JsonRpcMessage, type RequestId } from '../protocol/frames.ts';

/** Some clients never unsubscribe; what they forgot is not worth a worker's start. */
const MAX_SETTINGS = 1_000;
/** No client's own id. */
const ID_PREFIX = `waygate:${randomUUID()}:`;

/**
 * What a client has set in its session and a worker has forgotten when it is gone: the level of logging, and what it
 * has subscribed to. Each new worker is told.
 */
export class SessionSettings {
  readonly #settings = new Map<string, object>();
  #next = 1;

  /** Takes note of a request that the client makes. */
  note({ method, params }: JsonRpcMessage): void {
    const { _meta, ...rest } = params ?? {};
    if (method === 'logging/setLevel') this.#set('level', { method, params: rest });
    else if (method === 'resources/subscribe') this.#set(`uri ${String(rest.uri)}`, { method, params: rest });
    else if (method === 'resources/unsubscribe') this.#settings.delete(`uri ${String(rest.uri)}`);
  }

  /** The frames that tell a worker all of it; its answers are for nobody. */
  frames(): string[] {
    return [...this.#settings.values()].map((request) =>
      encodeMessage({ id: `${ID_PREFIX}${this.#next++}`, ...request }),
    );
  }

  isAnswer(id: RequestId): boolean {
    return typeof id === 'string' && id.startsWith(ID_PREFIX);
  }

  #set(key: string, request: object): void {
    this.#settings.delete(key);
    this.#settings.set(key, request);
    for (const oldest of this.#settings.keys()) {
      if (this.#settings.size <= MAX_SETTINGS) break;
      this.#settings.delete(oldest);
    }
  }
}
