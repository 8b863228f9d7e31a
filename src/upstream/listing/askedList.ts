import { listPages } from '../../mcp/wire/listPages.ts';
import type { ServerConnection } from '../connection/serverConnection.ts';
import type { RequestOptions } from '../connection/serverRequest.ts';

/** All pages of a list that nobody keeps, asked for when it is needed. */
export async function askedList(
  server: Pick<ServerConnection, 'request'>,
  method: string,
  key: string,
  options: RequestOptions,
): Promise<unknown[]> {
  const { items, failure } = await listPages(key, async (cursor, leftMs) => {
    const limits = { ...options, timeoutMs: Math.min(options.timeoutMs, leftMs) };
    const answer = await server.request(method, cursor === undefined ? {} : { cursor }, limits);
    return { items: Array.isArray(answer[key]) ? answer[key] : [], nextCursor: answer.nextCursor };
  });
  if (failure !== undefined) throw failure;
  return items;
}
