import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { checkResourceAllowed, resourceUrlFromServerUrl } from '@modelcontextprotocol/sdk/shared/auth-utils.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { SignInError } from './signInError.ts';

export interface ProtectedResource {
  /** What a token is asked for (RFC 8707), verbatim as the server names it. */
  resource: string;
  issuer: string;
  scopes: readonly string[] | undefined;
  /** Nobody has named the issuer: the server is taken for its own, as in MCP 2025-03-26. */
  legacy: boolean;
}

/** Of the authorization server; `undefined` where it publishes none (MCP 2025-03-26, *Fallbacks*). */
export type ServerMetadata = AuthorizationServerMetadata | undefined;

/**
 * What the server says of itself (RFC 9728): at the address that its refusal named, or at the well-known one. A server that
 * says nothing is its own authorization server, as in MCP 2025-03-26.
 */
export async function discoverResource(
  url: string,
  metadataUrl: URL | undefined,
  wantedIssuer: string | undefined,
  fetchFn: FetchLike,
): Promise<ProtectedResource> {
  const options = metadataUrl ? { resourceMetadataUrl: metadataUrl } : {};
  const requested = resourceUrlFromServerUrl(url);
  let metadata: Awaited<ReturnType<typeof discoverOAuthProtectedResourceMetadata>>;
  try {
    metadata = await discoverOAuthProtectedResourceMetadata(url, options, fetchFn);
  } catch (error) {
    if (error instanceof SignInError) throw error;
    // The SDK tells one that has none only by these words.
    const hasNone = /does not implement|^HTTP 4\d\d /.test((error as Error).message);
    if (metadataUrl || !hasNone) {
      throw new SignInError(`What ${(metadataUrl ?? requested).origin} says of the sign-in is of no use.`);
    }
    return { resource: requested.href, scopes: undefined, ...issuerWithout(requested, wantedIssuer) };
  }
  if (!checkResourceAllowed({ requestedResource: requested, configuredResource: metadata.resource })) {
    throw new SignInError(`What is said of the sign-in is about another server (${originOf(metadata.resource)}).`);
  }
  const named = metadata.authorization_servers ?? [];
  const issuer = wantedIssuer === undefined ? named[0] : named.find((one) => sameIssuer(one, wantedIssuer));
  if (named.length > 0 && issuer === undefined) {
    throw new SignInError(`It wants a sign-in at ${named.map(originOf).join(', ')}, and "auth.issuer" is another.`);
  }
  const { resource, scopes_supported: scopes } = metadata;
  return {
    resource,
    scopes,
    ...(issuer === undefined ? issuerWithout(requested, wantedIssuer) : { issuer, legacy: false }),
  };
}

function issuerWithout({ origin }: URL, wanted: string | undefined): { issuer: string; legacy: boolean } {
  return wanted === undefined ? { issuer: origin, legacy: true } : { issuer: wanted, legacy: false };
}

/** What the authorization server says of itself (RFC 8414 or OpenID Connect), if it is the one that was asked. */
export async function discoverServer(
  { issuer, legacy }: { issuer: string; legacy?: boolean },
  fetchFn: FetchLike,
): Promise<ServerMetadata> {
  let metadata: ServerMetadata;
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  } catch (error) {
    if (error instanceof SignInError) throw error;
    throw new SignInError(`What ${originOf(issuer)} says of its sign-in is of no use.`);
  }
  // RFC 8414 §3.3: or one server could pass for another. Where nobody has named one, it may say which part of itself it is.
  const isItself =
    metadata && legacy ? originOf(metadata.issuer) === issuer : sameIssuer(metadata?.issuer ?? issuer, issuer);
  if (metadata && !isItself) {
    throw new SignInError(`${issuer} calls itself ${metadata.issuer}; nobody is signed in there.`);
  }
  return metadata;
}

/** A slash at the end is often there in one place and not in the other. */
export function sameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'an address that is none';
}
