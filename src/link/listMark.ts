import { createHash } from 'node:crypto';

/** Stands for what a client has listed, the same in every process: whether its list is still good. */
export function listMark(listed: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(listed) ?? '')
    .digest('base64url');
}
