import { extractWWWAuthenticateParams, refreshAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import {
  OAuthError,
  ServerError,
  TemporarilyUnavailableError,
  TooManyRequestsError,
} from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { oneLine } from '../../text/porcelain.ts';
import type { AuthChallenge, UpstreamAuth } from '../wire/upstreamAuth.ts';
import { UpstreamRequestError } from '../wire/upstreamClient.ts';
import { mayGetSecret } from './clientIdentity.ts';
import { discoverServer, sameIssuer } from './discovery.ts';
import { oauthFetch } from './oauthFetch.ts';
import { beginSignIn, keptTokens, type PendingSignIn, type SignInHint, type SignInSettings } from './signIn.ts';
import { type Grant, grantKey, parseGrant, type RegisteredClient, type TokenStore } from './tokenStore.ts';
import { TrustedUrls } from './trustedUrl.ts';

/** Missing step: a first sign-in, a renewed one, or a larger scope. */
export type SignInLack = 'sign_in' | 'renewal' | 'scope';

/** Time before expiry at which to renew a token, since a request is under way for a moment. */
const RENEW_BEFORE_MS = 30_000;
const MAX_ERROR_CHARS = 8_000;

/**
 * Sign-in of the user at one server: tokens, renewed when they expire, and sent only to the origin for which they were
 * issued. The session outlives connections. Only `signIn` opens a browser.
 */
export class OAuthSession implements UpstreamAuth {
  readonly #key: string;
  readonly #settings: SignInSettings;
  readonly #store: TokenStore;
  readonly #urls: TrustedUrls;
  #hint: SignInHint = {};
  #lack: SignInLack = 'sign_in';
  #isSignedIn: boolean | undefined;
  #renewing: Promise<boolean> | undefined;
  /** Token that the server rejected although it was new. Not tried again. */
  #dead: string | undefined;

  constructor(server: string, settings: SignInSettings, store: TokenStore) {
    this.#key = grantKey(server, settings.url);
    this.#settings = settings;
    this.#store = store;
    this.#urls = new TrustedUrls(settings.url, settings.issuer);
  }

  async headers(url: URL): Promise<Readonly<Record<string, string>>> {
    if (url.origin !== new URL(this.#settings.url).origin) return {};
    await this.#renewInTime();
    const grant = await this.#grant();
    return grant ? { Authorization: `Bearer ${grant.tokens.access_token}` } : {};
  }

  async #renewInTime(): Promise<void> {
    const { expiresAt, refresh_token, access_token } = (await this.#grant())?.tokens ?? {};
    if (access_token === undefined || refresh_token === undefined || expiresAt === undefined) return;
    const left = expiresAt - Date.now();
    if (left > RENEW_BEFORE_MS) return;
    try {
      await this.#renew(access_token);
    } catch (error) {
      // The token is valid for another moment.
      if (left <= 0) throw error;
    }
  }

  async onChallenge({ status, wwwAuthenticate, refused, again }: AuthChallenge): Promise<boolean> {
    const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(
      new Response(null, wwwAuthenticate === undefined ? {} : { headers: { 'www-authenticate': wwwAuthenticate } }),
    );
    if (status === 403 && error !== 'insufficient_scope') return false;
    const grant = await this.#grant();
    this.#hint = {
      ...(resourceMetadataUrl ? { metadataUrl: resourceMetadataUrl } : {}),
      ...(scope === undefined ? {} : { scope }),
      ...(status === 403 ? { grantedScope: grant?.scope ?? '' } : {}),
    };
    if (status === 403) this.#lack = 'scope';
    else this.#lack = refused === undefined ? 'sign_in' : 'renewal';
    // A larger scope needs the user.
    if (status === 403) return false;
    const token = refused?.replace(/^Bearer /, '');
    if (again) {
      this.#dead = token;
      return false;
    }
    // Another request, or another gateway, has renewed the token in the meantime.
    if (grant && grant.tokens.access_token !== token && grant.tokens.access_token !== this.#dead) return true;
    return token !== undefined && (await this.#renew(token));
  }

  /** Returns whether there is a token that the server has not rejected yet. */
  async mayTry(): Promise<boolean> {
    const grant = await this.#grant();
    return grant !== undefined && grant.tokens.access_token !== this.#dead;
  }

  /** Whether tokens are kept; undefined until they were asked for. */
  get isSignedIn(): boolean | undefined {
    return this.#isSignedIn;
  }

  /** Reason of the last rejection. */
  get lack(): SignInLack {
    return this.#lack;
  }

  /** Begins a sign-in. Stores the tokens before `grant` resolves. */
  async signIn(): Promise<PendingSignIn> {
    const pending = await beginSignIn(this.#settings, this.#hint);
    const grant = pending.grant.then(async (brought) => {
      await this.#store.exclusively(this.#key, () => this.#save(brought));
      this.#hint = {};
      this.#lack = 'renewal';
      this.#dead = undefined;
      return brought;
    });
    grant.catch(() => undefined);
    return { ...pending, grant };
  }

  /** Removes the tokens, and revokes them where possible. Resolves to whether there were any. */
  async signOut(): Promise<boolean> {
    const grant = await this.#grant();
    await this.#store.delete(this.#key);
    this.#lack = 'sign_in';
    this.#isSignedIn = false;
    if (!grant) return false;
    // Best effort: the stored tokens are already gone.
    await this.#revoke(grant).catch(() => undefined);
    return true;
  }

  /** Renews once for concurrent rejections. */
  #renew(stale: string): Promise<boolean> {
    this.#renewing ??= this.#store
      .exclusively(this.#key, () => this.#renewOnce(stale))
      .finally(() => {
        this.#renewing = undefined;
      });
    return this.#renewing;
  }

  async #renewOnce(stale: string): Promise<boolean> {
    const grant = await this.#grant();
    if (!grant) return false;
    if (grant.tokens.access_token !== stale) return true;
    const { refresh_token } = grant.tokens;
    if (refresh_token === undefined) {
      this.#dead = stale;
      return false;
    }
    try {
      const fetchFn = oauthFetch(this.#urls);
      const metadata = await discoverServer(grant, fetchFn);
      const tokens = await refreshAuthorization(grant.issuer, {
        ...(metadata ? { metadata } : {}),
        clientInformation: this.#clientOf(grant),
        refreshToken: refresh_token,
        resource: grant.resource as unknown as URL,
        fetchFn,
      });
      await this.#save({ ...grant, tokens: keptTokens(tokens) });
      return true;
    } catch (error) {
      // The issuer reports the end of the grant: expired or revoked.
      if (isFinal(error)) {
        await this.#store.delete(this.#key);
        return false;
      }
      // The caller masks secrets and shortens the text.
      const why = oneLine((error as Error).message, MAX_ERROR_CHARS);
      throw new UpstreamRequestError('unsent', `its sign-in could not be renewed at ${grant.issuer}: ${why}`);
    }
  }

  async #revoke(grant: Grant): Promise<void> {
    const fetchFn = oauthFetch(this.#urls);
    const endpoint = ((await discoverServer(grant, fetchFn)) as { revocation_endpoint?: unknown } | undefined)
      ?.revocation_endpoint;
    if (typeof endpoint !== 'string') return;
    const { client_id, client_secret } = this.#clientOf(grant);
    const token = grant.tokens.refresh_token ?? grant.tokens.access_token;
    const body = new URLSearchParams({ token, client_id, ...(client_secret ? { client_secret } : {}) });
    const response = await fetchFn(endpoint, { method: 'POST', body });
    await response.body?.cancel();
  }

  /** Returns the client, with a secret from the configuration, which is never stored. */
  #clientOf({ client, issuer }: Grant): RegisteredClient {
    const { clientId, clientSecret } = this.#settings;
    return client.client_id === clientId && clientSecret !== undefined && mayGetSecret(this.#settings, issuer)
      ? { ...client, client_secret: clientSecret }
      : client;
  }

  #save(grant: Grant): Promise<void> {
    const { clientId } = this.#settings;
    const { client_secret: _, ...named } = grant.client;
    const client = grant.client.client_id === clientId ? named : grant.client;
    this.#isSignedIn = true;
    return this.#store.set(this.#key, JSON.stringify({ ...grant, client }));
  }

  /** Reads the stored grant, which another gateway of the user may have renewed. */
  async #grant(): Promise<Grant | undefined> {
    const grant = parseGrant(await this.#store.get(this.#key));
    this.#isSignedIn = grant !== undefined;
    if (!grant) return undefined;
    const { issuer } = this.#settings;
    // The configured issuer has changed: send nothing of this grant there, and use nothing from there.
    return issuer === undefined || sameIssuer(issuer, grant.issuer) ? grant : undefined;
  }
}

function isFinal(error: unknown): boolean {
  const passing = [ServerError, TemporarilyUnavailableError, TooManyRequestsError];
  return error instanceof OAuthError && !passing.some((kind) => error instanceof kind);
}
