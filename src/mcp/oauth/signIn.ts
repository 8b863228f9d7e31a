import { randomBytes } from 'node:crypto';
import { exchangeAuthorization, startAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import { oneLine } from '../../text/porcelain.ts';
import { type ClientSettings, identifyClient } from './clientIdentity.ts';
import { discoverResource, discoverServer, type ServerMetadata } from './discovery.ts';
import { listenForRedirect, type RedirectAnswer } from './loopbackRedirect.ts';
import { oauthFetch } from './oauthFetch.ts';
import { SignInError } from './signInError.ts';
import { type Grant, isToken, type Tokens } from './tokenStore.ts';
import { TrustedUrls } from './trustedUrl.ts';

export interface SignInSettings extends ClientSettings {
  scopes?: readonly string[];
}

/** Hints in a rejection: the address of the metadata, and the missing scope. */
export interface SignInHint {
  metadataUrl?: URL;
  /** Scope that the rejected request needs. */
  scope?: string;
  /** Scope that an earlier sign-in granted and that must stay. */
  grantedScope?: string;
}

export interface PendingSignIn {
  /** Address for the user's browser: https, or http to this machine. */
  url: string;
  /** Resolves with the grant, or rejects with a `SignInError`. */
  grant: Promise<Grant>;
  cancel(): void;
}

/** Time limit, in which a person finds a password and a second factor. */
const SIGN_IN_TIMEOUT_MS = 10 * 60_000;

/** Begins the authorization code flow with PKCE (MCP 2025-11-25, *Authorization*), up to the step of the user. */
export async function beginSignIn(
  settings: SignInSettings,
  hint: SignInHint,
  timeoutMs: number = SIGN_IN_TIMEOUT_MS,
): Promise<PendingSignIn> {
  const urls = new TrustedUrls(settings.url, settings.issuer);
  const fetchFn = oauthFetch(urls);
  const { resource, issuer, scopes, legacy } = await discoverResource(
    settings.url,
    hint.metadataUrl,
    settings.issuer,
    fetchFn,
  );
  urls.check(issuer, 'Its authorization server');
  const metadata = await discoverServer({ issuer, legacy }, fetchFn);
  requirePkce(issuer, metadata);
  const scope = scopeOf(settings, hint, scopes, metadata);
  const state = randomBytes(32).toString('base64url');
  const redirect = await listenForRedirect(state, timeoutMs);
  try {
    const client = await identifyClient(settings, issuer, metadata, { redirectUri: redirect.uri, scope, fetchFn });
    const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
      ...(metadata ? { metadata } : {}),
      ...(scope === undefined ? {} : { scope }),
      clientInformation: client,
      redirectUrl: redirect.uri,
      state,
      // The SDK's URL would add a slash to an address without a path.
      resource,
    });
    const url = urls.check(authorizationUrl, 'The page of the sign-in').href;
    const exchange = async (): Promise<Grant> => {
      const answer = await redirect.answer;
      requireSameIssuer(answer, issuer, metadata);
      const tokens = await exchangeAuthorization(issuer, {
        ...(metadata ? { metadata } : {}),
        clientInformation: client,
        authorizationCode: answer.code,
        codeVerifier,
        redirectUri: redirect.uri,
        resource: resource as unknown as URL,
        fetchFn,
      }).catch((error: unknown) => {
        if (error instanceof SignInError) throw error;
        const why = oneLine((error as Error).message, 120);
        throw new SignInError(`${new URL(issuer).host} gave no token for the sign-in (${why}).`);
      });
      const granted = tokens.scope ?? scope;
      return {
        issuer,
        resource,
        client,
        tokens: keptTokens(tokens),
        ...(legacy ? { legacy } : {}),
        ...(granted === undefined ? {} : { scope: granted }),
      };
    };
    const grant = exchange();
    grant.catch(() => undefined);
    return { url, grant, cancel: () => redirect.close() };
  } catch (error) {
    redirect.close();
    throw error;
  }
}

interface TokenAnswer {
  access_token: string;
  refresh_token?: string | undefined;
  expires_in?: number | undefined;
}

export function keptTokens({ access_token, refresh_token, expires_in }: TokenAnswer): Tokens {
  if (!isToken(access_token)) throw new SignInError('The authorization server gave a token that no header can carry.');
  return {
    access_token,
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...(expires_in === undefined ? {} : { expiresAt: Date.now() + expires_in * 1000 }),
  };
}

/** Rejects a server that does not declare PKCE. A server without metadata follows MCP 2025-03-26, which requires it. */
function requirePkce(issuer: string, metadata: ServerMetadata): void {
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new SignInError(`${new URL(issuer).host} does not offer PKCE with S256, which a sign-in requires.`);
  }
}

/** Rejects the answer of another server than the requested one (RFC 9207 §2.4). */
function requireSameIssuer({ iss }: RedirectAnswer, issuer: string, metadata: ServerMetadata): void {
  const promised =
    (metadata as { authorization_response_iss_parameter_supported?: unknown } | undefined)
      ?.authorization_response_iss_parameter_supported === true;
  if (iss === undefined ? promised : iss !== (metadata?.issuer ?? issuer)) {
    throw new SignInError(`The answer to the sign-in is not from ${issuer}; it was not used.`);
  }
}

/**
 * Returns the configured scope, else that of the rejection, else all scopes of the server (MCP, *Scope Selection
 * Strategy*).
 */
function scopeOf(
  settings: SignInSettings,
  hint: SignInHint,
  ofResource: readonly string[] | undefined,
  metadata: ServerMetadata,
): string | undefined {
  const chosen = settings.scopes ?? words(hint.scope) ?? ofResource;
  if (!chosen) return hint.grantedScope || undefined;
  const all = new Set([...(words(hint.grantedScope) ?? []), ...chosen, ...(words(hint.scope) ?? [])]);
  // Some servers give a refresh token only for this scope (OpenID Connect Core §11); others reject an unknown scope.
  if (metadata?.scopes_supported?.includes('offline_access')) all.add('offline_access');
  return [...all].join(' ');
}

function words(scope: string | undefined): string[] | undefined {
  return scope?.split(' ').filter((word) => word !== '');
}
