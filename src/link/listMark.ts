import { createHash } from 'node:crypto';

/** Returns a fingerprint of a list that a client got, equal in every process, to detect an outdated list. */
export function listMark(listed: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(listed) ?? '')
    .digest('base64url');
}
