import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/commandLine.ts';
import { COMMAND_NAMES, OPTIONS } from '../../src/cli/commands.ts';
import type { Normalisation } from '../../src/text/normalise.ts';
import { waygate } from '../support/census.ts';
import { HostProcess } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Every command except `serve`, whose output is the protocol. `records` prints where it has an action. */
const PRINTS = COMMAND_NAMES.filter((name) => name !== 'serve');

describe('output of a command', () => {
  it('is data with --json, for every command that prints', async () => {
    expect(PRINTS.filter((name) => !('json' in OPTIONS[name]))).toEqual([]);
    expect('json' in OPTIONS.serve).toBe(false);
    expect(() => parseCommandLine(['records', '--json'], () => undefined)).toThrow('or nothing to serve');
  });

  it.each([
    ['status', [], { worker: null, servers: [], sessions: [] }],
    ['health', [], { state: 'cold', servers: [] }],
    ['telemetry', [], { state: 'cold', totals: null }],
    ['reload', [], { worker: null }],
    ['stop', [], { stopped: null }],
    [
      'approve',
      [],
      {
        servers: [
          { name: 'one', state: 'approved', hash: expect.stringMatching(/^[0-9a-f]{64}$/), lines: expect.any(Array) },
        ],
        tools: [],
      },
    ],
    ['approve', ['--all'], { servers: [{ name: 'one', state: 'approved', lines: expect.any(Array) }], approved: [] }],
    ['approve', ['--revoke', 'one'], { revoked: { servers: 1, tools: 0 } }],
    ['secret', ['list'], { names: [] }],
    ['import', ['--dry-run'], undefined],
    [
      'client-config',
      ['codex'],
      { client: 'codex', file: '~/.codex/config.toml', launch: { args: expect.any(Array) } },
    ],
    ['skill', ['install'], { written: expect.arrayContaining(['SKILL.md']), unchanged: [], kept: [] }],
  ])('%s %j without a gateway: %j', async (command, args, data) => {
    const workspace = testWorkspace({ one: servers.fixture() });
    if (command === 'import') workspace.write('.mcp.json', JSON.stringify({ mcpServers: { two: { command: 'two' } } }));
    const { code, stdout, stderr } = await waygate(workspace, [command, ...args, '--json']);
    expect([code, stderr]).toEqual([0, '']);
    const printed = JSON.parse(stdout);
    expect(printed).toMatchObject(
      data ?? { dryRun: true, written: false, servers: [{ name: 'two', outcome: 'added' }] },
    );
    if (command === 'import') expect(printed.diff).toContain('+');
    const plain = await waygate(testWorkspace({ one: servers.fixture() }), [command, ...args]);
    expect(() => JSON.parse(plain.stdout)).toThrow();
  });

  it('is data with a running gateway too', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const json = async (...args: string[]) => JSON.parse((await waygate(workspace, [...args, '--json'])).stdout);
    expect(await json('browse', '/')).toMatchObject({ total: 1 });
    expect(await json('catalog')).toMatchObject({ namespaces: [{ namespace: 'one' }] });
    expect((await waygate(workspace, ['catalog'])).stdout).toMatch(/^6 tools of 1 server\n\/one {2}6 tools\n/);
    expect(await json('learned')).toEqual([]);
    const { worker } = await json('status');
    const reloaded = await json('reload');
    expect(reloaded.worker).toEqual({ pid: expect.any(Number), replaced: worker.pid });
    expect(await json('stop')).toEqual({ workspace: workspace.folder, stopped: { pid: reloaded.worker.pid } });
  });

  it('contains no secret after an import, however it is escaped, and asks no question', async () => {
    const workspace = testWorkspace();
    const secret = `ghp_${'f1'.repeat(18)}`;
    const entry = { command: 'hub', env: { GITHUB_TOKEN: secret } };
    workspace.write('.mcp.json', JSON.stringify({ mcpServers: { hub: entry } }));
    const { code, stderr } = await waygate(workspace, ['import', '--json']);
    expect([code, stderr]).toEqual([64, expect.stringContaining('import needs a selection')]);
    const { stdout } = await waygate(workspace, ['import', '--all', '--json']);
    expect(stdout).not.toContain(secret);
    expect(JSON.parse(stdout)).toMatchObject({
      file: workspace.configFile,
      written: true,
      servers: [{ name: 'hub', client: 'claude-code', references: [{ where: 'env.GITHUB_TOKEN' }] }],
      alsoStartedBy: [{ client: 'claude-code' }],
    });
    expect(existsSync(workspace.configFile)).toBe(true);
  });
});

describe('a command line in another spelling', () => {
  const file = resolve('/etc/a b.json');
  const uri = pathToFileURL(file).href;
  const read = (argv: readonly string[]) => {
    const reported: Normalisation[] = [];
    const command = parseCommandLine(argv, (one) => reported.push(one));
    return { command, reported };
  };

  it.each([
    ['token_alias', ['Status'], { name: 'status' }],
    ['token_alias', ['clientConfig', 'zed'], { name: 'client-config', client: 'zed' }],
    ['token_alias', ['client-config', 'claudeCode'], { client: 'claude-code' }],
    ['token_alias', ['serve', '--mode', 'Transparent'], { mode: 'transparent' }],
    ['token_alias', ['import', '--from', 'Claude_Desktop'], { from: ['claude-desktop'] }],
    ['file_uri', ['import', '--from', uri], { from: [file] }],
    ['file_uri', ['status', '--workspace', pathToFileURL(process.cwd()).href], { workspace: process.cwd() }],
    ['file_uri', ['status', '--config', uri], { configFile: file }],
    ['file_uri', ['stop', '--catalog', uri], { catalog: file }],
    ['file_uri', ['skill', 'install', '--into', uri], { into: file }],
    ['file_uri', ['serve', '--http', '--token-file', uri], { http: { token: { file } } }],
  ] as const)('%s: %j is %j', (rule, argv, meant) => {
    const { command, reported } = read(argv);
    expect(command).toMatchObject(meant);
    expect(reported).toMatchObject([{ rule }]);
  });

  it.each([
    [['--status'], /unknown option "--status"/],
    [['serve', '--mode', 'direct'], /there is no mode "direct"; there are gateway, transparent, passthrough\./],
    [['status', '--config', 'file:///a%2Fb'], /is not a path on this machine; give a local path with --config\./],
  ])('refuses to correct %j', (argv, sentence) => {
    expect(() => read(argv)).toThrow(sentence);
  });

  it('prefers a file of exactly this name to a client in another spelling', async () => {
    const workspace = testWorkspace();
    workspace.write('Cursor', JSON.stringify({ mcpServers: { two: { command: 'two' } } }));
    const { stdout, stderr } = await waygate(workspace, ['import', '--from', 'Cursor', '--dry-run']);
    expect([stderr, stdout]).toEqual(['', expect.stringContaining(join(workspace.folder, 'Cursor'))]);
  });

  it('reports each rule on its own line, beside the answer', async () => {
    const workspace = testWorkspace({});
    const uri = pathToFileURL(workspace.folder).href;
    const { stdout, stderr } = await waygate(workspace, ['STATUS', '--workspace', uri]);
    expect(stdout).toBe(`No gateway runs for ${workspace.folder}.\n`);
    expect(stderr).toContain(
      `waygate: note: "STATUS" was read as "status" (token_alias)\nwaygate: note: "${uri}" was read as "${workspace.folder}" (file_uri)\n`,
    );
  });
});
