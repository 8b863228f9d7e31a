import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cacheFolder, fillOnce } from '../../scripts/lib/cache.mjs';
import { withLock } from '../../scripts/lib/lock.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wg-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('the cache is in the system’s cache folder, or where the user configures it', () => {
  expect(cacheFolder({}, 'linux', '/home/ada')).toBe('/home/ada/.cache/waygate');
  expect(cacheFolder({ XDG_CACHE_HOME: '/x' }, 'linux', '/home/ada')).toBe('/x/waygate');
  expect(cacheFolder({}, 'darwin', '/Users/ada')).toBe('/Users/ada/Library/Caches/waygate');
  expect(cacheFolder({ LOCALAPPDATA: '/local' }, 'win32', '/u')).toBe('/local/waygate/cache');
  expect(cacheFolder({ WAYGATE_CACHE: '/mine' }, 'linux', '/home/ada')).toBe('/mine');
});

test('an incomplete folder is not used, and the next attempt starts again', async () => {
  const target = join(folder, 'editor');
  const half = async (temporary: string) => {
    writeFileSync(join(temporary, 'half'), '');
    throw new Error('the network went away');
  };
  await expect(fillOnce(target, half)).rejects.toThrow('the network went away');
  expect(readdirSync(folder)).toEqual([]);

  // A killed process could not clean up.
  mkdirSync(join(folder, 'editor.partial-1'));
  await fillOnce(target, async (temporary) => writeFileSync(join(temporary, 'whole'), ''));
  expect(readdirSync(folder)).toEqual(['editor']);
  expect(readdirSync(target)).toEqual(['whole']);
});

test('one of ten processes fills a folder that all request at once', async () => {
  const target = join(folder, 'editor');
  const log = join(folder, 'log');
  const cache = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/cache.mjs'));
  const script = `
    import { appendFileSync, writeFileSync } from 'node:fs';
    import { fillOnce } from '${cache}';
    await fillOnce(${JSON.stringify(target)}, async (temporary) => {
      appendFileSync(${JSON.stringify(log)}, 'x');
      await new Promise((resolve) => setTimeout(resolve, 200));
      writeFileSync(temporary + '/whole', '');
    });`;
  const codes = await Promise.all(
    Array.from({ length: 10 }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
      return new Promise((resolve) => child.once('exit', resolve));
    }),
  );
  expect(codes).toEqual(Array(10).fill(0));
  expect(readFileSync(log, 'utf8')).toBe('x');
  expect(existsSync(join(target, 'whole'))).toBe(true);
});

test('a lock of a dead holder is taken over', async () => {
  const lock = join(folder, 'lock');
  const child = spawn(process.execPath, ['-e', ''], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
  writeFileSync(lock, JSON.stringify({ pid: child.pid, host: hostname() }));
  expect(await withLock(lock, async () => 'mine')).toBe('mine');
  expect(existsSync(lock)).toBe(false);
});

test('a lock from another machine is taken over once it is no longer refreshed', async () => {
  const lock = join(folder, 'lock');
  writeFileSync(lock, JSON.stringify({ pid: process.pid, host: 'elsewhere' }));
  const minuteAgo = Date.now() / 1000 - 60;
  utimesSync(lock, minuteAgo, minuteAgo);
  expect(await withLock(lock, async () => 'mine')).toBe('mine');
});

test('a lock of a living holder is waited for', async () => {
  const lock = join(folder, 'lock');
  const order: string[] = [];
  const first = withLock(lock, async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    order.push('first');
  });
  const second = withLock(
    lock,
    async () => order.push('second'),
    () => order.push('waits'),
  );
  await Promise.all([first, second]);
  expect(order).toEqual(['waits', 'first', 'second']);
});
