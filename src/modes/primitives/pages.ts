import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';

/** Items of a page, and their characters: icons can be large. */
const PAGE_ITEMS = 250;
const PAGE_CHARS = 1024 * 1024;
const CURSOR = /^from:(\d{1,9})$/;

/** One page of a list; the cursor is the place where the next begins, which no client need understand. */
export function pageOf(key: string, items: readonly object[], cursor: unknown): Record<string, unknown> {
  const start = startOf(cursor);
  let end = start;
  let chars = 0;
  while (end < items.length && end - start < PAGE_ITEMS) {
    chars += JSON.stringify(items[end]).length;
    if (chars > PAGE_CHARS && end > start) break;
    end += 1;
  }
  const next = end < items.length ? { nextCursor: Buffer.from(`from:${end}`).toString('base64url') } : {};
  return { [key]: items.slice(start, end), ...next };
}

function startOf(cursor: unknown): number {
  if (cursor === undefined) return 0;
  const place = typeof cursor === 'string' ? CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) : null;
  if (!place) throw new RpcError(INVALID_PARAMS, 'The cursor is not one of this list; begin without one.');
  return Number(place[1]);
}
