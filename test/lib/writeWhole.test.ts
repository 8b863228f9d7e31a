import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writerOf, writeWhole } from '../../src/lib/writeWhole.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('a file that is written whole', () => {
  it('replaces the one before, and leaves nothing beside it', () => {
    const folder = temporaryFolder('wg-whole-');
    const file = join(folder, 'x.json');
    writeWhole(file, 'a longer first text');
    writeWhole(file, Buffer.from('second'));
    expect(readFileSync(file, 'utf8')).toBe('second');
    expect(readdirSync(folder)).toEqual(['x.json']);
  });

  it('is for its owner alone from its first byte', { skip: process.platform === 'win32' }, () => {
    const file = join(temporaryFolder('wg-whole-'), 'x.json');
    writeFileSync(file, 'for everybody', { mode: 0o644 });
    writeWhole(file, 'secret', { mode: 0o600, sync: true });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('takes the place of a link, not of what it leads to', { skip: process.platform === 'win32' }, () => {
    const folder = temporaryFolder('wg-whole-');
    writeFileSync(join(folder, 'elsewhere'), 'somebody’s');
    symlinkSync('elsewhere', join(folder, 'x.json'));
    writeWhole(join(folder, 'x.json'), 'ours');
    expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('somebody’s');
  });

  it('and cannot get its name is taken away, and the caller told', () => {
    const folder = temporaryFolder('wg-whole-');
    mkdirSync(join(folder, 'x.json'));
    expect(() => writeWhole(join(folder, 'x.json'), 'text')).toThrow(/EISDIR|EPERM|EEXIST/);
    expect(readdirSync(folder)).toEqual(['x.json']);
  });
});

describe('the name of what is being written', () => {
  it('tells who writes it, and any other tells nobody', () => {
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
