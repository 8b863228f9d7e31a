import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../src/lib/makeFolder.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('making a folder', () => {
  const isPosix = process.platform !== 'win32';

  it('creates missing parents, and keeps existing folders', () => {
    const root = temporaryFolder('waygate-folder-');
    const folder = join(root, 'a/b/c');
    for (const again of [folder, folder, join(root, 'a'), root]) makeFolder(again, 0o700);
    if (isPosix) for (const made of ['a', 'a/b', 'a/b/c']) expect(statSync(join(root, made)).mode & 0o777).toBe(0o700);
    expect(existsSync(folder)).toBe(true);
  });

  it('accepts a link to a folder', () => {
    const root = temporaryFolder('waygate-folder-');
    mkdirSync(join(root, 'there'));
    symlinkSync(join(root, 'there'), join(root, 'link'), 'junction');
    makeFolder(join(root, 'link/a/b'));
    makeFolder(join(root, 'link'));
    expect(existsSync(join(root, 'there/a/b'))).toBe(true);
  });

  it('reports the error of the system', () => {
    const root = temporaryFolder('waygate-folder-');
    writeFileSync(join(root, 'file'), '');
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'), 'junction');
    const code = (name: string): string | undefined => {
      try {
        makeFolder(join(root, name));
        return undefined;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    };
    expect(code('file')).toBe('EEXIST');
    if (isPosix) expect([code('file/a/b'), code('dangling/a')]).toEqual(['ENOTDIR', 'EEXIST']);
  });

  it.skipIf(process.platform !== 'linux')('gives up if no folder can be created and none is missing', () => {
    for (const folder of ['/proc/waygate', '/proc/waygate/a/b']) {
      expect(() => makeFolder(folder)).toThrow(/^ENOENT: .* '\/proc\/waygate'$/);
    }
  });
});
