import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAbsent, type ReadBounds, readBounded, readBoundedText } from '../../src/lib/readBounded.ts';
import { temporaryFolder } from '../support/workspace.ts';

const MAX = { maxBytes: 1024 * 1024 };
const reasonOf = (file: string, bounds: ReadBounds = MAX): unknown => {
  try {
    return readBounded(file, bounds).length;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('a bounded read', () => {
  it('returns the bytes of a regular file up to the limit', () => {
    const file = join(temporaryFolder('wg-'), 'file');
    writeFileSync(file, `\ufeff${'x'.repeat(200_000)}`);
    expect(readBounded(file, MAX)).toHaveLength(200_003);
    expect(readBoundedText(file, MAX)).toBe('x'.repeat(200_000));
    expect(readBounded(file, { maxBytes: 200_003 })).toHaveLength(200_003);
    expect(reasonOf(file, { maxBytes: 200_002 })).toMatch(/^it is larger than /);
  });

  it.skipIf(process.platform === 'win32')('refuses devices, pipes, sockets and folders, and never waits', async () => {
    const folder = temporaryFolder('wg-');
    const at = (name: string): string => join(folder, name);
    symlinkSync('/dev/zero', at('zero'));
    execFileSync('mkfifo', [at('pipe')]);
    const server = createServer().listen(at('socket'));
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    for (const name of ['/dev/zero', at('zero'), at('pipe'), at('socket')]) {
      expect(reasonOf(name), name).toBe('it is no regular file');
    }
    expect(reasonOf(folder)).toBe('it is a folder');
  });

  it('refuses a large file by its size, and a file whose size is wrong by its content', () => {
    const file = join(temporaryFolder('wg-'), 'large');
    writeFileSync(file, '');
    truncateSync(file, 60 * 1024 * 1024 * 1024);
    expect(reasonOf(file)).toBe('it is larger than 1 MiB');
    // Linux reports the size 0 for these files.
    if (process.platform === 'linux') {
      expect(reasonOf('/proc/self/status', { maxBytes: 100 })).toMatch(/^it is larger than /);
    }
  });

  it.each(['its last part', 'a folder above it'])('refuses a link out of a workspace as %s', (part) => {
    const root = temporaryFolder('wg-');
    const [workspace, outside] = [join(root, 'workspace'), join(root, 'outside')];
    mkdirSync(workspace);
    mkdirSync(join(outside, '.vscode'), { recursive: true });
    writeFileSync(join(outside, '.vscode', 'file'), 'private');
    const file = join(workspace, '.vscode', 'file');
    if (part === 'its last part') {
      mkdirSync(dirname(file));
      symlinkSync(join(outside, '.vscode', 'file'), file);
    } else symlinkSync(join(outside, '.vscode'), dirname(file));
    const bounds = { ...MAX, within: workspace };
    expect(reasonOf(file, bounds)).toBe(`a link leads out of ${workspace}`);
    expect(reasonOf(file)).toBe(7);
    // The path says that this file is elsewhere.
    expect(reasonOf(join(outside, '.vscode', 'file'), bounds)).toBe(7);
  });

  it('follows a link that stays in the workspace, also if the workspace is a link itself', () => {
    const root = temporaryFolder('wg-');
    mkdirSync(join(root, 'real'));
    writeFileSync(join(root, 'real', 'file'), 'text');
    symlinkSync(join(root, 'real'), join(root, 'workspace'));
    symlinkSync('file', join(root, 'real', 'link'));
    for (const within of [join(root, 'workspace'), join(root, 'real')]) {
      expect(reasonOf(join(within, 'link'), { ...MAX, within })).toBe(4);
      expect(reasonOf(join(root, 'workspace', 'link'), { ...MAX, within })).toBe(4);
    }
  });

  it('takes a missing file for absent, and a dangling link for a file that cannot be read', () => {
    const folder = temporaryFolder('wg-');
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'));
    writeFileSync(join(folder, 'file'), '');
    const absent = (name: string): boolean => {
      try {
        readBounded(join(folder, name), MAX);
      } catch (error) {
        return isAbsent(error, join(folder, name));
      }
      throw new Error(`${name} was read`);
    };
    expect(['missing', join('file', 'below'), 'dangling'].map(absent)).toEqual([true, true, false]);
  });

  it.skipIf(process.getuid?.() !== 0)('refuses a file of another user where only the user may have written', () => {
    const file = join(temporaryFolder('wg-'), 'file');
    writeFileSync(file, 'text', { mode: 0o600 });
    expect(reasonOf(file, { ...MAX, own: true })).toBe(4);
    chmodSync(file, 0o620);
    expect(reasonOf(file, { ...MAX, own: true })).toBe('other users may write it');
    chmodSync(file, 0o600);
    chownSync(file, 65_534, 65_534);
    expect(reasonOf(file, { ...MAX, own: true })).toBe('it belongs to another user');
  });
});
