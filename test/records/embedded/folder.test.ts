import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { ALL_OF, jsonLines, type RecordWorld, recordWorld } from './world.ts';

function folderWorld(): RecordWorld & { folder: string } {
  const world = recordWorld();
  const folder = join(world.root, 'orders');
  mkdirSync(folder);
  world.grant([ALL_OF('folder-orders', { kind: 'folder', path: folder, name: 'orders' })]);
  return Object.assign(world, { folder });
}

async function rows(world: RecordWorld, target: string): Promise<Record<string, unknown>[]> {
  await world.provider.refresh();
  const { body } = await world.get(target);
  return (body.data ?? []).map(({ data }) => data);
}

const orders = Array.from({ length: 30 }, (_, n) => ({
  id: `o${n}`,
  customer: ['ada', 'bob', 'cyd'][n % 3],
  total: n * 1.5,
  paid: n % 2 === 0,
  ordered_at: `2026-03-${String((n % 28) + 1).padStart(2, '0')} 10:00`,
  note: n === 7 ? 'deliver by bicycle' : `note ${n}`,
}));

describe('a granted folder', () => {
  it('has the rows of JSON lines with inferred types', async () => {
    const world = folderWorld();
    world.write('orders/orders.jsonl', jsonLines(orders));
    const [order] = await rows(world, '/v1/streams/orders/records?filter[total][gte]=42');
    expect(order).toEqual({
      id: 'o29',
      customer: 'cyd',
      total: 43.5,
      paid: false,
      ordered_at: '2026-03-02T10:00:00.000Z',
      note: 'note 29',
      more: null,
    });
    const { body } = await world.get('/v1/schema?view=compact&stream=orders');
    expect(JSON.stringify(body)).toContain('"total":"t=number,eq,r=gte|gt|lte|lt,a=sum|min|max"');
    const sum = await world.get('/v1/streams/orders/aggregate?metric=sum&field=total&group_by=customer');
    expect(sum.body.groups).toEqual([
      { key: 'cyd', value: 232.5, count: 10 },
      { key: 'bob', value: 217.5, count: 10 },
      { key: 'ada', value: 202.5, count: 10 },
    ]);
    const found = await world.get('/v1/search?q=bicycle');
    expect(found.body.data).toMatchObject([{ record_key: 'o7', snippet: { text: 'deliver by <mark>bicycle</mark>' } }]);
  });

  it('continues JSON lines that grow, and keeps what does not fit apart', async () => {
    const world = folderWorld();
    const many = Array.from({ length: 2_500 }, (_, n) => ({ id: n + 1, size: n }));
    const file = world.write('orders/log.jsonl', jsonLines(many));
    expect(await rows(world, '/v1/streams/log/records?limit=1&filter[id]=2500')).toMatchObject([{ size: 2_499 }]);
    appendFileSync(file, `${JSON.stringify({ id: 2_501, size: 'large', colour: 'red' })}\n{"id":\n`);
    const [late] = await rows(world, '/v1/streams/log/records?filter[id]=2501');
    expect(late).toEqual({ id: 2_501, size: null, more: { size: 'large', colour: 'red' } });
    expect((await world.provider.status()).connections).toMatchObject([{ malformed: 1 }]);
  });

  it('has the rows of CSV, JSON and SQLite files', async () => {
    const world = folderWorld();
    world.write('orders/people.csv', '\ufeffname,age,quote\nAda,36,"said ""hi""\nto Bob"\nBob,41,none\n');
    world.write('orders/report.json', JSON.stringify({ made: 'today', cities: [{ key: 'x', city: 'Oslo' }] }));
    const db = new DatabaseSync(join(world.folder, 'shop.db'));
    db.exec(
      "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, data BLOB); INSERT INTO items VALUES (1, 'lamp', x'00')",
    );
    db.close();
    const before = readdirSync(world.folder);
    expect(await rows(world, '/v1/streams/people/records')).toMatchObject([
      { row: 2, name: 'Bob', age: 41 },
      { row: 1, name: 'Ada', age: 36, quote: 'said "hi"\nto Bob' },
    ]);
    expect(await rows(world, '/v1/streams/report_cities/records')).toMatchObject([{ key: 'x', city: 'Oslo' }]);
    expect(await rows(world, '/v1/streams/shop_items/records')).toMatchObject([{ name: 'lamp', data: '(1 bytes)' }]);
    expect(readdirSync(world.folder)).toEqual(before);
  });

  it('follows a changed file, with tombstones for rows that are gone', async () => {
    const world = folderWorld();
    const file = world.write('orders/people.csv', 'id,name\na,Ada\nb,Bob\n');
    await rows(world, '/v1/streams/people/records');
    const first = await world.get('/v1/streams/people/records?changes_since=beginning');
    writeFileSync(file, 'id,name\nb,Bert\nc,Cyd\n');
    await world.provider.refresh();
    const bookmark = encodeURIComponent(String(first.body.next_changes_since));
    const { body } = await world.get(`/v1/streams/people/records?changes_since=${bookmark}`);
    expect(body.data?.map(({ id, deleted, data }) => [id, deleted ?? data.name]).sort()).toEqual([
      ['a', true],
      ['b', 'Bert'],
      ['c', 'Cyd'],
    ]);
  });

  it('loses the streams of removed files', async () => {
    const world = folderWorld();
    const file = world.write('orders/people.csv', 'id,name\na,Ada\n');
    world.write('orders/pets.csv', 'id,name\nr,Rex\n');
    expect(await rows(world, '/v1/streams/people/records')).toHaveLength(1);
    rmSync(file);
    await world.provider.refresh();
    expect((await world.get('/v1/streams/people/records')).status).toBe(403);
    expect(await rows(world, '/v1/streams/pets/records')).toHaveLength(1);
  });

  it.skipIf(process.platform === 'win32')('is not left by a link', async () => {
    const world = folderWorld();
    world.write('orders/own.csv', 'id,name\na,Ada\n');
    const outside = world.write('private/secret.csv', 'id,name\ns,Secret\n');
    symlinkSync(outside, join(world.folder, 'secret.csv'));
    symlinkSync(join(world.root, 'private'), join(world.folder, 'private'));
    await world.provider.refresh();
    const { body } = await world.get('/v1/streams');
    expect(body.data?.map(({ name }) => name)).toEqual(['own']);
    renameSync(world.folder, `${world.folder}-moved`);
    symlinkSync(join(world.root, 'private'), world.folder);
    expect((await world.provider.refresh()).connections).toMatchObject([
      { problem: expect.stringContaining('granted') },
    ]);
    expect(JSON.stringify((await world.get('/v1/search?q=secret')).body)).not.toContain('Secret');
  });

  it('takes no name in a file for SQL or a path', async () => {
    const world = folderWorld();
    world.write('orders/a; DROP TABLE r1--.csv', 'id,"x"") FROM r1; --",c0\n1,two,3\n');
    const [row] = await rows(world, '/v1/streams/a_DROP_TABLE_r1--/records');
    expect(row).toMatchObject({ id: 1, 'x") FROM r1; --': 'two', c0: 3 });
  });
});
