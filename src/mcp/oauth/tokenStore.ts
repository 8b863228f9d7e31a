import { createHash } from 'node:crypto';

/** Where what a sign-in brought is kept: a file of the person's own, or the editor. */
export interface TokenStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Runs while no other process of the person renews what lies under the key: a refresh token is good for once, and one
   * that is used twice ends the whole sign-in (RFC 9700 §4.14.2).
   */
  exclusively<T>(key: string, run: () => Promise<T>): Promise<T>;
}

export interface RegisteredClient {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method?: string;
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  /** Milliseconds since the epoch. */
  expiresAt?: number;
}

/** What one sign-in brought. It is good for one issuer and one resource, and for no other. */
export interface Grant {
  issuer: string;
  resource: string;
  client: RegisteredClient;
  tokens: Tokens;
  scope?: string;
  /** The server is its own issuer, because nobody has named one. */
  legacy?: boolean;
}

/** Two entries of a configuration with the same address are two accounts: the name counts too. */
export function grantKey(server: string, url: string): string {
  return `oauth-${createHash('sha256')
    .update(JSON.stringify([server, url]))
    .digest('hex')
    .slice(0, 32)}`;
}

/** What was stored, checked: others can write there too. */
export function parseGrant(text: string | undefined): Grant | undefined {
  if (text === undefined) return undefined;
  try {
    const grant = JSON.parse(text) as Partial<Grant> | null;
    const strings = [grant?.issuer, grant?.resource, grant?.client?.client_id, grant?.tokens?.access_token];
    return strings.every((one) => typeof one === 'string') ? (grant as Grant) : undefined;
  } catch {
    return undefined;
  }
}
