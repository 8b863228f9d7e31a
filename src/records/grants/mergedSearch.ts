import { createHash } from 'node:crypto';
import { isRecord, parseRecord } from '../../lib/isRecord.ts';
import type { RecordAnswer, RecordRequest } from '../provider/recordProvider.ts';
import { parameter, type Query, without } from '../provider/recordQuery.ts';
import { connectorKeyOf, hitsOf } from '../surface/read/searchHits.ts';
import { DEFAULT_LIMIT } from '../surface/read/searchLimits.ts';
import { filled, type Json, recordsIn } from '../surface/values.ts';
import { askAll, failureWarnings, type GrantMember, MAX_AT_ONCE, type MemberAnswer } from './membership.ts';
import { lone } from './mergedSchema.ts';

/** Place in the hits of one member: its page, and how many hits of that page have been returned. */
interface Place {
  cursor: string | undefined;
  used: number;
  isAtEnd: boolean;
}

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
      meta: metaOf(members, found, taken.hits),
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

function metaOf(members: readonly GrantMember[], found: readonly Found[], hits: readonly Json[]): Json {
  const warnings = found.flatMap(({ answer, failure }) => {
    const body = failure === undefined && isRecord(answer?.body) ? answer.body : {};
    return recordsIn(isRecord(body.meta) ? body.meta.warnings : undefined);
  });
  const metas = found.map(({ answer, failure }) => {
    const body = failure === undefined && isRecord(answer?.body) ? answer.body : {};
    return isRecord(body.meta) ? body.meta : {};
  });
  const isPartial = found.some(({ failure }) => failure !== undefined);
  const counts = metas.map(({ count }) => count);
  const isCounted = !isPartial && counts.length > 0 && counts.every((count) => typeof count === 'number');
  const isExact = metas.every(({ count_accuracy: accuracy }) => accuracy === undefined || accuracy === 'exact');
  const recalls = metas.map(({ recall }) => recall).filter(isRecord);
  return {
    ...(isCounted && {
      count: counts.reduce<number>((sum, count) => sum + Number(count), 0),
      count_accuracy: isExact ? 'exact' : 'lower_bound',
    }),
    ...(recalls.length > 0 && { recall: recallOf(recalls) }),
    warnings: [...failureWarnings(found), ...warnings],
    package: {
      fanout_limit: MAX_AT_ONCE,
      member_count: members.length,
      merged_hit_count: found.reduce((sum, one) => sum + one.hits.length, 0),
      returned_hit_count: hits.length,
      partial: isPartial,
      source_mix: sourceMix(hits),
    },
  };
}

const SUMMED = ['ranked_candidate_count', 'truncated_source_count', 'sources_searched_count'];

/** Combines what the sources say about how much they ranked. */
function recallOf(recalls: readonly Json[]): Json {
  const bounded = recalls.filter(
    ({ complete, ranking_scope: scope }) => complete === false || scope === 'candidate_window',
  );
  const window = bounded.map((one) => one.candidate_window_limit).find((one) => typeof one === 'number');
  const sums = SUMMED.flatMap((key) => {
    const numbers = recalls.map((one) => one[key]).filter((one) => typeof one === 'number');
    return numbers.length === 0 ? [] : [[key, numbers.reduce((sum, one) => sum + one, 0)] as const];
  });
  return {
    complete: bounded.length === 0,
    ranking_scope: bounded.length === 0 ? 'all_matches' : 'candidate_window',
    truncated: recalls.some(({ truncated }) => truncated === true),
    ...(window !== undefined && { candidate_window_limit: window }),
    ...Object.fromEntries(sums),
  };
}

function sourceMix(hits: readonly Json[]): Json[] {
  const counts = new Map<string, { hit: Json; count: number }>();
  for (const hit of hits) {
    const key = String(hit.connection_id);
    const known = counts.get(key);
    counts.set(key, { hit: known?.hit ?? hit, count: (known?.count ?? 0) + 1 });
  }
  return [...counts.values()].map(({ hit, count }) => ({
    connection_id: hit.connection_id ?? null,
    connector_key: hit.connector_key ?? null,
    display_name: hit.display_name ?? null,
    count,
  }));
}

interface Cursor {
  mark: string;
  pageSize: number;
  places: readonly Place[];
}

/** Identifies the search that a cursor belongs to: with other words or sources its places mean nothing. */
function markOf(path: string, query: Query, members: readonly GrantMember[]): string {
  const rest = without(query, 'cursor', 'limit');
  const sources = members.map(({ grantId, connections }) => [grantId, connections.map((one) => one.connectionId)]);
  return createHash('sha256')
    .update(JSON.stringify([path, rest, sources]))
    .digest('hex')
    .slice(0, 12);
}

function writeCursor({ mark, pageSize, places }: Cursor): string {
  const compact = places.map(({ cursor, used, isAtEnd }) => (isAtEnd ? 0 : [cursor ?? null, used]));
  return `wg1.${Buffer.from(JSON.stringify([mark, pageSize, compact])).toString('base64url')}`;
}

function readCursor(text: string, mark: string, members: number): Cursor | undefined {
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

function badCursor(path: string): RecordAnswer {
  const message = path.endsWith('/hybrid')
    ? 'A hybrid search has no cursor; raise limit or narrow the words.'
    : 'The cursor belongs to another search; repeat the search without it.';
  const code = path.endsWith('/hybrid') ? 'invalid_request' : 'invalid_cursor';
  return { status: 400, body: { error: { type: 'invalid_request_error', code, message, param: 'cursor' } } };
}
