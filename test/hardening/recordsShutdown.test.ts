import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { RecordStore } from '../../src/records/embedded/store/recordStore.ts';
import { ALL_OF, jsonLines, type RecordWorld, recordWorld } from '../records/embedded/world.ts';
import { until } from '../support/hostProcess.ts';

const ROWS = 20_000;

function filledWorld(): RecordWorld {
  const world = recordWorld();
  const rows = Array.from({ length: ROWS }, (_, id) => ({ id, text: `row ${id} ${'words '.repeat(10)}` }));
  world.write('data/rows.jsonl', jsonLines(rows));
  world.grant([ALL_OF('folder-data', { kind: 'folder', path: join(world.root, 'data'), name: 'data' })]);
  return world;
}

const database = (world: RecordWorld): string => join(world.options.stateFolder, 'records.db');

/** Returns the range of each lock that this process holds on the file. */
function locksOn(file: string): string[] {
  const own = ` ${process.pid} `;
  const inode = `:${statSync(file).ino} `;
  const locks = readFileSync('/proc/locks', 'utf8').split('\n');
  return locks.filter((line) => line.includes(own) && line.includes(inode)).map((line) => line.split(inode)[1] ?? '');
}

it('a thread that is disposed of at any moment of a load ends by itself, and leaves whole transactions', async () => {
  const world = filledWorld();
  const exits: number[] = [];
  const onThread = (thread: Worker): void => void thread.once('exit', (code) => exits.push(code));
  process.on('worker', onThread);
  onTestFinished(() => void process.off('worker', onThread));
  const moments = [0, 60, 120, 200, 320];
  for (const ms of moments) {
    const provider = world.open();
    const asked = [provider.refresh(), provider.get({ path: '/v1/search', query: [['q', 'words']] })];
    const settled = Promise.allSettled(asked);
    await Promise.race([pause(ms), settled]);
    await provider.dispose();
    await settled;
  }
  await until('the end of all threads', () => exits.length === moments.length);
  // A thread that is terminated ends with 1.
  expect(exits).toEqual(moments.map(() => 0));
  const db = new DatabaseSync(database(world), { readOnly: true });
  expect(db.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  db.close();
  await world.provider.refresh();
  const { body } = await world.get('/v1/streams/rows/aggregate?metric=count');
  expect(body.value).toBe(ROWS);
});

it.runIf(process.platform === 'linux')(
  'a second connection in a process leaves the locks of the first one',
  async () => {
    const file = database(recordWorld());
    const first = await RecordStore.open(file);
    onTestFinished(() => first.close());
    const held = locksOn(file);
    expect(held).toHaveLength(1);
    const second = await RecordStore.open(file);
    onTestFinished(() => second.close());
    // Without them, another process may remove the log of the database under this one.
    expect(locksOn(file)).toEqual(held);
  },
);

it('maps no database into memory, because a page that is gone from the disk would end the process', async () => {
  const store = await RecordStore.open(database(recordWorld()));
  onTestFinished(() => store.close());
  for (const one of [store.reader, store.writer]) expect(one.get('PRAGMA mmap_size')).toEqual({ mmap_size: 0 });
});
