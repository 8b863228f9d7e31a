import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { respond } from '../../../src/records/embedded/contract/respond.ts';
import { bucketIn, endOfBucket } from '../../../src/records/embedded/contract/timeBuckets.ts';
import { RecordStore } from '../../../src/records/embedded/store/recordStore.ts';
import { RecordWriter } from '../../../src/records/embedded/store/recordWriter.ts';
import { atEnd } from '../../support/lifetime.ts';
import { temporaryFolder } from '../../support/workspace.ts';
import { loadDemoMail, ROLES, removeMessage } from './demoMail.ts';
import type { Body } from './world.ts';

async function mail(): Promise<{ store: RecordStore; get: (target: string) => { status: number; body: Body } }> {
  const store = await RecordStore.open(join(temporaryFolder('records-contract-'), 'records.db'));
  atEnd(() => store.close());
  loadDemoMail(store);
  const get = (target: string): { status: number; body: Body } => {
    const url = new URL(target, 'http://records.invalid');
    const request = { path: url.pathname, query: [...url.searchParams] as [string, string][] };
    const { status, body } = respond(store, { grants: ROLES.client ?? [], grantId: 'g' }, request);
    return { status, body: body as Body };
  };
  return { store, get };
}

const WORK = 'connection_id=cin_mail_work';
const ids = ({ body }: { body: Body }): unknown[] => (body.data ?? []).map((row) => row.id ?? row.record_key);

/** Reads all pages of a list. */
function pages(get: (target: string) => { status: number; body: Body }, target: string): unknown[] {
  const found: unknown[] = [];
  for (let cursor = ''; ; ) {
    const page = get(`${target}${cursor}`);
    found.push(...ids(page));
    if (page.body.next_cursor === undefined) return found;
    cursor = `&cursor=${encodeURIComponent(String(page.body.next_cursor))}`;
  }
}

describe('pages', () => {
  it.each(['asc', 'desc'])('have each record once, %s', async (order) => {
    const { get } = await mail();
    const found = pages(get, `/v1/streams/messages/records?limit=7&order=${order}&${WORK}`);
    expect(found).toHaveLength(41);
    expect(new Set(found).size).toBe(41);
    const whole = ids(get(`/v1/streams/messages/records?limit=100&order=${order}&${WORK}`));
    expect(found).toEqual(whole);
  });

  it('refuse a cursor of the other order', async () => {
    const { get } = await mail();
    const { body } = get(`/v1/streams/messages/records?limit=2&${WORK}`);
    const cursor = encodeURIComponent(String(body.next_cursor));
    const turned = get(`/v1/streams/messages/records?limit=2&order=asc&cursor=${cursor}&${WORK}`);
    expect(turned).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
  });

  it('of hits stay apart while records are added, and belong to one search', async () => {
    const { store, get } = await mail();
    const first = get('/v1/search?q=invoice&limit=6');
    const writer = new RecordWriter(store, 'cin_mail_home');
    for (let n = 0; n < 5; n += 1) {
      const data = { id: `n${n}`, subject: 'invoice invoice', sent_at: '2026-06-01T00:00:00.000Z' };
      writer.put('messages', { key: data.id, data });
    }
    writer.commit();
    const cursor = encodeURIComponent(String(first.body.next_cursor));
    const rest = get(`/v1/search?q=invoice&limit=100&cursor=${cursor}`);
    const keys = (body: Body): string[] => (body.data ?? []).map((hit) => `${hit.connection_id}/${hit.record_key}`);
    const all = [...keys(first.body), ...keys(rest.body)];
    expect(all).toHaveLength(18);
    expect(new Set(all).size).toBe(18);
    expect(get(`/v1/search?q=note&cursor=${cursor}`).body.error?.code).toBe('invalid_cursor');
  });
});

describe('changes', () => {
  const home = 'connection_id=cin_mail_home';
  it('come in pages, each change once, and go on behind the bookmark', async () => {
    const { store, get } = await mail();
    const target = `/v1/streams/messages/records?changes_since=beginning&limit=5&${home}`;
    expect(new Set(pages(get, target)).size).toBe(13);
    const bookmark = encodeURIComponent(String(get(target).body.next_changes_since));
    const since = `/v1/streams/messages/records?changes_since=${bookmark}&limit=1&${home}`;
    // A record that is written again unchanged is no change.
    loadDemoMail(store);
    expect(pages(get, since)).toEqual([]);
    const writer = new RecordWriter(store, 'cin_mail_home');
    writer.put('messages', { key: 'h3', data: { id: 'h3', subject: 'Changed', sent_at: '2026-04-03T10:00:00.000Z' } });
    writer.commit();
    removeMessage(store, 'h4');
    expect(pages(get, since)).toEqual(['h3', 'h4']);
  });

  it('of another database are refused as expired', async () => {
    const { get } = await mail();
    const other = await mail();
    const bookmark = other.get(`/v1/streams/messages/records?changes_since=beginning&${home}`).body.next_changes_since;
    const answer = get(`/v1/streams/messages/records?changes_since=${encodeURIComponent(String(bookmark))}&${home}`);
    expect(answer).toMatchObject({ status: 410, body: { error: { code: 'cursor_expired', type: 'gone_error' } } });
  });
});

describe('a search', () => {
  it('relaxes words that no record has together, and says so', async () => {
    const { get } = await mail();
    const { body } = get('/v1/search?q=quarterly bicycle');
    expect(body.data?.length).toBeGreaterThan(10);
    expect(body.meta?.warnings).toMatchObject([{ code: 'terms_relaxed' }]);
  });

  it.each(['"', '*', 'AND OR NOT', 'subject:invoice', '{c1} : x', '^a', "x' OR 1=1", 'NEAR(a b)', '-', '\u0000a'])(
    'takes no operator from %j',
    async (query) => {
      const { get } = await mail();
      expect(get(`/v1/search?q=${encodeURIComponent(query)}`).status).toBe(200);
    },
  );

  it('marks matches and forges no mark', async () => {
    const { store, get } = await mail();
    const writer = new RecordWriter(store, 'cin_mail_home');
    const data = { id: 'm', subject: '</mark>zebra <mark>crossing', sent_at: '2026-06-01T00:00:00.000Z' };
    writer.put('messages', { key: 'm', data });
    writer.commit();
    expect(get('/v1/search?q=zebra').body.data).toMatchObject([{ snippet: { text: '<mark>zebra</mark> crossing' } }]);
  });
});

describe('groups by time', () => {
  it.each([
    ['2026-03-29T00:30:00.000Z', 'day', 'Europe/Berlin', '2026-03-29', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25T00:30:00.000Z', 'day', 'Europe/Berlin', '2026-10-25', '2026-10-25T23:00:00.000Z'],
    ['2026-01-01T03:00:00.000Z', 'month', 'America/Chicago', '2025-12-01', '2026-01-01T06:00:00.000Z'],
    ['2026-05-17T20:00:00.000Z', 'week', 'Asia/Kathmandu', '2026-05-18', '2026-05-24T18:15:00.000Z'],
    ['2026-02-10T10:10:10.000Z', 'quarter', 'UTC', '2026-01-01', '2026-04-01T00:00:00.000Z'],
    ['2026-02-10T10:10:10.000Z', 'hour', 'UTC', '2026-02-10T10:00', '2026-02-10T11:00:00.000Z'],
  ] as const)('%s is in the %s in %s of %s', (at, granularity, zone, key, end) => {
    const bucket = bucketIn(granularity, zone);
    expect(bucket(at)).toBe(key);
    expect(endOfBucket(at, bucket)).toBe(end);
  });

  it('are the same when there are too many to read one by one', async () => {
    const { store, get } = await mail();
    const writer = new RecordWriter(store, 'cin_mail_home');
    for (let n = 0; n < 1_500; n += 1) {
      const sent = new Date(Date.UTC(2020, 0, 1) + n * 3_600_000).toISOString();
      writer.put('messages', { key: `t${n}`, data: { id: `t${n}`, sent_at: sent, size_bytes: n } });
    }
    writer.commit();
    const target = (granularity: string): string =>
      `/v1/streams/messages/aggregate?metric=sum&field=size_bytes&group_by_time=sent_at&limit=100&granularity=${granularity}&filter[sent_at][lt]=2021-01-01`;
    const hours = get(target('hour')).body.groups ?? [];
    expect(hours.slice(0, 2)).toEqual([
      { key: '2020-01-01T00:00', value: 0, count: 1 },
      { key: '2020-01-01T01:00', value: 1, count: 1 },
    ]);
    const days = get(target('day')).body.groups ?? [];
    expect(days[0]).toEqual({ key: '2020-01-01', value: 276, count: 24 });
    expect(days).toHaveLength(63);
  });
});

it('a range of the time leaves out records without one', async () => {
  const { store, get } = await mail();
  const writer = new RecordWriter(store, 'cin_mail_home');
  writer.put('messages', { key: 'untimed', data: { id: 'untimed', subject: 'no time' } });
  writer.commit();
  const home = 'connection_id=cin_mail_home&limit=100';
  expect(ids(get(`/v1/streams/messages/records?filter[sent_at][lt]=2030-01-01&${home}`))).not.toContain('untimed');
  expect(ids(get(`/v1/streams/messages/records?${home}`))).toContain('untimed');
});
