import { existsSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { compileCacheFolder, sweepCompileCaches } from '../../src/host/attach/compileCache.ts';
import { temporaryFolder } from '../support/workspace.ts';

function state(): { root: string; workspaceState: string } {
  const root = join(temporaryFolder('waygate-cache-'), 'state');
  return { root, workspaceState: ensureWorkspaceState('/somewhere', root) };
}

describe('the compile cache folder', () => {
  it("is in the user's state folder and private to the user", () => {
    const { root, workspaceState } = state();
    const folder = compileCacheFolder(workspaceState) as string;
    expect(dirname(folder)).toBe(join(root, 'compile-cache'));
    for (const one of [folder, dirname(folder)]) expect(statSync(one).mode & 0o777).toBe(0o700);
  });

  it('removes access of other users', () => {
    const { root, workspaceState } = state();
    const parent = join(root, 'compile-cache');
    mkdirSync(parent, { mode: 0o755 });
    compileCacheFolder(workspaceState);
    expect(statSync(parent).mode & 0o777).toBe(0o700);
  });

  it.each([
    ['a file', (place: string) => writeFileSync(place, '')],
    ['a link', (place: string) => symlinkSync('/tmp', place)],
  ])('is not used if its path is %s', (_, put) => {
    const { root, workspaceState } = state();
    put(join(root, 'compile-cache'));
    expect(compileCacheFolder(workspaceState)).toBeUndefined();
  });

  it('is deleted a month after the last write if it belongs to another build', () => {
    const { root, workspaceState } = state();
    const own = compileCacheFolder(workspaceState) as string;
    const [old, recent] = ['0.0.1-20200101000000', '0.0.2-20200102000000'].map((name) =>
      join(root, 'compile-cache', name),
    ) as [string, string];
    const day = 24 * 60 * 60;
    for (const [folder, days] of [
      [old, 31],
      [recent, 29],
      [own, 31],
    ] as const) {
      mkdirSync(folder, { recursive: true });
      utimesSync(folder, 1_000 * day, (1_000 - days) * day);
    }
    sweepCompileCaches(workspaceState, 1_000 * day * 1_000);
    expect([old, recent, own].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });
});
