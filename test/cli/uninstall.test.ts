import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheFolder } from '../../scripts/lib/cache.mjs';
import { uninstall } from '../../src/cli/commands/setup/uninstall.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { cacheRoot } from '../../src/config/state/stateFolder.ts';
import { isAlive } from '../../src/lib/isAlive.ts';
import { status, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Workspace with a home of its own, in which somebody has imported, approved, set a secret and called a tool. */
async function used() {
  const workspace = testWorkspace();
  const home = temporaryFolder('waygate-home-');
  const moved = { ...workspace, env: { ...workspace.env, HOME: home, USERPROFILE: home, XDG_CACHE_HOME: '' } };
  mkdirSync(join(home, '.cursor'));
  writeFileSync(join(home, '.cursor', 'mcp.json'), JSON.stringify({ mcpServers: { one: servers.fixture() } }));
  await waygate(moved, ['import', '--all', '--remove-from-source', '--yes']);
  await waygate(moved, ['client-config', 'cursor', '--write', '--yes']);
  moved.configure({ one: { ...servers.fixture(), env: { TOKEN: `$\{secret:github}` } } });
  await waygate(moved, ['secret', 'set', 'github'], 'value\n');
  await waygate(moved, ['plugin', 'build']);
  // As a process leaves it that is killed while it writes.
  writeFileSync(join(moved.stateDir, 'secrets.json.4711.0a1b2c3d.new'), '{');
  const host = await HostProcess.connect(moved);
  await host.toolId('/one/echo');
  const cache = join(home, '.cache', 'waygate');
  mkdirSync(join(cache, 'editor-1'), { recursive: true });
  const backup = join(home, '.cursor', 'mcp.json.waygate-backup');
  return { workspace: moved, host, cache, backup };
}

describe.skipIf(process.platform !== 'linux')('waygate uninstall', () => {
  it('lists what Waygate keeps, removes it with --yes, and keeps what the user wrote', async () => {
    const { workspace, host, cache, backup } = await used();
    host.end();
    await host.exited;
    if (process.platform !== 'win32') expect(statSync(backup).mode & 0o777).toBe(0o600);
    const list = await waygate(workspace, ['uninstall']);
    expect([list.code, list.stderr]).toEqual([
      1,
      expect.stringMatching(/nothing was removed, because nobody can be asked/),
    ]);
    for (const left of [
      join(workspace.stateDir, 'secrets.json'),
      join(workspace.stateDir, 'secrets.json.4711.0a1b2c3d.new'),
      join(workspace.stateDir, 'plugin'),
      join(workspace.stateDir, 'workspaces'),
      cache,
      backup,
    ]) {
      expect(list.stdout).toContain(`  ${left}\n`);
      expect(existsSync(left)).toBe(true);
    }
    expect(list.stdout).toMatch(
      /These entries still start Waygate; delete them by hand\n {2}"mcpServers" → "waygate" in /,
    );
    const { code, stderr } = await waygate(workspace, ['uninstall', '--yes']);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Next: npm uninstall .* the plugin "waygate"/)]);
    for (const left of [workspace.stateDir, cache, backup]) expect(existsSync(left), left).toBe(false);
    expect(existsSync(workspace.configFile)).toBe(true);
    const again = await waygate(workspace, ['uninstall', '--json']);
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([
      0,
      { state: [], cache: [], backups: [], clients: [expect.stringContaining('waygate')], removed: false },
    ]);
  });

  it('ends a gateway that runs, also where a client starts it again', async () => {
    const { workspace, host } = await used();
    const before = await status(workspace);
    await waygate(workspace, ['uninstall', '--yes']);
    expect(isAlive(before.worker?.pid as number)).toBe(false);
    host.end();
    await host.exited;
    // A gateway that was still starting writes its state once more, and ends without a client.
    await until('the end of the gateway', async () => {
      const { code } = await waygate(workspace, ['uninstall', '--yes']);
      return code === 0 && !existsSync(workspace.stateDir);
    });
  });

  it('leaves files of others in a shared folder', async () => {
    const workspace = testWorkspace();
    mkdirSync(join(workspace.stateDir, 'tokens'), { recursive: true });
    writeFileSync(join(workspace.stateDir, 'waygate.json'), '{}');
    writeFileSync(join(workspace.stateDir, 'thesis.doc'), '');
    expect((await waygate(workspace, ['uninstall', '--yes'])).code).toBe(0);
    expect(readdirSync(workspace.stateDir).sort()).toEqual(['thesis.doc', 'waygate.json']);
  });

  it.each([true, false])('asks a person, and obeys the answer %s', async (answer) => {
    const workspace = testWorkspace();
    mkdirSync(join(workspace.stateDir, 'tokens'), { recursive: true });
    const questions: string[] = [];
    const terminal: Terminal = {
      out: () => undefined,
      err: () => undefined,
      interactive: true,
      confirm: async (question, otherwise) => {
        questions.push(`${question} ${otherwise}`);
        return answer;
      },
    };
    const command = { workspace: workspace.folder, yes: false, json: false };
    expect(await uninstall(command, { ...workspace.env, HOME: workspace.folder }, terminal)).toBe(answer ? 0 : 1);
    expect(existsSync(join(workspace.stateDir, 'tokens'))).toBe(!answer);
    expect(questions).toEqual(['Remove 1 file or folder? false']);
  });
});

it('knows the cache of npm start', () => {
  const { WAYGATE_CACHE: _, ...env } = process.env;
  expect(cacheRoot(env)).toBe(cacheFolder(env));
});
