import { describe, expect, it } from 'vitest';
import { CheckedProvider } from '../../src/records/grants/checkedProvider.ts';
import { GrantPackage } from '../../src/records/grants/grantPackage.ts';
import { Answering, call, member, schemaOf } from './fakes.ts';

const numbers = (count: number): number[] => [...Array(count).keys()];
const URL_OF = 'https://rs.example';

/** Source with hits `1`, `2`, … and cursors that are the number of the next hit. */
function source(hits: number, pageSize?: number): Answering {
  return new Answering(({ query }) => {
    const value = (key: string): string | undefined => query.find(([name]) => name === key)?.[1];
    const size = pageSize ?? Number(value('limit') ?? 25);
    const start = Number(value('cursor') ?? 0);
    const keys = numbers(hits).slice(start, start + size);
    const hasMore = start + size < hits;
    return {
      object: 'list',
      has_more: hasMore,
      ...(hasMore && { next_cursor: String(start + size) }),
      data: keys.map((key) => ({ stream: 'messages', record_key: `k${key}` })),
      meta: { count: hits, count_accuracy: 'exact', recall: { complete: true }, warnings: [] },
    };
  });
}

const idsOf = (structured: Record<string, unknown>): string[] =>
  (structured.results as { id: string }[]).map(({ id }) => id);

describe('a search over several grants', () => {
  it('gives every source its turn within the limit (R5.4)', async () => {
    const grants = new GrantPackage(
      [source(9), source(1), source(9)].map((one, at) => member(one, at)),
      URL_OF,
    );
    const { structured, data } = await call(grants, 'search', { q: 'x', limit: 5 });
    expect(idsOf(structured)).toEqual([
      'cin_0/messages:k0',
      'cin_1/messages:k0',
      'cin_2/messages:k0',
      'cin_0/messages:k1',
      'cin_2/messages:k1',
    ]);
    expect(data).toMatchObject({
      has_more: true,
      meta: { count: 19, package: { member_count: 3, returned_hit_count: 5 } },
    });
  });

  it.each([
    [3, undefined],
    [5, undefined],
    [7, 2],
    [100, 4],
  ])('pages with limit %i over every hit once, whatever the pages of the sources (R5.4)', async (limit, pageSize) => {
    const sizes = [11, 0, 4, 23];
    const grants = new GrantPackage(
      sizes.map((hits, at) => member(source(hits, pageSize), at)),
      URL_OF,
    );
    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 60; pages++) {
      const { structured, data } = await call(grants, 'search', { q: 'x', limit, ...(cursor && { cursor }) });
      seen.push(...idsOf(structured));
      cursor = data.next_cursor as string | undefined;
      expect(data.has_more).toBe(cursor !== undefined);
      if (cursor === undefined) break;
    }
    expect(seen.length).toBe(38);
    expect(new Set(seen).size).toBe(38);
  });

  it('ends at a source whose cursors go in a circle', async () => {
    const circle = new Answering(() => ({
      has_more: true,
      next_cursor: 'SAME',
      data: [{ stream: 's', record_key: 'k' }],
    }));
    const grants = new GrantPackage([member(circle, 0), member(source(1), 1)], URL_OF);
    const first = await call(grants, 'search', { q: 'x' });
    const cursor = first.data.next_cursor;
    const { data } = await call(grants, 'search', { q: 'x', cursor });
    expect(data).not.toHaveProperty('next_cursor');
    expect(data.has_more).toBe(false);
  });

  it.each([
    ['of another search', { q: 'y' }],
    ['of other streams', { q: 'x', streams: ['messages'] }],
    ['of another mode', { q: 'x', mode: 'hybrid' }],
    ['that nobody made', { q: 'x', cursor: 'wg1.e30' }],
  ])('refuses a cursor %s (R5.4)', async (_whose, args) => {
    const sources = [source(9), source(9)];
    const grants = new GrantPackage(
      sources.map((one, at) => member(one, at)),
      URL_OF,
    );
    const { data } = await call(grants, 'search', { q: 'x', limit: 2 });
    const asked = sources.flatMap((one) => one.asked).length;
    const { error } = await call(grants, 'search', { cursor: data.next_cursor, limit: 2, ...args });
    expect(error?.code).toMatch(/^invalid_/);
    expect(sources.flatMap((one) => one.asked)).toHaveLength(asked);
  });

  it('returns a record of two grants once (R5.4)', async () => {
    const shared = { connections: [{ connectionId: 'cin_7' }] };
    const grants = new GrantPackage([member(source(2), 0, shared), member(source(3), 1, shared)], URL_OF);
    const { structured } = await call(grants, 'search', { q: 'x' });
    expect(idsOf(structured)).toEqual(['cin_7/messages:k0', 'cin_7/messages:k1', 'cin_7/messages:k2']);
  });

  it('asks only grants that have a named stream, and for that stream (R5.4)', async () => {
    const sources = [source(1), source(1)];
    const grants = new GrantPackage(
      sources.map((one, at) => member(one, at, { streams: at === 0 ? ['messages', 'notes'] : ['notes'] })),
      URL_OF,
    );
    await call(grants, 'search', { q: 'x', streams: ['messages', 'notes'] });
    const streams = sources.map((one) =>
      one.asked[0]?.query.filter(([key]) => key === 'streams').map(([, name]) => name),
    );
    expect(streams).toEqual([['messages', 'notes'], ['notes']]);
    await call(grants, 'search', { q: 'x', streams: ['messages'] });
    expect(sources[1]?.asked).toHaveLength(1);
  });

  it('warns of a failing source, and fails if all do (R5.5)', async () => {
    const down = new Answering(() => new Error('The record provider cannot be reached.'));
    const partial = await call(new GrantPackage([member(source(2), 0), member(down, 1)], URL_OF), 'search', { q: 'x' });
    expect(partial.text).toContain('source_unavailable');
    expect(partial.data).toMatchObject({ meta: { package: { partial: true } } });
    expect(partial.data).not.toHaveProperty('meta.count');
    const failed = await call(new GrantPackage([member(down, 0), member(down, 1)], URL_OF), 'search', { q: 'x' });
    expect(failed.error?.code).toBe('source_unavailable');
  });

  it('says that more may exist where one source ranked only a part', async () => {
    const bounded = new Answering(() => ({
      data: [],
      meta: { recall: { complete: false, candidate_window_limit: 200, truncated_source_count: 1 } },
    }));
    const { text } = await call(new GrantPackage([member(source(2), 0), member(bounded, 1)], URL_OF), 'search', {
      q: 'x',
    });
    expect(text).toMatch(/more matches may exist.*candidate_window_limit=200/);
  });
});

describe('a read of many sources', () => {
  it('asks at most 16 at the same time, and all of them (R5.6)', async () => {
    let open = 0;
    let most = 0;
    const slow = {
      url: URL_OF,
      get: async () => {
        most = Math.max(most, ++open);
        await new Promise((resolve) => setImmediate(resolve));
        open--;
        return { status: 200, body: { data: [{ stream: 's', record_key: 'k' }] } };
      },
      dispose: () => Promise.resolve(),
    };
    const grants = new GrantPackage(
      numbers(50).map((at) => member(slow, at)),
      URL_OF,
    );
    const { structured } = await call(grants, 'search', { q: 'x', limit: 100 });
    expect(idsOf(structured)).toEqual(numbers(50).map((at) => `cin_${at}/s:k`));
    expect(most).toBe(16);
  });
});

describe('a read of one source among several grants', () => {
  const five = (): Answering[] => numbers(5).map(() => new Answering(() => ({ data: [], has_more: false })));

  it.each([
    ['query_records', { stream: 'messages', expand: ['a'] }],
    ['aggregate', { stream: 'messages', metric: 'count' }],
    ['fetch', { id: 'messages:1', expand: ['a'] }],
  ])('needs a connection for %s; no source is asked (R5.3)', async (tool, args) => {
    const sources = five();
    const grants = new GrantPackage(
      sources.map((one, at) => member(one, at)),
      URL_OF,
    );
    const { error, structured } = await call(grants, tool, args);
    expect(structured.http_status).toBe(409);
    expect(error).toMatchObject({
      code: 'ambiguous_connection',
      retry_with: 'connection_id',
      available_connection_count: 5,
    });
    expect(error).not.toHaveProperty('available_connections_truncated');
    expect(sources.flatMap(({ asked }) => asked)).toEqual([]);
  });

  it('goes with one token to one grant, and to no other after a failure (R5.1)', async () => {
    const sources = numbers(3).map(
      () => new Answering(() => ({ status: 403, body: { error: { code: 'grant_revoked' } } })),
    );
    const grants = new GrantPackage(
      sources.map((one, at) => member(one, at)),
      URL_OF,
    );
    const { error } = await call(grants, 'query_records', { stream: 'messages', connection_id: 'cin_1' });
    expect(error?.code).toBe('grant_revoked');
    expect(sources.map(({ asked }) => asked.length)).toEqual([0, 1, 0]);
  });

  it('is refused within 20 ms of computing time among 500 sources, with 12 candidates (R5.3)', async () => {
    const one = new Answering(() => ({}));
    const grants = new GrantPackage(
      numbers(500).map((at) => member(one, at)),
      URL_OF,
    );
    await call(grants, 'aggregate', { stream: 'messages', metric: 'count' });
    const before = process.cpuUsage();
    const { error, text } = await call(grants, 'aggregate', { stream: 'messages', metric: 'count' });
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(20);
    expect(error?.available_connections).toHaveLength(12);
    expect(error).toMatchObject({
      available_connection_count: 500,
      available_connections_truncated: true,
      available_connections_omitted: 488,
      discovery_hint: expect.stringContaining('schema'),
    });
    expect(text).toContain('schema');
    expect(one.asked).toEqual([]);
  });

  it('of an unknown connection is not found, and nothing is asked (R5.3)', async () => {
    const sources = five();
    const grants = new GrantPackage(
      sources.map((one, at) => member(one, at)),
      URL_OF,
    );
    for (const tool of ['query_records', 'schema', 'search']) {
      const args = { ...(tool === 'search' ? { q: 'x' } : { stream: 'messages' }), connection_id: 'cin_9' };
      expect((await call(grants, tool, args)).error).toMatchObject({
        code: 'not_found',
        available_connection_count: 5,
      });
    }
    expect(sources.flatMap(({ asked }) => asked)).toEqual([]);
  });
});

describe('the schema of several grants', () => {
  const mail = new Answering(() => schemaOf({ streams: [{ name: 'messages', connections: ['cin_0'] }] }));
  const chat = new Answering(() => schemaOf({ key: 'chat', streams: [{ name: 'channels', connections: ['cin_1'] }] }));

  it('joins them, and warns of one that fails (R5.2, R5.5)', async () => {
    const down = new Answering(() => ({ status: 403, body: { error: { code: 'grant_revoked' } } }));
    const grants = new GrantPackage(
      [mail, chat, down].map((one, at) => member(one, at)),
      URL_OF,
    );
    const { text, data } = await call(grants, 'schema');
    expect(text).toMatch(/"messages"[\s\S]*"channels"[\s\S]*source_unavailable.*grant_revoked/);
    expect(data).toMatchObject({ package: { member_count: 3 }, meta: { package: { partial: true } } });
  });

  it('in full is read from the one source that has the stream (R5.2)', async () => {
    const grants = new GrantPackage(
      [mail, chat].map((one, at) => member(one, at)),
      URL_OF,
    );
    mail.asked.length = 0;
    chat.asked.length = 0;
    await call(grants, 'schema', { stream: 'channels', detail: 'full' });
    expect(
      [mail, chat].map(({ asked }) => asked.filter(({ query }) => query.some(([key]) => key === 'detail')).length),
    ).toEqual([0, 1]);
  });

  it('in full of two sources is ambiguous (R2.5)', async () => {
    const grants = new GrantPackage([member(mail, 0), member(mail, 1)], URL_OF);
    const { error } = await call(grants, 'schema', { stream: 'messages', detail: 'full' });
    expect(error).toMatchObject({ code: 'ambiguous_schema_detail', retry_with: 'connection_id' });
  });

  it('teaches the connections of a source that was silent before', async () => {
    const late = member(mail, 0, { connections: [], streams: undefined, connectorKey: undefined });
    const grants = new GrantPackage([late, member(chat, 1)], URL_OF);
    expect((await call(grants, 'query_records', { stream: 'messages', connection_id: 'cin_0' })).error?.code).toBe(
      'not_found',
    );
    await call(grants, 'schema');
    mail.asked.length = 0;
    await call(grants, 'query_records', { stream: 'messages', connection_id: 'cin_0' });
    expect(mail.asked).toHaveLength(1);
    expect(late).toMatchObject({ streams: ['messages'], connectorKey: 'mailbox' });
  });
});

describe('a checked token', () => {
  const answering = (schema: unknown) =>
    new Answering(({ path }) => (path === '/v1/schema' ? schema : { data: [], has_more: false }));
  const owner = { object: 'schema', bearer: { token_kind: 'Owner' }, connectors: [] };

  it.each([
    ['an owner', owner],
    ['a control plane', { ...owner, bearer: { token_kind: 'control_plane' } }],
    ['an owner, in a wrapped document', { data: owner }],
  ])('of %s is refused before any record is read (R6.3)', async (_whose, schema) => {
    const inner = answering(schema);
    const provider = new CheckedProvider(inner);
    for (const [tool, args] of [
      ['query_records', { stream: 's' }],
      ['schema', {}],
      ['search', { q: 'x' }],
    ] as const) {
      expect((await call(provider, tool, args)).error?.code).toBe('owner_credential_refused');
    }
    expect(inner.asked.map(({ path }) => path)).toEqual(['/v1/schema']);
  });

  it('of a client is checked once (R6.3)', async () => {
    const inner = answering(schemaOf());
    const provider = new CheckedProvider(inner);
    await Promise.all([call(provider, 'query_records', { stream: 's' }), call(provider, 'search', { q: 'x' })]);
    expect(inner.asked.filter(({ path }) => path === '/v1/schema')).toHaveLength(1);
  });

  it('that becomes an owner’s is refused from then on (R6.3)', async () => {
    let schema: unknown = schemaOf();
    const provider = new CheckedProvider(new Answering(({ path }) => (path === '/v1/schema' ? schema : { data: [] })));
    expect((await call(provider, 'query_records', { stream: 's' })).error).toBe(undefined);
    schema = owner;
    expect((await call(provider, 'schema')).error?.code).toBe('owner_credential_refused');
    expect((await call(provider, 'query_records', { stream: 's' })).error?.code).toBe('owner_credential_refused');
  });

  it('reads nothing while the schema cannot be had, and asks again (R6.3)', async () => {
    let schema: unknown = { status: 503, body: { error: { code: 'unavailable', message: 'later' } } };
    const inner = new Answering(({ path }) => (path === '/v1/schema' ? schema : { data: [] }));
    const provider = new CheckedProvider(inner);
    expect((await call(provider, 'query_records', { stream: 's' })).error?.code).toBe('unavailable');
    expect(inner.asked.every(({ path }) => path === '/v1/schema')).toBe(true);
    schema = schemaOf();
    expect((await call(provider, 'query_records', { stream: 's' })).error).toBe(undefined);
  });
});
