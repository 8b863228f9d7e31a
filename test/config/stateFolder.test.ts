import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  ensurePrivateFolder,
  ensureWorkspaceState,
  StateFolderError,
  stateRoot,
  unwritable,
  workspaceStateFolder,
} from '../../src/config/state/stateFolder.ts';
import { temporaryFolder } from '../support/workspace.ts';

const posix = it.skipIf(process.platform === 'win32');
const mode = (path: string): number => statSync(path).mode & 0o777;

describe('the state folder', () => {
  posix('is created for its owner only, and loses wider permissions', () => {
    const root = join(temporaryFolder('wg-state-'), 'a', 'state');
    mkdirSync(root, { recursive: true });
    chmodSync(root, 0o755);
    const folder = ensureWorkspaceState('/w', root);
    expect([root, join(root, 'workspaces'), folder].map(mode)).toEqual([0o700, 0o700, 0o700]);
  });

  it('is the same for two spellings of a path, and differs for another path', () => {
    const root = temporaryFolder('wg-state-');
    const real = join(root, 'real');
    mkdirSync(real);
    symlinkSync(real, join(root, 'link'));
    expect(workspaceStateFolder(join(root, 'link'), root)).toBe(workspaceStateFolder(`${real}/`, root));
    expect(workspaceStateFolder(root, root)).not.toBe(workspaceStateFolder(real, root));
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, ''), /is not a folder; make it a writable folder of your own/],
    ['a symbolic link', (path: string) => symlinkSync('/tmp', path), /is a symbolic link/],
    [
      'a folder for everybody',
      (path: string) => {
        mkdirSync(path);
        chmodSync(path, 0o1777);
      },
      /is writable by everybody/,
    ],
    ['below a file', (path: string) => writeFileSync(join(path, '..', 'file'), ''), /is not a folder/, 'file/state'],
  ])('is rejected in one sentence if it is %s', (_what, make, sentence, name = 'state') => {
    const parent = temporaryFolder('wg-state-');
    const path = join(parent, name);
    make(name === 'state' ? path : join(parent, 'x'));
    expect(() => ensurePrivateFolder(path)).toThrow(StateFolderError);
    expect(() => ensurePrivateFolder(path)).toThrow(sentence);
    expect(() => ensurePrivateFolder(path)).toThrow(/WAYGATE_STATE_DIR/);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is rejected if another user who could write it has put something into it',
    () => {
      const path = temporaryFolder('wg-state-');
      mkdirSync(join(path, 'artifacts'));
      chownSync(join(path, 'artifacts'), 65_534, 65_534);
      chmodSync(path, 0o777);
      // Also the second time.
      for (let i = 0; i < 2; i += 1)
        expect(() => ensurePrivateFolder(path)).toThrow(/artifacts belongs to another user/);
      chownSync(join(path, 'artifacts'), 0, 0);
      ensurePrivateFolder(path);
      expect(mode(path)).toBe(0o700);
    },
  );

  it('never changes the mode of a folder that everybody can write to', () => {
    const path = join(temporaryFolder('wg-state-'), 'state');
    mkdirSync(path);
    chmodSync(path, 0o1777);
    expect(() => ensurePrivateFolder(path)).toThrow();
    expect(statSync(path).mode & 0o7777).toBe(0o1777);
  });

  it.each([
    ['ENOSPC', /disk of Waygate's state folder \/s is full/],
    ['EROFS', /cannot write its state folder \/s \(EROFS\)/],
    ['ENOTDIR', /\/s is not a folder/],
  ])('reports %s in one sentence', (code, sentence) => {
    const error = unwritable('/s', Object.assign(new Error(), { code }));
    expect(error.message).toMatch(sentence);
    expect(unwritable('/other', error)).toBe(error);
  });

  it('follows the environment or the system', () => {
    expect(stateRoot({ WAYGATE_STATE_DIR: '/x/y' })).toBe('/x/y');
    if (process.platform === 'linux') expect(stateRoot({ XDG_STATE_HOME: '/x' })).toBe('/x/waygate');
  });
});
