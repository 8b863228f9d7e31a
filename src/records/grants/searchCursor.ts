import { createHash } from 'node:crypto';
import { parseRecord } from '../../lib/isRecord.ts';
import { type Query, without } from '../provider/recordQuery.ts';
import type { GrantMember } from './membership.ts';

/** Place in the hits of one member: its page, and how many hits of that page have been returned. */
export interface Place {
  cursor: string | undefined;
  used: number;
  isAtEnd: boolean;
}

/** Cursor of a search over several members. */
interface Cursor {
  mark: string;
  pageSize: number;
  places: readonly Place[];
}

/** Identifies the search that a cursor belongs to: with other words or sources its places mean nothing. */
export function markOf(path: string, query: Query, members: readonly GrantMember[]): string {
  const rest = without(query, 'cursor', 'limit');
  const sources = members.map(({ grantId, connections }) => [grantId, connections.map((one) => one.connectionId)]);
  return createHash('sha256')
    .update(JSON.stringify([path, rest, sources]))
    .digest('hex')
    .slice(0, 12);
}

/** Writes a cursor. Places of the sources are in it, and no token. */
export function writeCursor({ mark, pageSize, places }: Cursor): string {
  const compact = places.map(({ cursor, used, isAtEnd }) => (isAtEnd ? 0 : [cursor ?? null, used]));
  return `wg1.${Buffer.from(JSON.stringify([mark, pageSize, compact])).toString('base64url')}`;
}

/** Reads a cursor; undefined for one of another search. */
export function readCursor(text: string, mark: string, members: number): Cursor | undefined {
  const body = /^wg1\.([\w-]+)$/.exec(text)?.[1];
  const read =
    body === undefined ? undefined : parseRecord(`{"it":${Buffer.from(body, 'base64url').toString('utf8')}}`);
  const [given, pageSize, compact] = Array.isArray(read?.it) ? read.it : [];
  if (given !== mark || !Number.isInteger(pageSize) || pageSize < 1 || pageSize > 100) return undefined;
  if (!Array.isArray(compact) || compact.length !== members) return undefined;
  const places = compact.map((one): Place => {
    const [cursor, used] = Array.isArray(one) ? one : [];
    return {
      cursor: typeof cursor === 'string' ? cursor : undefined,
      used: Number.isInteger(used) && used > 0 ? used : 0,
      isAtEnd: !Array.isArray(one),
    };
  });
  return { mark, pageSize, places };
}
