import {
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/sdk/client/auth.js';
import type { AuthorizationServerMetadata } from '@modelcontextprotocol/sdk/shared/auth.js';
import { checkResourceAllowed, resourceUrlFromServerUrl } from '@modelcontextprotocol/sdk/shared/auth-utils.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { SignInError } from './signInError.ts';

export interface ProtectedResource {
  /** Resource of the token (RFC 8707), verbatim as the server names it. */
  resource: string;
  issuer: string;
  scopes: readonly string[] | undefined;
  /** Whether no document names an issuer, so that the server is its own, as in MCP 2025-03-26. */
  legacy: boolean;
}

/** Metadata of the authorization server; `undefined` where it publishes none (MCP 2025-03-26, *Fallbacks*). */
export type ServerMetadata = AuthorizationServerMetadata | undefined;

/**
 * Reads the server's metadata (RFC 9728): at the address that its refusal named, or at the well-known one. A server
 * without metadata is its own authorization server, as in MCP 2025-03-26.
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
  let status = 0;
  const noteStatus: FetchLike = async (address, init) => {
    const response = await fetchFn(address, init);
    ({ status } = response);
    return response;
  };
  try {
    metadata = await discoverOAuthProtectedResourceMetadata(url, options, noteStatus);
  } catch (error) {
    if (error instanceof SignInError) throw error;
    // The last address that the SDK has tried decides. The SDK's own error has no type and no code.
    const hasNone = status >= 400 && status < 500;
    if (metadataUrl || !hasNone) {
      throw new SignInError(`The sign-in metadata of ${(metadataUrl ?? requested).origin} is not usable.`);
    }
    return { resource: requested.href, scopes: undefined, ...issuerWithout(requested, wantedIssuer) };
  }
  if (!checkResourceAllowed({ requestedResource: requested, configuredResource: metadata.resource })) {
    throw new SignInError(`The sign-in metadata is for another server (${originOf(metadata.resource)}).`);
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

/** Reads the metadata of the authorization server (RFC 8414 or OpenID Connect), if it is the requested one. */
export async function discoverServer(
  { issuer, legacy }: { issuer: string; legacy?: boolean },
  fetchFn: FetchLike,
): Promise<ServerMetadata> {
  let metadata: ServerMetadata;
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn });
  } catch (error) {
    if (error instanceof SignInError) throw error;
    throw new SignInError(`The sign-in metadata of ${originOf(issuer)} is not usable.`);
  }
  // RFC 8414 §3.3: otherwise one server could pass for another. Without a named issuer, the server may name a part of
  // itself.
  const isItself =
    metadata && legacy ? originOf(metadata.issuer) === issuer : sameIssuer(metadata?.issuer ?? issuer, issuer);
  if (metadata && !isItself) {
    throw new SignInError(`${issuer} names itself ${metadata.issuer}; Waygate does not sign in there.`);
  }
  return metadata;
}

/** Compares issuers, ignoring a slash at the end, which is often present in only one place. */
export function sameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, '') === b.replace(/\/$/, '');
}

function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'an invalid address';
}
