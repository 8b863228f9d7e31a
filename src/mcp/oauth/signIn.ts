import { randomBytes } from 'node:crypto';
import { exchangeAuthorization, startAuthorization } from '@modelcontextprotocol/sdk/client/auth.js';
import { oneLine } from '../../text/porcelain.ts';
import { type ClientSettings, identifyClient } from './clientIdentity.ts';
import { discoverResource, discoverServer, type ServerMetadata } from './discovery.ts';
import { listenForRedirect, type RedirectAnswer } from './loopbackRedirect.ts';
import { oauthFetch } from './oauthFetch.ts';
import { SignInError } from './signInError.ts';
import type { Grant, Tokens } from './tokenStore.ts';
import { TrustedUrls } from './trustedUrl.ts';

export interface SignInSettings extends ClientSettings {
  /** The server's address. */
  url: string;
  scopes?: readonly string[];
  /** The authorization server, where the person does not leave its choice to the server. */
  issuer?: string;
}

/** What a refusal has told: where to read more, and what is missing. */
export interface SignInHint {
  metadataUrl?: URL;
  /** What the refused request needs. */
  scope?: string;
  /** What is granted already, and is to stay so. */
  grantedScope?: string;
}

export interface PendingSignIn {
  /** What the person's browser is to open: https, or http to this machine. */
  url: string;
  /** Rejects with a `SignInError`. */
  grant: Promise<Grant>;
  cancel(): void;
}

/** A person looks for a password and a second factor. */
const SIGN_IN_TIMEOUT_MS = 10 * 60_000;

/** The authorization code flow with PKCE (MCP 2025-11-25, *Authorization*), up to where the person goes on. */
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
      // The SDK's URL would put a slash behind an address without a path.
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
  return {
    access_token,
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...(expires_in === undefined ? {} : { expiresAt: Date.now() + expires_in * 1000 }),
  };
}

/** A server that does not say that it knows PKCE is refused; one that says nothing at all is of MCP 2025-03-26, which has it. */
function requirePkce(issuer: string, metadata: ServerMetadata): void {
  if (metadata && !metadata.code_challenge_methods_supported?.includes('S256')) {
    throw new SignInError(`${new URL(issuer).host} does not offer PKCE with S256, without which nobody is signed in.`);
  }
}

/** RFC 9207 §2.4: the answer of another server than the one that was asked is a mix-up. */
function requireSameIssuer({ iss }: RedirectAnswer, issuer: string, metadata: ServerMetadata): void {
  const promised =
    (metadata as { authorization_response_iss_parameter_supported?: unknown } | undefined)
      ?.authorization_response_iss_parameter_supported === true;
  if (iss === undefined ? promised : iss !== (metadata?.issuer ?? issuer)) {
    throw new SignInError(`The answer to the sign-in is not from ${issuer}; it was not used.`);
  }
}

/** The person's choice, or what the refusal names, or all that the server has (MCP, *Scope Selection Strategy*). */
function scopeOf(
  settings: SignInSettings,
  hint: SignInHint,
  ofResource: readonly string[] | undefined,
  metadata: ServerMetadata,
): string | undefined {
  const chosen = settings.scopes ?? words(hint.scope) ?? ofResource;
  if (!chosen) return hint.grantedScope || undefined;
  const all = new Set([...(words(hint.grantedScope) ?? []), ...chosen, ...(words(hint.scope) ?? [])]);
  // Without it some give no refresh token (OpenID Connect Core §11); others refuse a scope that they do not know.
  if (metadata?.scopes_supported?.includes('offline_access')) all.add('offline_access');
  return [...all].join(' ');
}

function words(scope: string | undefined): string[] | undefined {
  return scope?.split(' ').filter((word) => word !== '');
}
