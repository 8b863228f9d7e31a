import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writerOf, writeWhole } from '../../src/lib/writeWhole.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('an atomically written file', () => {
  it('replaces the previous one, and leaves nothing beside it', () => {
    const folder = temporaryFolder('wg-whole-');
    const file = join(folder, 'x.json');
    writeWhole(file, 'a longer first text');
    writeWhole(file, Buffer.from('second'));
    expect(readFileSync(file, 'utf8')).toBe('second');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('is private to its owner from the first byte', { skip: process.platform === 'win32' }, () => {
    const file = join(temporaryFolder('wg-whole-'), 'x.json');
    writeFileSync(file, 'for everybody', { mode: 0o644 });
    writeWhole(file, 'secret', { mode: 0o600, sync: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('replaces a link, not its target', { skip: process.platform === 'win32' }, () => {
    const folder = temporaryFolder('wg-whole-');
    writeFileSync(join(folder, 'elsewhere'), 'somebody’s');
    symlinkSync('elsewhere', join(folder, 'x.json'));
    writeWhole(join(folder, 'x.json'), 'ours');
    expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('somebody’s');
  });

  it('is removed if the rename fails, and the caller gets the error', () => {
    const folder = temporaryFolder('wg-whole-');
    mkdirSync(join(folder, 'x.json'));
    expect(() => writeWhole(join(folder, 'x.json'), 'text')).toThrow(/EISDIR|EPERM|EEXIST/);
    expect(readdirSync(folder)).toEqual(['x.json']);
  });
});

describe('the name of a temporary file', () => {
  it('contains its writer; other names have none', () => {
    expect(writerOf('x.json.4711.00ff00ff.new')).toBe(4711);
    for (const name of [
      'x.json',
      'x.json.4711.new',
      'x.00ff00ff.new',
      'x.json.4711.00ff00ff',
      'x.json.4711.00ff00ff.new.bak',
    ]) {
      expect(writerOf(name), name).toBeUndefined();
    }
  });
});
