import { execFileSync } from 'node:child_process';
import { globSync, readdirSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cacheFolder } from '../../scripts/lib/cache.mjs';
import { configRoot, stateRoot } from '../../src/config/state/stateFolder.ts';
import { surroundingsOf } from '../../src/import/surroundings.ts';
import { HOMES } from './homes.ts';

const homes = String(process.env[HOMES]);

// `userInfo` reads the account's home folder, which no environment variable changes.
describe('home folder of a test', () => {
  it('is a new one below the folder of the run', () => {
    expect(homedir()).not.toBe(userInfo().homedir);
    expect(homedir().startsWith(homes)).toBe(true);
    expect(String(process.env.HOME).startsWith(homes + sep)).toBe(true);
    expect(readdirSync(String(process.env.HOME))).toEqual([]);
  });

  it('is used by Waygate and the import', () => {
    const { home } = surroundingsOf('/w', process.env);
    for (const place of [stateRoot(process.env), configRoot(process.env), home]) {
      expect(place.startsWith(homes + sep)).toBe(true);
    }
  });

  it('is passed on to programs that the test starts', () => {
    const ask = ['-p', 'os.homedir()'];
    expect(execFileSync(process.execPath, ask, { encoding: 'utf8' }).trim()).toBe(process.env.HOME);
  });

  it('does not hide the download cache', () => {
    expect(cacheFolder().startsWith(homes)).toBe(false);
  });

  it.each(globSync('vitest*.config.ts'))('is set up by %s', async (file) => {
    const { default: config } = await import(pathToFileURL(resolve(file)).href);
    const { projects = [], ...root } = config.test;
    for (const { test } of projects.length > 0 ? projects : [{ test: root }]) {
      expect([root.globalSetup, test.globalSetup].flat()).toContain('test/support/homes.ts');
      expect([test.setupFiles].flat()).toContain('test/support/ownHome.ts');
    }
  });
});
