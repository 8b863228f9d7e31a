import { createHash } from 'node:crypto';

/** Stands for what `tools/list` was answered with, the same in every worker: whether a client's list is still good. */
export function listMark(tools: readonly object[]): string {
  return createHash('sha256').update(JSON.stringify(tools)).digest('base64url').slice(0, 16);
}
