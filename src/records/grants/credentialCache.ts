import { join } from 'node:path';
import { isRecord, parseRecord } from '../../lib/isRecord.ts';
import { isAbsent, readBoundedText, readFailure } from '../../lib/readBounded.ts';
import { CredentialError, refuseOwnerKind } from './ownerCredentials.ts';

/** Client token of one grant, with what its source has said about it. */
export interface ClientCredential {
  token: string;
  grantId?: string | undefined;
}

const MAX_BYTES = 1024 * 1024;

/** Returns the file with the credentials for a provider: `clients/<host>.json` below the root. */
export function credentialFile(root: string, providerUrl: string): string {
  return join(root, 'clients', `${new URL(providerUrl).host.replace(/[^A-Za-z0-9.-]/g, '_')}.json`);
}

/**
 * Reads the client tokens for a provider: `credential`, or `credentials` for several grants. Throws `CredentialError`
 * for a file without a usable one, and for an owner's. Messages never contain a token.
 */
export function readCredentials(file: string, providerUrl: string, now: number): ClientCredential[] {
  const cache = readCache(file);
  refuseOwnerKind(cache, file);
  const listed = Array.isArray(cache.credentials) ? cache.credentials : [];
  const given: unknown[] = [...(cache.credential === undefined ? [] : [cache.credential]), ...listed];
  for (const one of given) refuseOwnerKind(one, file);
  if (typeof cache.provider_url === 'string' && !isSameOrigin(cache.provider_url, providerUrl)) {
    throw new CredentialError(
      'unusable',
      `${file} is for another provider, ${originOf(cache.provider_url)}; sign in again.`,
    );
  }
  if (given.length === 0) throw new CredentialError('unusable', `${file} has no "credential"; sign in again.`);
  return given.map((one) => credentialOf(one, file, now));
}

function readCache(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readBoundedText(file, { maxBytes: MAX_BYTES, own: true, secret: true });
  } catch (error) {
    const why = isAbsent(error, file)
      ? `there is no credential for this provider (${file}); sign in first`
      : `${file} cannot be used: ${readFailure(error)}`;
    throw new CredentialError('unusable', `${why}.`);
  }
  const cache = parseRecord(text);
  if (cache) return cache;
  throw new CredentialError('unusable', `${file} is no JSON object; sign in again.`);
}

function credentialOf(given: unknown, file: string, now: number): ClientCredential {
  const { access_token: token, expires_at: expires, grant_id: grantId } = isRecord(given) ? given : {};
  if (!isToken(token)) throw new CredentialError('unusable', `${file} has no usable "access_token"; sign in again.`);
  if (hasExpired(expires, now))
    throw new CredentialError('unusable', `the credential in ${file} has expired; sign in again.`);
  return { token, grantId: typeof grantId === 'string' ? grantId : undefined };
}

/** Whether a value can be sent as a bearer (RFC 6750, 2.1). */
export function isToken(token: unknown): token is string {
  return typeof token === 'string' && /^[\w.~+/=-]{1,8192}$/.test(token);
}

/** Whether a time has passed; a time that cannot be read counts as passed. */
function hasExpired(expires: unknown, now: number): boolean {
  if (expires === undefined || expires === null) return false;
  const seconds = typeof expires === 'number' ? expires : undefined;
  // Numbers are seconds since 1970, as OAuth has them; a number of 13 digits has milliseconds.
  const at = seconds === undefined ? Date.parse(String(expires)) : seconds > 1e11 ? seconds : seconds * 1_000;
  return !(at > now);
}

function isSameOrigin(one: string, other: string): boolean {
  return originOf(one) === originOf(other);
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : 'an unreadable address';
}
