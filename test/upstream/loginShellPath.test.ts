import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isDesktopPath, OwnEnvironment } from '../../src/upstream/process/loginShellPath.ts';
import { isAlive, until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

const DESKTOP = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';

/** Makes a shell with the given start files that records its calls. */
function shell(startFiles: string): { path: string; calls(): string[]; folder: string } {
  const folder = temporaryFolder('wg-shell-');
  const path = join(folder, 'fakesh');
  const log = join(folder, 'calls');
  writeFileSync(path, `#!/bin/sh\necho "$1" >> '${log}'\n${startFiles}\nexec /bin/sh -c "$2"\n`);
  chmodSync(path, 0o755);
  return { path, folder, calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []) };
}

describe.skipIf(process.platform === 'win32')('the PATH of a login shell', () => {
  it("is used instead of a desktop's, with one run of the shell, whatever its start files print", async () => {
    const { path, calls } = shell('echo "Welcome back! waygate-path=no"\nPATH="/opt/tools/bin:$PATH"; export PATH');
    const own = new OwnEnvironment({ PATH: `${DESKTOP}:/snap/bin`, SHELL: path, KEPT: '1' });
    const [first, second] = await Promise.all([own.forStart(), own.forStart()]);
    expect(first).toMatchObject({ PATH: `/opt/tools/bin:${DESKTOP}:/snap/bin`, KEPT: '1' });
    expect(second).toEqual(first);
    expect(calls()).toEqual(['-ilc']);
  });

  it('comes from a shell with a login environment, without variables of the editor or the gateway', async () => {
    const login = {
      HOME: '/home/ada',
      USER: 'ada',
      LANG: 'de_DE.UTF-8',
      TERM: 'xterm',
      XDG_CONFIG_HOME: '/c',
      ZDOTDIR: '/z',
    };
    const editors = {
      ELECTRON_RUN_AS_NODE: '1',
      NODE_OPTIONS: '--require /editor/bootloader.js',
      VSCODE_IPC_HOOK: '/run/editor.sock',
      VSCODE_PID: '1',
      WAYGATE_RUN: 'r.1',
      WAYGATE_STATE_DIR: '/state',
    };
    const { path, folder } = shell('env > "$(dirname "$0")/env"');
    await new OwnEnvironment({ PATH: DESKTOP, SHELL: path, ...login, ...editors }).forStart();
    const variables = readFileSync(join(folder, 'env'), 'utf8').trim().split('\n');
    const names = variables
      .map((line) => line.slice(0, line.indexOf('=')))
      .filter((name) => !/^(_|PWD|SHLVL|OLDPWD)$/.test(name));
    expect(names.sort()).toEqual([...Object.keys(login), 'PATH', 'SHELL', 'WAYGATE_READS_PATH'].sort());
    expect(variables).toEqual(expect.arrayContaining(Object.entries(login).map(([name, value]) => `${name}=${value}`)));
  });

  it("comes before the folders of the worker's own PATH", async () => {
    const { path } = shell('PATH=/opt/tools/bin:/usr/bin; export PATH');
    const own = new OwnEnvironment({ PATH: '/editor/bin:/usr/bin', SHELL: path });
    expect((await own.forMissing())?.PATH).toBe('/opt/tools/bin:/usr/bin:/editor/bin');
  });

  it("is not used if the worker's PATH is a user's, until a command is missing", async () => {
    const { path, calls } = shell('PATH="/opt/tools/bin:$PATH"; export PATH');
    const env = { PATH: `/home/ada/.local/bin:${DESKTOP}`, SHELL: path };
    const own = new OwnEnvironment(env);
    expect(await own.forStart()).toBe(env);
    expect(calls()).toEqual([]);
    expect((await own.forMissing())?.PATH).toMatch(/^\/opt\/tools\/bin:\/home\/ada/);
    expect(calls()).toHaveLength(1);
  });

  it.each([
    ['the shell fails', 'exit 3', /it ended \(exit code 3\)/],
    ['the shell prints none', 'exec true', /it ended \(exit code 0\)/],
  ])('is not used if %s', async (_, startFiles, problem) => {
    const { path } = shell(startFiles);
    const lines: string[] = [];
    const env = { PATH: DESKTOP, SHELL: path };
    const own = new OwnEnvironment(env, (line) => lines.push(line));
    expect(await own.forStart()).toBe(env);
    expect(lines.join()).toMatch(problem);
  });

  it('is given up if the shell hangs, and leaves no process', async () => {
    const { path, folder } = shell('echo $$ > "$(dirname "$0")/pid"; sleep 600');
    const lines: string[] = [];
    const env = { PATH: DESKTOP, SHELL: path };
    expect(await new OwnEnvironment(env, (line) => lines.push(line)).forStart()).toBe(env);
    expect(lines.join()).toContain('it took longer than 5 s');
    const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
    await until('its end', () => !isAlive(pid));
  });

  it.each([undefined, '', 'bash', '/no/such/shell'])('is not used if SHELL is %s', async (name) => {
    const env = { PATH: DESKTOP, ...(name === undefined ? {} : { SHELL: name }) };
    expect(await new OwnEnvironment(env).forStart()).toBe(env);
  });

  it.each([
    ['/usr/bin:/bin:/usr/sbin:/sbin', true],
    ['/usr/local/sbin:/usr/local/bin/:/usr/bin:/usr/games:/snap/bin', true],
    ['', true],
    [undefined, true],
    ['/opt/homebrew/bin:/usr/bin', false],
    ['/home/ada/.nvm/bin:/usr/bin', false],
  ])("%s is a desktop's: %s", (path, expected) => {
    expect(isDesktopPath(path)).toBe(expected);
  });
});
