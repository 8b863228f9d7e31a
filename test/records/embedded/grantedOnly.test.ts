import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { respond } from '../../../src/records/embedded/contract/respond.ts';
import type { Grant } from '../../../src/records/embedded/contract/visible.ts';
import type { StreamDeclaration } from '../../../src/records/embedded/store/declaration.ts';
import { RecordStore } from '../../../src/records/embedded/store/recordStore.ts';
import { RecordWriter } from '../../../src/records/embedded/store/recordWriter.ts';
import { shared } from '../../support/lifetime.ts';
import { temporaryFolder } from '../../support/workspace.ts';

const FIELDS = ['title', 'body', 'owner', 'amount', 'flag', 'tags'] as const;
const CONNECTIONS = ['north', 'south', 'west'];
const STREAMS = ['letters', 'bills', 'notes'];
const ROWS = 12;

const declaration = (name: string): StreamDeclaration => ({
  name,
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: { type: 'string' },
    at: { type: 'date-time' },
    title: { type: 'string', lexical: true },
    body: { type: 'string', lexical: true },
    owner: { type: 'string', groupBy: true, distinct: true, lexical: true },
    amount: { type: 'integer' },
    flag: { type: 'boolean', groupBy: true },
    tags: { type: 'array' },
  },
  relations: STREAMS.filter((other) => other !== name).map((other) => ({
    name: `to_${other}`,
    stream: other,
    cardinality: 'has_many',
    foreignKey: 'owner',
    defaultLimit: 5,
    maxLimit: 5,
  })),
});

const timeOf = (row: number): string => new Date(Date.UTC(2026, row, 1)).toISOString();

/** Word that is nowhere but in one field of one record. */
const mark = (connection: string, stream: string, row: number, field: string): string =>
  `z${connection}q${stream}q${row}q${field}z`;
/** Number that is nowhere but in one record. */
const amountOf = (connection: string, stream: string, row: number): number =>
  7_000_000 + CONNECTIONS.indexOf(connection) * 10_000 + STREAMS.indexOf(stream) * 1_000 + row;

function dataOf(connection: string, stream: string, row: number): Record<string, unknown> {
  const own = (field: string): string => mark(connection, stream, row, field);
  return {
    id: `k${row}`,
    at: timeOf(row),
    title: `common ${own('title')}`,
    body: `common word of ${own('body')}`,
    owner: own('owner'),
    amount: amountOf(connection, stream, row),
    flag: row % 2 === 0,
    tags: [own('tags')],
  };
}

function load(store: RecordStore): void {
  for (const connection of CONNECTIONS) {
    const place = { id: connection, connectorKey: connection === 'west' ? 'single' : 'pair', displayName: connection };
    store.declare(place, STREAMS.map(declaration));
    const writer = new RecordWriter(store, connection);
    for (const stream of STREAMS) {
      for (let row = 0; row < ROWS; row += 1) {
        writer.put(stream, { key: `k${row}`, data: dataOf(connection, stream, row), emittedAt: timeOf(0) });
      }
      // A removed record of each stream leaves a tombstone.
      const gone = { id: 'gone', at: timeOf(3) };
      writer.put(stream, { key: 'gone', data: gone });
      writer.delete(stream, 'gone');
    }
    writer.commit();
  }
}

const fieldList = fc.oneof(fc.constant('all' as const), fc.subarray([...FIELDS]));
const time = fc.option(fc.integer({ min: 0, max: ROWS }).map(timeOf), { nil: undefined });
const grant = (connection: string): fc.Arbitrary<Grant> =>
  fc
    .record({
      streams: fc.oneof(
        fc.constant('all' as const),
        fc
          .subarray(STREAMS)
          .chain((names) => fc.tuple(...names.map((name) => fieldList.map((fields) => ({ name, fields }))))),
      ),
      since: time,
      until: time,
      expires: fc.option(fc.constantFrom('2020-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z'), { nil: undefined }),
    })
    .map(({ since, until, expires, streams }) => ({
      id: `grt_${connection}`,
      connection,
      streams,
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(expires !== undefined && { expires }),
    }));
const grants = fc.subarray(CONNECTIONS).chain((names) => fc.tuple(...names.map(grant)));

/** Requests of every route, with and without ungranted names in every place that takes one. */
const field = fc.constantFrom(...FIELDS, 'id', 'at');
const stream = fc.constantFrom(...STREAMS);
const place = fc.oneof(
  fc.constant(''),
  fc.constantFrom(...CONNECTIONS).map((one) => `&connection_id=${one}`),
);
const word = fc
  .tuple(fc.constantFrom(...CONNECTIONS), stream, fc.nat({ max: ROWS - 1 }), fc.constantFrom(...FIELDS))
  .map(([connection, name, row, of]) => mark(connection, name, row, of));
const key = fc.oneof(
  fc.constant('gone'),
  fc.nat({ max: ROWS }).map((row) => `k${row}`),
);
const records = (name: string): string => `/v1/streams/${name}/records`;
const target = fc.oneof(
  place.map((at) => `/v1/schema?view=compact${at}`),
  fc.tuple(stream, place).map(([name, at]) => `/v1/schema?detail=full&stream=${name}${at}`),
  place.map((at) => `/v1/streams?x${at}`.replace('?x&', '?').replace('?x', '')),
  stream.map((name) => `/v1/streams/${name}`),
  fc.constant('/v1/connectors'),
  fc.tuple(stream, place).map(([name, at]) => `${records(name)}?limit=100&count=exact&window=exact${at}`),
  fc.tuple(stream, field, place).map(([name, of, at]) => `${records(name)}?limit=100&fields=${of}${at}`),
  fc.tuple(stream, field, word, place).map(([name, of, value, at]) => `${records(name)}?filter[${of}]=${value}${at}`),
  fc.tuple(stream, place).map(([name, at]) => `${records(name)}?filter[amount][gte]=0&limit=100${at}`),
  fc.tuple(stream, place).map(([name, at]) => `${records(name)}?changes_since=beginning&limit=100${at}`),
  fc.tuple(stream, stream, place).map(([name, to, at]) => `${records(name)}?expand=to_${to}&limit=100${at}`),
  fc
    .tuple(stream, key, place)
    .map(([name, id, at]) => `${records(name)}/${id}?x${at}`.replace('?x&', '?').replace('?x', '')),
  fc
    .tuple(stream, fc.constantFrom('min', 'max', 'sum', 'count_distinct'), field, place)
    .map(([name, metric, of, at]) => `/v1/streams/${name}/aggregate?metric=${metric}&field=${of}${at}`),
  fc
    .tuple(stream, field, place)
    .map(([name, of, at]) => `/v1/streams/${name}/aggregate?metric=count&group_by=${of}&limit=100${at}`),
  fc
    .tuple(stream, place)
    .map(
      ([name, at]) => `/v1/streams/${name}/aggregate?metric=count&group_by_time=at&granularity=month&limit=100${at}`,
    ),
  fc
    .tuple(fc.oneof(word, fc.constantFrom('common', 'word', 'z*')), place)
    .map(([q, at]) => `/v1/search?q=${q}&limit=100${at}`),
  fc.tuple(word, stream).map(([q, name]) => `/v1/search?q=${q}&streams=${name}`),
);

function grantOf(all: readonly Grant[], connection: string): Grant | undefined {
  return all.find((one) => one.connection === connection && (one.expires ?? '9') > '2026-11-01');
}

/** What an answer must not hold, computed from the grants without the code under test. */
function hidden(all: readonly Grant[]): string[] {
  return CONNECTIONS.flatMap((connection) =>
    STREAMS.flatMap((name) => {
      const own = grantOf(all, connection);
      const granted =
        own?.streams === 'all' ? { fields: 'all' as const } : own?.streams.find((one) => one.name === name);
      return Array.from({ length: ROWS }, (_, row) => row).flatMap((row) => {
        const isInTime = timeOf(row) >= (own?.since ?? '') && timeOf(row) < (own?.until ?? '9');
        const shown = (of: string): boolean =>
          granted !== undefined && isInTime && (granted.fields === 'all' || (granted.fields as string[]).includes(of));
        return FIELDS.filter((of) => !shown(of)).flatMap((of) => {
          if (of === 'amount') return [String(amountOf(connection, name, row))];
          return of === 'flag' ? [] : [mark(connection, name, row, of)];
        });
      });
    }),
  );
}

describe('a random grant', () => {
  const store = shared(async () => {
    const opened = await RecordStore.open(join(temporaryFolder('records-grants-'), 'records.db'));
    load(opened);
    return opened;
  });

  const ask = (
    all: readonly Grant[],
    address: string,
    from = store(),
  ): { status: number; text: string; body: unknown } => {
    const url = new URL(address, 'http://records.invalid');
    const request = { path: url.pathname, query: [...url.searchParams] as [string, string][] };
    const { status, body } = respond(from, { grants: all, grantId: 'grt' }, request, new Date('2026-11-19'));
    const { links: _, ...rest } = body as Record<string, unknown>;
    return { status, text: JSON.stringify(rest), body };
  };

  it('shows no field, stream, connection or time beyond it in any answer', () => {
    const statuses = new Map<number, number>();
    fc.assert(
      fc.property(grants, fc.array(target, { minLength: 4, maxLength: 12 }), (all, targets) => {
        const forbidden = hidden(all);
        const open = CONNECTIONS.filter((connection) => grantOf(all, connection));
        for (const address of targets) {
          const { status, text, body } = ask(all, address);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          // The request's own words may be repeated by an error.
          const found = forbidden.filter((one) => text.includes(one) && !address.includes(one));
          expect(found, address).toEqual([]);
          if (status !== 200) continue;
          const rows = JSON.stringify((body as { data?: unknown }).data ?? '');
          const strays = CONNECTIONS.filter((one) => !open.includes(one) && rows.includes(`"connection_id":"${one}"`));
          expect(strays, address).toEqual([]);
        }
      }),
      { seed: 16, numRuns: 500 },
    );
    // Most requests are answered, and many are refused.
    expect(statuses.get(200)).toBeGreaterThan(1_000);
    expect(statuses.get(403)).toBeGreaterThan(300);
  });

  it('answers the same whatever the hidden values are', async () => {
    const twin = await RecordStore.open(join(temporaryFolder('records-twin-'), 'records.db'));
    const all: Grant[] = [
      { id: 'g', connection: 'north', streams: [{ name: 'letters', fields: ['title'] }], until: timeOf(6) },
    ];
    load(twin);
    const writer = new RecordWriter(twin, 'north', () => new Date(0));
    for (let row = 0; row < ROWS; row += 1) {
      const isHidden = row >= 6;
      const other = { body: `common ${'common '.repeat(row)}`, owner: 'x', amount: row, tags: ['y'], flag: null };
      const data = { ...dataOf('north', 'letters', row), ...other, ...(isHidden && { title: 'common common' }) };
      writer.put('letters', { key: `k${row}`, data, emittedAt: timeOf(0) });
    }
    writer.commit();
    for (const address of [
      '/v1/search?q=common&limit=100',
      '/v1/search?q=word',
      '/v1/streams/letters/records?limit=100&count=exact&window=exact',
      '/v1/streams/letters/aggregate?metric=count&group_by_time=at&granularity=year',
      '/v1/streams/letters/records/k2',
      '/v1/streams',
    ]) {
      expect(ask(all, address, twin).text, address).toBe(ask(all, address).text);
    }
    twin.close();
  });
});
