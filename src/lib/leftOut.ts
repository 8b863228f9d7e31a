import { createHash } from 'node:crypto';

const MARK = 'Left out: ';

/**
 * Returns a schema that stands for one that is too large to work with. The hash keeps the difference between two such
 * schemas, so that a change of the original is a change.
 */
export function leftOut(json: string): { type: 'object'; $comment: string } {
  const hash = createHash('sha256').update(json).digest('hex');
  return { type: 'object', $comment: `${MARK}a schema of ${json.length} characters, SHA-256 ${hash}.` };
}

/** Returns the description of a schema that was left out; `undefined` for any other. */
export function leftOutNote(schema: object): string | undefined {
  const { $comment: comment } = schema as { $comment?: unknown };
  return typeof comment === 'string' && comment.startsWith(MARK) ? comment.slice(MARK.length) : undefined;
}
