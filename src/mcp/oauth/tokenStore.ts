import { createHash } from 'node:crypto';

/** Store of grants: a private file of the user, or the editor. */
export interface TokenStore {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Runs while no other process of the user renews the grant under the key. A refresh token is valid once, and using it
   * twice ends the whole sign-in (RFC 9700 §4.14.2).
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
  /** Expiry in milliseconds since the epoch. */
  expiresAt?: number;
}

/** Result of a sign-in, valid for one issuer and one resource. */
export interface Grant {
  issuer: string;
  resource: string;
  client: RegisteredClient;
  tokens: Tokens;
  scope?: string;
  /** Whether the server is its own issuer, because no document names one. */
  legacy?: boolean;
}

/** Returns the key of a grant. The name counts too: two entries with the same address are two accounts. */
export function grantKey(server: string, url: string): string {
  return `oauth-${createHash('sha256')
    .update(JSON.stringify([server, url]))
    .digest('hex')
    .slice(0, 32)}`;
}

/** Returns whether a header can carry a token (RFC 6750 §2.1). The error for any other would repeat it. */
export function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}

/** Parses and checks a stored grant, because others can write there too. */
export function parseGrant(text: string | undefined): Grant | undefined {
  if (text === undefined) return undefined;
  try {
    const grant = JSON.parse(text) as Partial<Grant> | null;
    const strings = [grant?.issuer, grant?.resource, grant?.client?.client_id];
    const isGrant = strings.every((one) => typeof one === 'string') && isToken(grant?.tokens?.access_token);
    return isGrant ? (grant as Grant) : undefined;
  } catch {
    return undefined;
  }
}
