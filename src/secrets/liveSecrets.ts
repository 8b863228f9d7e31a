import { findShapes } from './findShapes.ts';
import { type FoundSecret, isRandom } from './shapes.ts';

/** Words and sequences of examples, which no issuer's generator makes. */
const PLACEHOLDER =
  /example|your|x{4}|\*{3}|0{6}|1234567|abcdef|abc123|\.{3}|placeholder|changeme|passw|(?:^|[-_.])(?:test|fake|dummy|sample|mock|demo|my|foo|bar)(?:[-_.]|$)/i;
const MIN_DISTINCT = 10;
/** A shorter key in PEM is an excerpt. */
const MIN_KEY_CHARS = 100;
/** Host behind a password or a user's token: this machine, names for documents, and keys of Sentry, which are public. */
const HARMLESS_HOST =
  /^@?(?:localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker\.internal|[\w.-]*\bexample\b|o\d+\.ingest\.)/i;
/** Tokens of jwt.io and of documents, and keys that a web page may show. */
const HARMLESS_CLAIMS = /"(?:John|Jane) Doe"|"sub":\s?"1234567890"|"iat":\s?1516239022|"role":\s?"anon"/;
/** Keys that an issuer publishes, and those of its test systems. */
const HARMLESS_KEY = /^(?:pk[_-]|[sr]k_test_|shippo_test_)/;

/**
 * Finds the secrets of `findShapes` that an issuer could have issued and that protect something: no placeholder, no
 * example of a document and no password of this machine.
 */
export function* findLiveSecrets(text: string): Generator<FoundSecret> {
  for (const found of findShapes(text)) {
    if (isLive(text.slice(found.start, found.end), text.slice(found.end, found.end + HOST_CHARS))) yield found;
  }
}

const HOST_CHARS = 64;

function isLive(secret: string, after: string): boolean {
  if (secret.startsWith('-----BEGIN')) return secret.length >= MIN_KEY_CHARS && !secret.includes('...');
  if (PLACEHOLDER.test(secret) || HARMLESS_KEY.test(secret)) return false;
  if (after.startsWith('@') && HARMLESS_HOST.test(after)) return false;
  if (secret.startsWith('eyJ') && HARMLESS_CLAIMS.test(claimsOf(secret))) return false;
  const credential = basicCredential(secret);
  if (credential !== undefined) return isRandom(credential) && !PLACEHOLDER.test(credential);
  return isRandom(secret) && new Set(secret).size >= MIN_DISTINCT;
}

function claimsOf(token: string): string {
  return Buffer.from(token.split('.')[1] ?? '', 'base64').toString();
}

/** Returns the password of `user:password` in base64. */
function basicCredential(secret: string): string | undefined {
  if (!/^[A-Za-z0-9+/_-]{4,}={0,2}$/.test(secret)) return undefined;
  return /^[\x20-\x7e]{1,64}:([\x20-\x7e]{1,256})$/.exec(Buffer.from(secret, 'base64').toString())?.[1];
}
