import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { writeClientConfig } from '../../src/cli/commands/setup/writeClientConfig.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { waygate } from '../support/census.ts';
import { temporaryFolder, testWorkspace, WAYGATE } from '../support/workspace.ts';

function place() {
  const workspace = testWorkspace();
  const home = temporaryFolder('waygate-home-');
  const moved = { ...workspace, env: { ...workspace.env, HOME: home, USERPROFILE: home } };
  const file = (name: string): string =>
    name.startsWith('~/') ? join(home, name.slice(2)) : join(workspace.folder, name);
  return {
    workspace: moved,
    file,
    read: (name: string): string => readFileSync(file(name), 'utf8'),
    put(name: string, text: string) {
      mkdirSync(dirname(file(name)), { recursive: true });
      writeFileSync(file(name), text);
    },
    write: (...args: string[]) => waygate(moved, ['client-config', ...args, '--write', '--yes']),
  };
}

const CONTINUE = '.continue/mcpServers/waygate.yaml';
const entry = { command: process.execPath, args: expect.arrayContaining([WAYGATE, 'serve']) };

describe('waygate client-config --write', () => {
  it('adds the entry to JSON with comments, and keeps everything else', async () => {
    const one = place();
    const before = '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "a" }, // first\n  },\n  "other": [1]\n}\n';
    one.put('.cursor/mcp.json', before);
    const { code, stdout } = await one.write('cursor');
    expect(code).toBe(0);
    const after = one.read('.cursor/mcp.json');
    expect(after).toContain('// mine');
    expect(after).toContain('// first');
    expect(parseJson(after)).toEqual({ mcpServers: { a: { command: 'a' }, waygate: entry }, other: [1] });
    expect(stdout).toMatch(/^\+ {4}"waygate": \{$/m);
    const backup = `${one.file('.cursor/mcp.json')}.waygate-backup`;
    expect(stdout).toContain(`the backup is ${backup}.`);
    expect(readFileSync(backup, 'utf8')).toBe(before);
    expect(statSync(backup).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600);
    const again = await one.write('cursor');
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('has this entry already')]);
    expect(existsSync(`${backup}-2`)).toBe(false);
  });

  it('adds the entry to TOML, replaces an older one, and keeps comments', async () => {
    const one = place();
    one.put(
      '~/.codex/config.toml',
      '# mine\nmodel = "m"\n\n[mcp_servers.waygate]\ncommand = "old"\n\n# of b\n[mcp_servers.b]\ncommand = "b"\n',
    );
    expect((await one.write('codex')).code).toBe(0);
    const after = one.read('~/.codex/config.toml');
    expect(after).toMatch(/^# mine\n/);
    expect(parseToml(after)).toEqual({ model: 'm', mcp_servers: { b: { command: 'b' }, waygate: entry } });
  });

  it('adds the entry to servers two levels deep, and keeps those that are there', async () => {
    const one = place();
    one.put('opencode.json', '{ "mcp": { "servers": { "a": { "type": "local", "command": ["a"] } } } }');
    expect((await one.write('opencode')).code).toBe(0);
    expect(parseJson(one.read('opencode.json'))).toEqual({
      mcp: {
        servers: {
          a: { type: 'local', command: ['a'] },
          waygate: { type: 'local', command: expect.arrayContaining([WAYGATE, 'serve']) },
        },
      },
    });
  });

  it('adds the entry to YAML, replaces an older one, and keeps comments and other servers', async () => {
    const one = place();
    one.put('.continue/mcpServers/other.yaml', 'mcpServers: []\n');
    const before =
      '# mine\nname: Mine\nversion: 1.0.0\nschema: v1\nmcpServers:\n  # of a\n  - name: a\n    command: a # first\n';
    const older = '  # of Waygate\n  - name: waygate\n    command: old\n';
    one.put(CONTINUE, before + older);
    const { code, stdout } = await one.write('continue');
    expect(code).toBe(0);
    const after = one.read(CONTINUE);
    expect(after.startsWith(`${before}  # of Waygate\n  - name: waygate\n    command: `)).toBe(true);
    expect(parseYaml(after)).toEqual({
      ...{ name: 'Mine', version: '1.0.0', schema: 'v1' },
      mcpServers: [
        { name: 'a', command: 'a' },
        { name: 'waygate', ...entry },
      ],
    });
    expect(stdout).toMatch(/^- {4}command: old$/m);
    expect(readFileSync(`${one.file(CONTINUE)}.waygate-backup`, 'utf8')).toBe(before + older);
    expect(one.read('.continue/mcpServers/other.yaml')).toBe('mcpServers: []\n');
    expect((await one.write('continue')).stdout).toContain('has this entry already');
  });

  it.each(['windsurf', 'continue'])('creates the file of a client that has none: %s', async (client) => {
    const one = place();
    expect((await one.write(client)).code).toBe(0);
    if (client === 'continue')
      expect(parseYaml(one.read(CONTINUE)).mcpServers).toEqual([{ name: 'waygate', ...entry }]);
    else
      expect(JSON.parse(one.read('~/.codeium/windsurf/mcp_config.json'))).toEqual({ mcpServers: { waygate: entry } });
  });

  it('replaces an entry for another workspace, and shows both', async () => {
    const one = place();
    one.put('.mcp.json', JSON.stringify({ mcpServers: { waygate: { command: 'old' } } }));
    const { stdout } = await one.write('claude-code');
    expect(stdout).toMatch(/^-.*"old"/m);
    expect(JSON.parse(one.read('.mcp.json'))).toEqual({ mcpServers: { waygate: { type: 'stdio', ...entry } } });
  });

  it('shows no token of another entry', async () => {
    const one = place();
    const token = `ghp_${'a1'.repeat(18)}`;
    one.put('.cursor/mcp.json', JSON.stringify({ mcpServers: { hub: { command: 'h', env: { T: token } } } }));
    const { stdout, stderr } = await one.write('cursor');
    expect(stdout + stderr).not.toContain(token);
    expect(one.read('.cursor/mcp.json')).toContain(token);
  });

  it.each([
    ['.cursor/mcp.json', 'cursor', '{ "mcpServers": '],
    ['.cursor/mcp.json', 'cursor', '{ "mcpServers": ["a"] }'],
    ['~/.codex/config.toml', 'codex', 'mcp_servers = { a = { command = "a" } }\n'],
    [CONTINUE, 'continue', 'mcpServers: [\n'],
    [CONTINUE, 'continue', 'mcpServers:\n  a:\n    command: a\n'],
    [CONTINUE, 'continue', 'one: &x [{name: b}]\nmcpServers: *x\n'],
  ])('changes nothing in %s of %s with %j', async (name, client, text) => {
    const one = place();
    one.put(name, text);
    const { code, stderr } = await one.write(client);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^waygate: [^\n]+\.\n$/)]);
    expect(one.read(name)).toBe(text);
    expect(existsSync(`${one.file(name)}.waygate-backup`)).toBe(false);
  });

  it('writes through no link that leads out of the workspace', async () => {
    const one = place();
    one.put('~/victim.json', '{}');
    one.put('.cursor/x', '');
    symlinkSync(one.file('~/victim.json'), one.file('.cursor/mcp.json'));
    expect((await one.write('cursor')).code).toBe(1);
    expect(one.read('~/victim.json')).toBe('{}');
  });

  it('writes nothing where nobody can be asked', async () => {
    const one = place();
    const { code, stdout, stderr } = await waygate(one.workspace, ['client-config', 'cursor', '--write']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/nothing was written, because nobody can be asked here/)]);
    expect(stdout).toContain('+');
    expect(existsSync(one.file('.cursor/mcp.json'))).toBe(false);
  });

  it.each([true, false])('asks a person, and obeys the answer %s', async (answer) => {
    const { workspace, file } = place();
    const said: string[] = [];
    const terminal: Terminal = {
      out: (text) => void said.push(text),
      err: (text) => void said.push(text),
      interactive: true,
      confirm: async (question) => {
        said.push(question);
        return answer;
      },
    };
    const command = { client: 'cursor', workspace: workspace.folder, write: true, yes: false, json: false } as const;
    const text = '{ "mcpServers": { "waygate": { "command": "w" } } }';
    const code = await writeClientConfig(command, { entry: text, file: '.cursor/mcp.json' }, workspace.env, terminal);
    expect([code, existsSync(file('.cursor/mcp.json'))]).toEqual([answer ? 0 : 1, answer]);
    expect(said.slice(0, 2)).toEqual([
      expect.stringContaining('+{ "mcpServers"'),
      `Write this into ${file('.cursor/mcp.json')}?`,
    ]);
  });
});
