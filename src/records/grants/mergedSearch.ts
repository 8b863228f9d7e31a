import { isRecord } from '../../lib/isRecord.ts';
import type { RecordAnswer, RecordRequest } from '../provider/recordProvider.ts';
import { parameter, type Query, without } from '../provider/recordQuery.ts';
import { connectorKeyOf, hitsOf } from '../surface/read/searchHits.ts';
import { DEFAULT_LIMIT } from '../surface/read/searchLimits.ts';
import { filled, type Json } from '../surface/values.ts';
import { askAll, type GrantMember, type MemberAnswer } from './membership.ts';
import { lone } from './mergedSchema.ts';
import { markOf, type Place, readCursor, writeCursor } from './searchCursor.ts';
import { searchMeta } from './searchMeta.ts';

interface Found extends MemberAnswer {
  hits: readonly Json[];
  next: string | undefined;
  hasMore: boolean;
  place: Place;
}

/**
 * Searches all members, and returns at most `limit` hits of all together (R5.4). Scores of different sources cannot be
 * compared, so the sources take turns: first the best hit of each, then the second of each. The cursor remembers how far
 * each source has got, so no hit is lost or repeated between pages.
 */
export async function mergedSearch(members: readonly GrantMember[], request: RecordRequest): Promise<RecordAnswer> {
  const { query, path, signal } = request;
  const limit = Number(parameter(query, 'limit') ?? DEFAULT_LIMIT);
  const streams = query.filter(([key]) => key === 'streams').map(([, name]) => name);
  const asked = members.filter((member) => streams.length === 0 || grantedOf(member, streams).length > 0);
  const mark = markOf(path, query, asked);
  const given = parameter(query, 'cursor');
  const start = given === undefined ? undefined : readCursor(given, mark, asked.length);
  if (given !== undefined && (start === undefined || path.endsWith('/hybrid'))) return badCursor(path);
  const pageSize = start?.pageSize ?? limit;
  const places = start?.places ?? asked.map((): Place => ({ cursor: undefined, used: 0, isAtEnd: false }));
  const open = asked.flatMap((member, at) => (places[at]?.isAtEnd ? [] : { member, at }));
  const answers = await askAll(
    open.map(({ member }) => member),
    (member) => {
      const place = places[asked.indexOf(member)] as Place;
      const child = childQuery(
        member,
        query,
        streams,
        pageSize,
        place.cursor,
        given !== undefined || query.some(([key]) => key === 'limit'),
      );
      return member.provider.get({ path, query: child, signal });
    },
  );
  const [first] = answers;
  if (first !== undefined && answers.every(({ failure }) => failure !== undefined)) return lone(first);
  const found = answers.map((one, at): Found => foundOf(one, places[open[at]?.at ?? 0] as Place));
  const taken = takeTurns(found, limit);
  const after = asked.map((_, at) => places[at] as Place);
  for (const [at, one] of found.entries()) after[open[at]?.at ?? 0] = placeAfter(one, taken.used[at] ?? 0);
  const isCut = found.some((one, at) => (taken.used[at] ?? 0) < one.hits.length);
  const canContinue = after.some(({ isAtEnd }) => !isAtEnd) && !path.endsWith('/hybrid');
  const hasMore = isCut || found.some((one) => one.hasMore);
  return {
    status: 200,
    requestId: found[0]?.answer?.requestId,
    body: {
      object: 'list',
      url: path,
      has_more: hasMore,
      ...(hasMore && canContinue && { next_cursor: writeCursor({ mark, pageSize, places: after }) }),
      data: taken.hits,
      meta: searchMeta(members.length, found, taken.hits),
    },
  };
}

function grantedOf({ streams }: GrantMember, asked: readonly string[]): readonly string[] {
  return streams === undefined ? asked : asked.filter((name) => streams.includes(name));
}

function childQuery(
  member: GrantMember,
  query: Query,
  streams: readonly string[],
  pageSize: number,
  cursor: string | undefined,
  withLimit: boolean,
): Query {
  const plain = without(query, 'streams', 'cursor', 'limit');
  return [
    ...plain,
    ...(withLimit ? ([['limit', String(pageSize)]] as const) : []),
    ...(cursor === undefined ? [] : ([['cursor', cursor]] as const)),
    ...grantedOf(member, streams).map((name) => ['streams', name] as const),
  ];
}

function foundOf(one: MemberAnswer, place: Place): Found {
  const body = isRecord(one.answer?.body) && one.failure === undefined ? one.answer.body : {};
  const read = hitsOf(body);
  const envelope = read?.envelope ?? {};
  const next = filled(envelope.next_cursor);
  // A cursor that leads to itself would be followed for ever.
  const onward = next === place.cursor ? undefined : next;
  const hits = (read?.hits ?? []).slice(place.used).map((hit) => withIdentity(hit, one.member));
  return { ...one, hits, next: onward, hasMore: envelope.has_more === true && next !== place.cursor, place };
}

function withIdentity(hit: Json, member: GrantMember): Json {
  const connectionId =
    filled(hit.connection_id) ?? filled(hit.connector_instance_id) ?? member.connections[0]?.connectionId;
  const connection = member.connections.find((one) => one.connectionId === connectionId) ?? member.connections[0];
  return {
    ...hit,
    connection_id: connectionId,
    connector_key: connectorKeyOf(hit) ?? member.connectorKey,
    display_name: filled(hit.display_name) ?? connection?.displayName ?? member.displayName,
    grant_id: member.grantId,
  };
}

/** Takes one hit of each member in turn. A record that two grants share is returned once. */
function takeTurns(found: readonly Found[], limit: number): { hits: Json[]; used: number[] } {
  const hits: Json[] = [];
  const used = found.map(() => 0);
  const seen = new Set<string>();
  for (let isLeft = true; isLeft && hits.length < limit; ) {
    isLeft = false;
    for (const [at, one] of found.entries()) {
      if (hits.length >= limit) break;
      for (;;) {
        const hit = one.hits[used[at] as number];
        if (hit === undefined) break;
        used[at] = (used[at] as number) + 1;
        const key = JSON.stringify([
          hit.connection_id,
          hit.connector_key,
          hit.stream,
          hit.record_key ?? hit.id ?? hit.record_id,
        ]);
        if (seen.has(key)) continue;
        seen.add(key);
        hits.push(hit);
        isLeft = true;
        break;
      }
    }
  }
  return { hits, used };
}

function placeAfter({ hits, next, place, failure }: Found, used: number): Place {
  // A source that failed is asked again with the same page.
  if (failure !== undefined) return place;
  if (used < hits.length) return { ...place, used: place.used + used };
  return { cursor: next, used: 0, isAtEnd: next === undefined };
}

function badCursor(path: string): RecordAnswer {
  const message = path.endsWith('/hybrid')
    ? 'A hybrid search has no cursor; raise limit or narrow the words.'
    : 'The cursor belongs to another search; repeat the search without it.';
  const code = path.endsWith('/hybrid') ? 'invalid_request' : 'invalid_cursor';
  return { status: 400, body: { error: { type: 'invalid_request_error', code, message, param: 'cursor' } } };
}
