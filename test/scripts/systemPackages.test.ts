import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findProgram, mayInstall } from '../../scripts/lib/systemPackages.mjs';
import { inTerminal } from '../support/inTerminal.ts';
import { temporaryFolder } from '../support/workspace.ts';

describe('packages of the system', () => {
  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['\n', false],
    ['n\n', false],
    [null, false],
  ])('are installed for a person who types %j: %s', async (typed, expected) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    const answer = mayInstall(['chromium', 'socat'], { input, output });
    if (typed === null) input.end();
    else input.write(typed);
    expect(await answer).toBe(expected);
    expect(String(output.read())).toContain('Install chromium and socat with apt-get? [y/N]');
  });

  it('are installed where nobody can be asked, after a line that names them', async () => {
    const output = new PassThrough();
    expect(await mayInstall(['chromium', 'socat'], { input: new PassThrough(), output })).toBe(true);
    expect(String(output.read())).toBe(
      'Installing chromium and socat with apt-get, without a question, because there is no terminal.\n',
    );
  });
});

/** Programs of a machine without Chromium, whose `apt-get` notes its work and brings one. */
function freshMachine(): { env: NodeJS.ProcessEnv; log: string } {
  const folder = temporaryFolder('waygate-programs-');
  const log = join(folder, 'apt.log');
  writeFileSync(log, '');
  const scripts = {
    'apt-get': `echo "$@" >> '${log}'\ncase "$*" in *chromium) : > '${folder}/chromium'; ${findProgram('chmod')} 755 '${folder}/chromium';; esac`,
    // For a user who is not root.
    sudo: 'shift\nexec "$@"',
  };
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  for (const name of ['env', 'true']) symlinkSync(findProgram(name) as string, join(folder, name));
  const { WAYGATE_CHROMIUM: _, ...env } = process.env;
  return { env: { ...env, PATH: folder }, log };
}

const ensureBrowser = [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { ensureBrowser } from ${JSON.stringify(pathToFileURL(resolve('scripts/lib/systemPackages.mjs')).href)};
   console.log(await ensureBrowser('.'));`,
];

describe.skipIf(process.platform !== 'linux')('a missing browser', () => {
  it.each([
    ['not installed for a person who declines, also not for root', 'n\r', false],
    ['installed for a person who agrees', 'y\r', true],
  ])('is %s', async (_, typed, expected) => {
    const { env, log } = freshMachine();
    const { PATH, ...rest } = process.env;
    const command = [findProgram('env') as string, `PATH=${env.PATH}`, ...ensureBrowser];
    const { code, text } = await inTerminal(command, { env: { ...rest, WAYGATE_CHROMIUM: '', PATH }, cwd: '.', typed });
    expect(text).toContain('Install chromium with apt-get? [y/N]');
    expect([code === 0, readFileSync(log, 'utf8').includes('install')]).toEqual([expected, expected]);
  });

  it('is installed where nobody can be asked, after a line that names it', async () => {
    const { env, log } = freshMachine();
    const [program, ...args] = ensureBrowser;
    const { stdout, stderr } = spawnSync(program as string, args, { env, encoding: 'utf8' });
    expect(stderr).toContain('Installing chromium with apt-get, without a question, because there is no terminal.\n');
    expect(stdout.trim().split('\n').at(-1)).toBe(join(String(env.PATH), 'chromium'));
    expect(readFileSync(log, 'utf8')).toContain('install -y --no-install-recommends chromium');
  });
});
