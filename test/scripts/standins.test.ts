import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ensureServerBuild } from '../../scripts/lib/serverBuild.mjs';
import { createAsyncRotatingLogger } from '../../scripts/standins/spdlog.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wg-log-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the editor’s log writes every line of its level at once, in a folder that it creates', async () => {
  const file = join(folder, 'logs', 'exthost.log');
  const log = await createAsyncRotatingLogger('exthost', file, 10_000);
  log.debug('below the level');
  log.error('disk full');
  expect(readFileSync(file, 'utf8')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[error\] disk full\n$/);
  log.setLevel(1);
  log.debug('at the level');
  expect(readFileSync(file, 'utf8')).toContain('[debug] at the level\n');
});

test('an output channel writes text unchanged', async () => {
  const file = join(folder, 'channel.log');
  const log = await createAsyncRotatingLogger('channel', file, 10_000);
  log.clearFormatters();
  log.info('half a ');
  log.info('line\n');
  expect(readFileSync(file, 'utf8')).toBe('half a line\n');
});

test('a log above its size limit continues in a new file, with one older file kept', async () => {
  const file = join(folder, 'server.log');
  writeFileSync(file, 'x'.repeat(101));
  const log = await createAsyncRotatingLogger('server', file, 100);
  log.clearFormatters();
  log.info('new');
  expect(readdirSync(folder).sort()).toEqual(['server.1.log', 'server.log']);
  expect(readFileSync(file, 'utf8')).toBe('new');
});

test('a deleted log folder does not stop the editor', async () => {
  const log = await createAsyncRotatingLogger('gone', join(folder, 'gone', 'a.log'), 100);
  rmSync(folder, { recursive: true });
  expect(() => log.error('lost')).not.toThrow();
});

test('the server build is installed without install scripts, which would compile', () => {
  const source = readFileSync('scripts/lib/serverBuild.mjs', 'utf8');
  const installs = [...source.matchAll(/npm\(\[([^\]]*)\]/g)].map(([, args]) => args);
  expect(installs).toHaveLength(2);
  for (const args of installs) expect(args).toContain("'--ignore-scripts'");
});

test('every stand-in is used, and exists', () => {
  const source = readFileSync('scripts/lib/serverBuild.mjs', 'utf8');
  const used = [...source.matchAll(/^ {2}'(\w+\.mjs)': '@vscode/gm)].map(([, file]) => file);
  expect(readdirSync('scripts/standins').sort()).toEqual(used.sort());
});

test('a version of VS Code without a build is refused with those that have one', async () => {
  await expect(ensureServerBuild('.', '1.99')).rejects.toThrow(
    'WAYGATE_VSCODE is 1.99, and there are builds of VS Code 1.139 and 1.105.',
  );
});
