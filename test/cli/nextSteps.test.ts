import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { approveShown, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const nextOf = (stderr: string): string | undefined => /^Next: (.*)\n$/m.exec(stderr)?.[1];

describe('a command names the next step', () => {
  it('from the import to the client', async () => {
    const workspace = testWorkspace();
    const step = async (...args: string[]) => nextOf((await waygate(workspace, args)).stderr);
    expect(await step('approve')).toMatch(/^waygate import copies/);
    workspace.write('.mcp.json', JSON.stringify({ mcpServers: { one: servers.fixture() } }));
    expect(await step('import', '--all')).toMatch(/^waygate approve --all/);
    expect(await step('approve')).toMatch(/waygate approve NAME/);
    await approveShown(workspace);
    expect(await step('approve')).toMatch(/^waygate client-config CLIENT --write/);
    expect(await step('client-config', 'cursor')).toMatch(/waygate client-config cursor --write/);
    for (const command of ['status', 'health', 'telemetry', 'reload']) {
      expect(await step(command), command).toMatch(/waygate client-config CLIENT --write/);
    }
    expect(await step('client-config', 'cursor', '--write', '--yes')).toMatch(/restart Cursor/);
    expect(await step('skill', 'install')).toMatch(/ask your agent/);
    expect(await step('lock')).toMatch(/waygate lock --check/);
  });

  it('for servers that wait for the user', async () => {
    const workspace = testWorkspace();
    const write = (entry: object): void => {
      workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: entry } }));
    };
    write(servers.fixture());
    const host = await HostProcess.connect(workspace);
    await host.call('tool_browse', { path: '/' });
    const step = async () => nextOf((await waygate(workspace, ['status'])).stderr);
    expect(await step()).toMatch(/^waygate approve/);
    for (const args of [['browse', '/'], ['catalog'], ['catalog', '--stats'], ['scan'], ['trust']]) {
      expect(nextOf((await waygate(workspace, args)).stderr), args.join(' ')).toMatch(/^waygate approve/);
    }
    workspace.configure({ one: { ...servers.fixture(), env: { KEY: `$\{secret:the-key}` } } });
    await until('the step', async () => (await step()) === 'waygate secret set the-key');
  });

  it('not in data', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture() } }));
    const host = await HostProcess.connect(workspace);
    await host.call('tool_browse', { path: '/' });
    const inData = ['approve', 'status', 'browse /', 'catalog', 'scan', 'trust', 'client-config zed'].map(
      (one) => `${one} --json`,
    );
    for (const args of [...inData, 'scan --sarif']) {
      expect((await waygate(workspace, args.split(' '))).stderr, args).toBe('');
    }
  });

  it('not to import servers that an error hides', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', '{ "servers": ');
    const host = await HostProcess.connect(workspace);
    await host.call('tool_browse', { path: '/' });
    for (const command of ['status', 'catalog', 'scan', 'trust']) {
      expect(nextOf((await waygate(workspace, [command])).stderr), command).toBeUndefined();
    }
  });
});

describe('a broken configuration', () => {
  it.each([[[]], [['--all']], [['one']]])(
    'is reported by waygate approve %j as by waygate status, with exit code 65',
    async (args) => {
      const workspace = testWorkspace();
      workspace.write('.vscode/waygate.json', '{ "servers": { "one": ');
      const problem = /^waygate: \S+waygate\.json:1:\d+: This is not JSON: a value is expected here\./;
      const { code, stderr } = await waygate(workspace, ['approve', ...args]);
      expect([code, stderr]).toEqual([65, expect.stringMatching(problem)]);
      const [shown] = stderr.split('\n');
      const status = await waygate(workspace, ['status']);
      expect(status.stderr).toBe(`${shown}\n`);
    },
  );

  it('of one server hides no other, and keeps the exit code 65', async () => {
    const workspace = testWorkspace();
    const entries = { one: servers.fixture(), two: { command: 7 } };
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: entries }));
    const { code, stdout, stderr } = await waygate(workspace, ['approve']);
    expect([code, stdout, stderr]).toEqual([65, expect.stringContaining('"one"'), expect.stringContaining('two')]);
    await approveShown(workspace, 'one').catch(() => undefined);
    const { stdout: after } = await waygate(workspace, ['approve', '--json']);
    expect(JSON.parse(after).servers).toMatchObject([{ name: 'one', state: 'approved' }]);
  });
});

describe('waygate secret set', () => {
  it('refuses a name that nothing refers to, and names the nearest reference or the references', async () => {
    const workspace = testWorkspace();
    const env = { A: `$\{secret:github-token}`, B: `$\{input:api-key}` };
    const inputs = [{ id: 'api-key', type: 'promptString', description: 'A key', password: true }];
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ inputs, servers: { one: { ...servers.fixture(), env } } }),
    );
    const set = async (name: string) => {
      const { code, stderr } = await waygate(workspace, ['secret', 'set', name], 'value\n');
      return { code, stderr };
    };
    const { stateDir } = workspace;
    expect(await set('api-key')).toEqual({
      code: 64,
      stderr: 'waygate: no server here refers to "api-key"; did you mean "input:api-key"?\n',
    });
    expect(await set('github-tokn')).toMatchObject({ code: 64, stderr: expect.stringMatching(/"github-token"\?/) });
    expect(await set('elsewhere')).toEqual({
      code: 64,
      stderr: `waygate: no server here refers to "elsewhere"; write $\{secret:elsewhere} into waygate.json first. Servers refer to github-token, input:api-key.\n`,
    });
    expect(() => readFileSync(`${stateDir}/secrets.json`)).toThrow();
    expect(await set('input:api-key')).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Next: waygate status/),
    });
  });

  it('says that the configuration has an error, which may hide the reference', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', `{"servers": {"one": {"command": "x", "env": {"A": "$\{secret:key}"}`);
    const { code, stderr } = await waygate(workspace, ['secret', 'set', 'key'], 'value\n');
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/^waygate: .*waygate\.json:1.*\n(.*\n)*waygate: no server here/),
    ]);
  });
});
