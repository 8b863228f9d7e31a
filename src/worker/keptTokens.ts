import type { SecretAnswer, SecretRequest } from '../control/contract.ts';
import type { TokenStore } from '../protocol/oauth/tokenStore.ts';

/**
 * Tokens where the person keeps secrets: with an attached editor, and in the file where there is none. What lies in the file
 * is the newest: it was signed in to there, or renewed while the editor was away.
 */
export class KeptTokens implements TokenStore {
  readonly #file: TokenStore;
  readonly #ask: (request: SecretRequest) => Promise<SecretAnswer>;
  /** What the editor had, for when it has gone. */
  readonly #seen = new Map<string, string>();

  constructor(file: TokenStore, ask: (request: SecretRequest) => Promise<SecretAnswer>) {
    this.#file = file;
    this.#ask = ask;
  }

  async get(key: string): Promise<string | undefined> {
    const inFile = await this.#file.get(key);
    if (inFile !== undefined) return inFile;
    const { kept, value } = await this.#ask({ op: 'get', key });
    if (!kept) return this.#seen.get(key);
    this.#remember(key, value);
    return value;
  }

  async set(key: string, value: string): Promise<void> {
    if ((await this.#file.get(key)) === undefined) {
      const { kept } = await this.#ask({ op: 'set', key, value });
      if (kept) {
        this.#remember(key, value);
        return;
      }
    }
    await this.#file.set(key, value);
  }

  async delete(key: string): Promise<void> {
    this.#seen.delete(key);
    await this.#file.delete(key);
    await this.#ask({ op: 'delete', key });
  }

  exclusively<T>(key: string, run: () => Promise<T>): Promise<T> {
    return this.#file.exclusively(key, run);
  }

  #remember(key: string, value: string | undefined): void {
    if (value === undefined) this.#seen.delete(key);
    else this.#seen.set(key, value);
  }
}
