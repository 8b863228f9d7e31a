import { encodeMessage } from '../../link/frames.ts';

const METHOD = 'logging/setLevel';

/** What a session wants to hear of what servers log: part of what a new worker has to be told of it. */
export class HeldLogLevel {
  #level: string | undefined;

  /** A request of the client has been answered, and not with an error. */
  succeeded(method: string, level: string | undefined): void {
    if (method === METHOD) this.#level = level;
  }

  /** The request to a new worker, whose answer is for nobody. */
  frames(id: string): string[] {
    return this.#level === undefined ? [] : [encodeMessage({ id, method: METHOD, params: { level: this.#level } })];
  }
}
