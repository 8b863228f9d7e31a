import { encodeMessage, type JsonRpcMessage } from '../protocol/frames.ts';

const METHOD = 'logging/setLevel';

/** What a session wants to hear of what servers log: part of what a new worker has to be told of it. */
export class HeldLogLevel {
  #level: unknown;

  /** Takes note of a request that the client makes. */
  note({ method, params }: JsonRpcMessage): void {
    if (method === METHOD) this.#level = params?.level;
  }

  /** The request to a new worker, whose answer is for nobody. */
  frames(id: string): string[] {
    return this.#level === undefined ? [] : [encodeMessage({ id, method: METHOD, params: { level: this.#level } })];
  }
}
