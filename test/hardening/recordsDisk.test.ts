import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { EmbeddedProvider } from '../../src/records/embedded/embeddedProvider.ts';
import { jsonLines, type RecordWorld, recordWorld, STATE } from '../records/embedded/world.ts';
import { atEnd } from '../support/lifetime.ts';
import { makeHistory, writeHistory } from '../support/recordHistory.ts';

const CALLS = 40_000;
const database = (world: RecordWorld): string => join(world.options.stateFolder, 'records.db');

async function total(world: RecordWorld, stream = 'calls'): Promise<unknown> {
  return (await world.get(`/v1/streams/${stream}/aggregate?metric=count`)).body.value;
}

function filledWorld(calls: number): RecordWorld {
  const world = recordWorld();
  writeHistory(makeHistory(Date.now(), calls), { stateFolder: world.options.stateFolder, home: world.home });
  return world;
}

/** Loads the records in a process of its own, which says how many rows of calls are committed. */
function startLoader(world: RecordWorld): ReturnType<typeof fork> {
  const script = resolve('test/records/embedded/loader.ts');
  const child = fork(script, [JSON.stringify(world.options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  atEnd(() => child.kill('SIGKILL'));
  return child;
}

describe('a loader that is killed', () => {
  it('leaves whole transactions, and the next one continues to the exact number', async () => {
    const world = filledWorld(CALLS);
    const seen: number[] = [];
    for (let kill = 0; kill < 3; kill += 1) {
      const child = startLoader(world);
      const enough = (seen.at(-1) ?? 0) + 1;
      child.send({ until: enough });
      const [{ calls }] = (await once(child, 'message')) as [{ calls: number }];
      child.kill('SIGKILL');
      await once(child, 'exit');
      seen.push(calls);
      if (calls === CALLS) break;
      const db = new DatabaseSync(database(world), { readOnly: true });
      expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
      db.close();
    }
    // A kill came while there was more to load.
    expect(seen[0]).toBeLessThan(CALLS);
    await world.provider.refresh();
    expect(await total(world)).toBe(CALLS);
    const { body } = await world.get('/v1/search?q=refund_order&streams=calls&limit=1');
    expect(body.data).toHaveLength(1);
  });
});

describe('a damaged database', () => {
  it('is made anew when the damage shows in a read, and nothing of it is served', async () => {
    const world = filledWorld(5_000);
    await world.provider.refresh();
    await world.provider.dispose();
    const { size } = statSync(database(world));
    const fd = openSync(database(world), 'r+');
    // The first pages have the schema, so that it opens.
    for (let at = 4_096 * 40; at < size; at += 4_096) writeSync(fd, Buffer.alloc(4_096, 0x5a), 0, 4_096, at);
    closeSync(fd);
    world.provider = world.open();
    await world.provider.refresh();
    expect(await total(world)).toBe(5_000);
    expect(await world.provider.status()).toMatchObject({ rebuilt: 'it is damaged' });
  });

  it('is made anew by a version with other tables', async () => {
    const world = filledWorld(100);
    await world.provider.refresh();
    await world.provider.dispose();
    const db = new DatabaseSync(database(world));
    db.exec("UPDATE meta SET value = 'waygate-records-0' WHERE name = 'layout'");
    db.close();
    world.provider = world.open();
    await world.provider.refresh();
    expect(await total(world)).toBe(100);
    expect(await world.provider.status()).toMatchObject({ rebuilt: 'another version of Waygate made it' });
  });
});

const isRoot = process.platform === 'linux' && process.getuid?.() === 0;

it.runIf(isRoot)('a full disk stops loading with one sentence, and reads go on', async (context) => {
  const world = recordWorld();
  const state = join(world.root, STATE);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m,mode=0700', 'tmpfs', state], { stdio: 'ignore' });
  } catch {
    context.skip('mounts are not permitted');
  }
  atEnd(() => void execFileSync('umount', ['-l', state]));
  const folder = join(world.root, 'data');
  mkdirSync(folder);
  const row = (n: number): object => ({ id: n, text: `row ${n} ${'words '.repeat(40)}` });
  const rows = (from: number, to: number): string =>
    jsonLines(Array.from({ length: to - from }, (_, n) => row(from + n)));
  const file = join(folder, 'rows.jsonl');
  writeFileSync(file, rows(0, 2_000));
  const source = { kind: 'folder', path: folder, name: 'data' } as const;
  world.grant([{ id: 'g', connection: 'folder-data', source, streams: 'all', created: new Date().toISOString() }]);
  await world.provider.refresh();
  expect(await total(world, 'rows')).toBe(2_000);
  appendFileSync(file, rows(2_000, 40_000));
  const { connections } = await world.provider.refresh();
  expect(connections).toMatchObject([
    { problem: expect.stringMatching(/^The disk of .* is full.*free some space\.$/) },
  ]);
  const kept = await total(world, 'rows');
  expect(kept).toBeGreaterThanOrEqual(2_000);
  expect(kept).toBeLessThan(40_000);
  expect((await world.get('/v1/search?q=words&limit=3')).body.data).toHaveLength(3);
  // The place in the file belongs to the committed rows, so nothing is lost once there is room.
  execFileSync('mount', ['-o', 'remount,size=200m', state]);
  await world.provider.refresh();
  expect(await total(world, 'rows')).toBe(40_000);
});

/** Returns a provider whose Node has none of the given modules. */
function providerWithout(world: RecordWorld, ...modules: string[]): EmbeddedProvider {
  const script = world.write(
    'thread.mjs',
    `Object.defineProperty(process.versions, 'node', { value: '20.12.0' });
     import { registerHooks } from 'node:module';
     registerHooks({ resolve: (name, context, next) => {
       if (${JSON.stringify(modules)}.includes(name)) throw new Error('No such module: ' + name);
       return next(name, context);
     } });
     await import(${JSON.stringify(resolve('src/records/embedded/recordsThread.ts'))});`,
  );
  const provider = new EmbeddedProvider(world.options, new URL(`file://${script}`));
  atEnd(() => provider.dispose());
  return provider;
}

describe('without node:sqlite', () => {
  it('the error says which Node is needed', async () => {
    const provider = providerWithout(recordWorld(), 'node:sqlite', 'node-sqlite3-wasm');
    await expect(provider.get({ path: '/v1/streams', query: [] })).rejects.toThrow(
      'Records are kept with node:sqlite, which needs Node 22.13 or newer; this is Node 20.12.0. Update Node, or install the package node-sqlite3-wasm beside waygate.',
    );
  });

  it('an installed node-sqlite3-wasm keeps the records in memory, and a purge removes the file of a newer Node', async () => {
    const world = recordWorld();
    const folder = join(world.root, 'data');
    mkdirSync(folder);
    const rows = Array.from({ length: 3_000 }, (_, n) => ({ id: n, text: `row ${n} words` }));
    writeFileSync(join(folder, 'rows.jsonl'), jsonLines(rows));
    const source = { kind: 'folder', path: folder, name: 'data' } as const;
    world.grant([{ id: 'g', connection: 'folder-data', source, streams: 'all', created: new Date().toISOString() }]);
    await world.provider.refresh();
    const { file } = await world.provider.status();
    expect(existsSync(file)).toBe(true);
    const provider = providerWithout(world, 'node:sqlite');
    // Reads are answered while the records are loaded by the same connection.
    const early = await provider.get({ path: '/v1/streams', query: [] });
    expect(early.status).toBe(200);
    const state = await provider.refresh();
    expect(state).toMatchObject({ inMemory: true, connections: [{ streams: [{ name: 'rows', records: 3_000 }] }] });
    expect(state.bytes).toBeGreaterThan(100_000);
    const found = await provider.get({ path: '/v1/search', query: [['q', '"row 17"']] });
    expect(JSON.stringify(found.body)).toContain('<mark>row 17</mark> words');
    world.grant([]);
    expect(await provider.purge()).toMatchObject({ connections: [] });
    expect(existsSync(file)).toBe(false);
  });
});
