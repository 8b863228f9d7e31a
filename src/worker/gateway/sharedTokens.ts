import type { SecretAnswer, SecretRequest } from '../../control/contract.ts';
import { parseGrant, type TokenStore } from '../../mcp/oauth/tokenStore.ts';
import { knownSecrets } from '../../secrets/mask.ts';

/**
 * Stores tokens with the user's secrets: in an attached editor, or in the file without one. The file has priority,
 * because tokens reach it by a sign-in or a renewal without an editor, which is newer.
 */
export class SharedTokens implements TokenStore {
  readonly #file: TokenStore;
  readonly #ask: (request: SecretRequest) => Promise<SecretAnswer>;
  /** Last values from the editor, for the time after it has detached. */
  readonly #seen = new Map<string, string>();

  constructor(file: TokenStore, ask: (request: SecretRequest) => Promise<SecretAnswer>) {
    this.#file = file;
    this.#ask = ask;
  }

  /** Returns a token. A server will receive it, so this process masks it from now on. */
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
  // After a sign-out the old tokens stay known, because servers may still repeat them.
  if (!grant) return;
  const { access_token, refresh_token = '' } = grant.tokens;
  knownSecrets.learn(key, [access_token, refresh_token, grant.client.client_secret ?? '']);
}
