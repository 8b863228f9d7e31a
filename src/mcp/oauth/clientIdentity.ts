import { isHttpsUrl, registerClient } from '@modelcontextprotocol/sdk/client/auth.js';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { oneLine } from '../../text/porcelain.ts';
import type { ServerMetadata } from './discovery.ts';
import { SignInError } from './signInError.ts';
import type { RegisteredClient } from './tokenStore.ts';

export interface ClientSettings {
  /** Address of the server. */
  url: string;
  /** Authorization server, where the user does not leave its choice to the server. */
  issuer?: string;
  /** Id that the user registered, or the address of a client id metadata document. */
  clientId?: string;
  clientSecret?: string;
}

/** Returns whether an issuer may get the configured client secret: the user named it, or it is the server itself. */
export function mayGetSecret({ url, issuer: configured }: ClientSettings, issuer: string): boolean {
  // The issuer of a sign-in is the configured one, if there is one.
  return configured !== undefined || new URL(issuer).origin === new URL(url).origin;
}

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'];

/**
 * Identifies this client to the authorization server (MCP 2025-11-25, *Client Registration Approaches*): as configured,
 * by a metadata document where the server reads such, or by registration.
 */
export async function identifyClient(
  settings: ClientSettings,
  issuer: string,
  metadata: ServerMetadata,
  registration: { redirectUri: string; scope: string | undefined; fetchFn: FetchLike },
): Promise<RegisteredClient> {
  const { clientId, clientSecret } = settings;
  if (clientSecret !== undefined && !mayGetSecret(settings, issuer)) {
    throw new SignInError(
      `The server names ${new URL(issuer).origin} for its sign-in, and "auth.clientSecret" may be for another. If it is right, configure it as "auth.issuer".`,
    );
  }
  const isDocument = isHttpsUrl(clientId);
  const readsDocuments =
    (metadata as { client_id_metadata_document_supported?: unknown } | undefined)
      ?.client_id_metadata_document_supported === true;
  if (clientId !== undefined && (!isDocument || readsDocuments)) {
    return { client_id: clientId, ...(clientSecret === undefined ? {} : { client_secret: clientSecret }) };
  }
  if (metadata && !metadata.registration_endpoint) {
    throw new SignInError(
      `${new URL(issuer).host} does not register clients automatically; register one there and configure it: "auth": {"clientId": "…"}.`,
    );
  }
  const { redirectUri, scope, fetchFn } = registration;
  const supported = metadata?.token_endpoint_auth_methods_supported ?? ['none'];
  try {
    const { client_id, client_secret, token_endpoint_auth_method } = await registerClient(issuer, {
      ...(metadata ? { metadata } : {}),
      clientMetadata: {
        client_name: 'Waygate',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: AUTH_METHODS.find((method) => supported.includes(method)) ?? 'none',
        ...NATIVE,
      },
      ...(scope === undefined ? {} : { scope }),
      fetchFn,
    });
    return {
      client_id,
      ...(client_secret === undefined ? {} : { client_secret }),
      ...(token_endpoint_auth_method === undefined ? {} : { token_endpoint_auth_method }),
    };
  } catch (error) {
    if (error instanceof SignInError) throw error;
    if (!metadata) {
      throw new SignInError(
        `${new URL(issuer).host} has no sign-in that Waygate can find. If it accepts a token, set one: "headers": {"Authorization": "Bearer \${secret:NAME}"}.`,
      );
    }
    const why = oneLine((error as Error).message, 120);
    throw new SignInError(`${new URL(issuer).host} did not register Waygate as a client (${why}).`);
  }
}

/** Registration as a program on the user's machine that receives its own redirect (OpenID Connect Registration §2). */
const NATIVE: object = { application_type: 'native' };
