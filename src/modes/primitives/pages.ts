import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';

/** Limits of a page in items and characters: icons can be large. */
const PAGE_ITEMS = 250;
const PAGE_CHARS = 1024 * 1024;
const CURSOR = /^from:(\d{1,9})$/;

/** Returns one page of a list. The cursor encodes the start of the next page. */
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
  if (!place) throw new RpcError(INVALID_PARAMS, 'The cursor does not belong to this list; start without a cursor.');
  return Number(place[1]);
}
