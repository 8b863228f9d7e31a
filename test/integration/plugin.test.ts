import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownFolder } from '../../src/cli/target.ts';
import { waygate } from '../support/census.ts';
import { StreamClient } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const read = (...path: string[]): Record<string, unknown> => JSON.parse(readFileSync(join(...path), 'utf8'));

describe('waygate plugin build', () => {
  it('makes an Agent Plugin with the program, its MCP entry and the skill, which starts as clients start it', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const folder = join(workspace.folder, 'out');
    const { code, stdout } = await waygate(workspace, ['plugin', 'build', '--into', folder]);
    expect([code, stdout]).toEqual([0, `Built the plugin in ${folder}.\n`]);
    const root = join(folder, 'waygate');
    // The schema of the format allows no other members.
    expect(Object.keys(read(root, 'plugin.json'))).toEqual(['$schema', 'name', 'version', 'description', 'license']);
    expect(Object.keys(read(root, 'mcp.json'))).toEqual(['$schema', 'mcpServers']);
    expect(existsSync(join(root, 'skills/mcp-bootstrap/SKILL.md'))).toBe(true);
    expect(existsSync(join(root, 'program/extension.cjs'))).toBe(false);
    const { waygate: entry } = read(root, 'mcp.json').mcpServers as Record<string, { command: string; args: string[] }>;
    expect(JSON.stringify(entry)).not.toContain('input:');
    const client = startedAsPlugin(workspace, root, entry as { command: string; args: string[] });
    await client.initialize();
    const { result } = await client.request('tools/list', {});
    const names = ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
    expect(names.slice(0, 3)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    // The gateway is that of the folder in which the client runs, not of the plugin's own.
    expect((await client.call('tool_browse', { path: '/' })).text).toContain('one');
  });

  it('replaces its own earlier build, and no folder with other files', async () => {
    const workspace = testWorkspace();
    const build = (into: string) => waygate(workspace, ['plugin', 'build', '--into', join(workspace.folder, into)]);
    expect((await build('out')).code).toBe(0);
    expect((await build('out')).code).toBe(0);
    mkdirSync(join(workspace.folder, 'mine'));
    workspace.write('mine/notes.txt', 'mine');
    const { code, stderr } = await build('mine');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^waygate: \S+mine has other files; name an empty folder with --into\.\n$/);
  });
});

describe.skipIf(process.platform === 'win32')('waygate plugin install', () => {
  it('runs the commands of the client’s own program, and names them where there is none', async () => {
    const workspace = testWorkspace();
    const bin = join(workspace.folder, 'bin');
    const log = join(workspace.folder, 'calls.txt');
    const there = { ...workspace, env: { ...workspace.env, PATH: [bin, workspace.env.PATH].join(delimiter) } };
    const absent = await waygate({ ...workspace, env: { ...workspace.env, PATH: '/usr/bin' } } as TestWorkspace, [
      'plugin',
      'install',
      'codex',
    ]);
    expect(absent.code).toBe(1);
    expect(absent.stderr).toMatch(
      /codex is not on the PATH\. Where it is, run: codex plugin marketplace add \S+ && codex plugin add waygate@waygate\n$/,
    );
    mkdirSync(bin);
    writeFileSync(join(bin, 'copilot'), `#!/bin/sh\necho "$@" >> ${log}\n`);
    chmodSync(join(bin, 'copilot'), 0o755);
    const { code, stdout } = await waygate(there as TestWorkspace, ['plugin', 'install', 'copilot-cli']);
    expect(code).toBe(0);
    const [, folder = ''] = /from (\S+)\.\n$/.exec(stdout) ?? [];
    expect(readFileSync(log, 'utf8')).toBe(`plugin marketplace add ${folder}\nplugin install waygate@waygate\n`);
    writeFileSync(join(bin, 'copilot'), '#!/bin/sh\necho "no such marketplace" >&2\nexit 1\n');
    const failed = await waygate(there as TestWorkspace, ['plugin', 'install', 'copilot-cli']);
    expect(failed.stderr).toMatch(/copilot plugin marketplace add \S+ failed: no such marketplace\n$/);
  });

  it('prints the setting of VS Code', async () => {
    const workspace = testWorkspace();
    const { stdout } = await waygate(workspace, ['plugin', 'install', 'vscode', '--json']);
    const { folder, settings } = JSON.parse(stdout);
    // VS Code fills in no placeholder.
    expect(read(folder, 'waygate/mcp.json').mcpServers).toEqual({
      waygate: { type: 'stdio', command: 'node', args: [join(folder, 'waygate/program/waygate.cjs'), 'serve'] },
    });
    expect(settings).toEqual({ 'chat.pluginLocations': { [join(folder, 'waygate')]: true } });
  });
});

describe('the folder of a gateway that a client starts from a plugin', () => {
  it('is that of the client if it passes it on, else the home folder, and the current one outside of a plugin', () => {
    const { folder } = testWorkspace();
    const plugin = join(folder, 'plugin');
    mkdirSync(plugin);
    expect(ownFolder({}, folder)).toBe('.');
    expect(ownFolder({ PLUGIN_ROOT: plugin }, folder)).toBe('.');
    expect(ownFolder({ PLUGIN_ROOT: plugin, PWD: folder }, plugin)).toBe(folder);
    for (const PWD of [undefined, 'relative', join(folder, 'absent'), plugin]) {
      expect(ownFolder({ PLUGIN_ROOT: plugin, PWD, HOME: folder }, plugin)).not.toBe(plugin);
      expect(ownFolder({ PLUGIN_ROOT: plugin, PWD }, plugin)).not.toBe(folder);
    }
  });
});

/** Starts the plugin's server as clients do: in the plugin's folder, with its placeholder filled in. */
function startedAsPlugin(
  workspace: TestWorkspace,
  root: string,
  entry: { command: string; args: string[] },
): StreamClient {
  const args = entry.args.map((one) => one.replace('${PLUGIN_ROOT}', root));
  const env = { ...workspace.env, PLUGIN_ROOT: root, PWD: workspace.folder };
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  expect(entry.command).toBe('node');
  return new StreamClient(child.stdin, child.stdout);
}
