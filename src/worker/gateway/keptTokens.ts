import type { SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { parseGrant, type TokenStore } from '../../mcp/oauth/tokenStore.ts';
import { knownSecrets } from '../../secrets/mask.ts';

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

  /** What comes of it is sent to a server: from here on no text of this process tells it. */
  async get(key: string): Promise<string | undefined> {
    const value = await this.#get(key);
    learn(key, value);
    return value;
  }

  async #get(key: string): Promise<string | undefined> {
    const inFile = await this.#file.get(key);
    if (inFile !== undefined) return inFile;
    const { kept, value } = await this.#ask({ op: 'get', key });
    if (!kept) return this.#seen.get(key);
    this.#remember(key, value);
    return value;
  }

  async set(key: string, value: string): Promise<void> {
    learn(key, value);
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

function learn(key: string, stored: string | undefined): void {
  const grant = parseGrant(stored);
  // Who has signed out has no other tokens: those that were there may still be repeated.
  if (!grant) return;
  const { access_token, refresh_token = '' } = grant.tokens;
  knownSecrets.learn(key, [access_token, refresh_token, grant.client.client_secret ?? '']);
}
