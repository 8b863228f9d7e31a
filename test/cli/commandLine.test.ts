import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { rendezvous, status, waygate } from '../support/census.ts';
import { HostProcess, isAlive, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace, WAYGATE } from '../support/workspace.ts';

const oneSentence = /^waygate: [^\n]+\.\n$/;

describe('the command line', () => {
  it.each([
    [['serv'], /unknown command "serv"; did you mean "serve"\?/],
    [
      ['--json'],
      /unknown option "--json"; there are serve, status, health, telemetry, reload, stop, browse, catalog, scan, trust, lock, allow, deny, learned, approve, secret, login, logout, import, client-config, plugin, records, skill, session, uninstall, --help, --version\./,
    ],
    [['serve', '--workspcae', 'x'], /waygate serve has no option "--workspcae"; did you mean "--workspace"\?/],
    [
      ['serve', '--json'],
      /waygate serve has no option "--json"; it takes --workspace, --config, --mode, --name, --catalog, --http, /,
    ],
    [['serve', '--name', 'my_server'], /--name takes 1 to 13 lower-case letters, digits and "-", not "my_server"\./],
    [['serve', '--mode', 'pasthrough'], /there is no mode "pasthrough"; did you mean "passthrough"\?/],
    [['trust', 'dif', 'one'], /waygate trust has no action "dif"; did you mean "diff"\?/],
    [['trust', 'diff'], /waygate trust diff needs a server or a tool_id; see waygate trust\./],
    [['trust', 'log', 'one'], /waygate trust log takes no name\./],
    [['trust', 'diff', 'one', '--pin', '12345678'], /--pin belongs to waygate trust accept\./],
    [['trust', 'accept', 'one', '--pin', '1234567'], /--pin needs at least the first 8 digits/],
    [['lock', 'one'], /waygate lock: Unexpected argument 'one'/],
    [['deny'], /waygate deny needs a server, or a tool by its path or tool_id; see waygate catalog\./],
    [['scan', 'a', 'b'], /waygate scan takes the name of one server; see waygate status\./],
    [['scan', '--json', '--sarif'], /--json and --sarif exclude each other; give one\./],
    [['serve', '--port', '80'], /--port belongs to --http; write waygate serve --http --port\./],
    [['serve', '--no-token'], /--no-token belongs to --http/],
    [
      ['serve', '--http', '--port', '65536'],
      /--port must be a number from 0 \(any free port\) to 65535, not "65536"\./,
    ],
    [['serve', '--http', '--port=-1'], /--port must be a number/],
    [['serve', '--http', '--port', '8e3'], /--port must be a number/],
    [
      ['serve', '--http', '--no-token', '--token-file', 'x'],
      /--token-file and --no-token exclude each other; give one\./,
    ],
    [['serve', '--http', '--token-file', ''], /--token-file is empty/],
    [['telemetry', '--folow'], /waygate telemetry has no option "--folow"; did you mean "--follow"\?/],
    [
      ['health', '--since'],
      /waygate health has no option "--since"; it takes --workspace, --config, --catalog, --json, --follow\./,
    ],
    [['status', 'here'], /waygate status: Unexpected argument 'here'/],
    [['status', '--json=yes'], /waygate status: Option '--json' does not take an argument\./],
    [['serve', '--workspace'], /waygate serve: Option '--workspace <value>' argument missing\./],
    [['serve', '--workspace', ''], /--workspace is empty/],
    [['serve', '--config', ''], /--config is empty/],
    [['logout'], /waygate logout needs the name of a server; see waygate status\./],
    [['learned', '--forget', ''], /--forget is empty; name the tool_id/],
    [['approve', '--revoke'], /approve --revoke needs a server, a tool_id, or --all\./],
    [['approve', 'one', '--all'], /approve takes names or --all, not both\./],
    [['skill'], /waygate skill needs an action: waygate skill install\./],
    [['skill', 'remove'], /waygate skill needs an action: waygate skill install\./],
    [['skill', 'install', '--into', ''], /--into is empty/],
  ])('refuses %j with one sentence and exit code 64', async (args, sentence) => {
    const { code, stdout, stderr } = await waygate(testWorkspace(), args);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(/^waygate: [^\n]+[.?]\n$/);
  });

  it.each([
    ['serve', 'nowhere', /nowhere does not exist; name another with --workspace\./],
    ['status', 'nowhere', /nowhere does not exist/],
    ['stop', 'a-file', /a-file is not a folder/],
  ])('%s refuses %s as a workspace with exit code 66', async (command, name, sentence) => {
    const workspace = testWorkspace();
    workspace.write('a-file', '');
    const { code, stdout, stderr } = await waygate(workspace, [command, '--workspace', join(workspace.folder, name)]);
    expect({ code, stdout }).toEqual({ code: 66, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(oneSentence);
  });

  it.each(['serve', 'browse', 'catalog', 'approve', 'secret', 'learned'])(
    '%s refuses a missing configuration with exit code 66',
    async (command) => {
      const words = command === 'browse' ? ['x'] : command === 'secret' ? ['list'] : [];
      const { code, stdout, stderr } = await waygate(testWorkspace(), [command, ...words, '--config', 'nowhere.json']);
      expect({ code, stdout }).toEqual({ code: 66, stdout: '' });
      expect(stderr).toMatch(/nowhere\.json does not exist or is no file; name it with --config\./);
      expect(stderr).toMatch(oneSentence);
    },
  );

  it.each([
    [['secret', 'delete', 'nothing'], /there is no secret "nothing"; see waygate secret list\./, 1],
    [['learned', '--forget', 'one:echo'], /nothing has been learned about "one:echo"; no tool has been used yet\./, 1],
    [['scan', 'nobody'], /there is no server "nobody"; there is none\./, 1],
    [['login', 'nobody'], /There is no server "nobody"; there is none\./, 1],
    [['serve', '--http', '--token-file', 'nowhere'], /the token file \S+nowhere does not exist\./, 1],
    [['import', '--from', 'broken.json'], /broken\.json:1:7: it is not JSON: a value is expected here\./, 65],
    [
      ['browse', 'x', '--catalog', 'broken.yaml'],
      /broken\.yaml:\d+:\d+: this is neither JSON nor YAML: Flow sequence in block collection must be [^\n]+\./,
      1,
    ],
  ])('reports the failure of %j in one sentence', async (args, sentence, expected) => {
    const workspace = testWorkspace({});
    workspace.write('broken.json', '{"a": ');
    workspace.write('broken.yaml', 'tools: [\n');
    const { code, stdout, stderr } = await waygate(workspace, args);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr).toMatch(oneSentence);
  });

  it('reports a broken configuration when the catalog is listed', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', '{ "servers": ');
    const { code, stdout, stderr } = await waygate(workspace, ['catalog']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '0 tools of 0 servers\n' });
    expect(stderr).toMatch(
      /^waygate: \S+waygate\.json:1:\d+: This is not JSON: a value is expected here\. Until then no tool can be called, .*\n$/,
    );
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const workspace = testWorkspace();
    for (const flag of ['--version', '-v']) {
      const answer = await waygate(workspace, [flag]);
      expect(answer).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^waygate \S+\+\d{14}\n$/) });
      expect(answer.stdout).toContain(` ${version}+`);
    }
  });

  it('accepts a folder as a file URI, and refuses a URI of another machine', async () => {
    const workspace = testWorkspace({});
    const { stdout } = await waygate(workspace, ['status', '--workspace', pathToFileURL(workspace.folder).href]);
    expect(stdout).toBe(`No gateway runs for ${workspace.folder}.\n`);
    const refused = await waygate(workspace, ['status', '--workspace', 'file:///a%2Fb']);
    expect(refused).toMatchObject({ code: 66, stderr: expect.stringMatching(oneSentence) });
  });

  it('reports that no gateway runs, and starts none', async () => {
    const workspace = testWorkspace({});
    expect(await waygate(workspace, ['status'])).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Next: a client starts it/),
      stdout: `No gateway runs for ${workspace.folder}.\n`,
    });
    expect((await waygate(workspace, ['stop'])).stdout).toBe(`No gateway runs for ${workspace.folder}.\n`);
    expect(JSON.parse((await waygate(workspace, ['status', '--json'])).stdout)).toEqual({
      workspace: workspace.folder,
      worker: null,
      sessions: [],
      servers: [],
    });
    expect(rendezvous(workspace)).toBeUndefined();
  });

  it('reports the worker, its sessions and its servers', async () => {
    const workspace = testWorkspace({ one: servers.fixture(), gone: { command: 'waygate-no-such-command' } });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const text = await until('both servers to settle', async () => {
      const { stdout } = await waygate(workspace, ['status']);
      return stdout.includes('failed') && stdout;
    });
    expect(text).toMatch(/^gateway {2}degraded, pid \d+, build \S+, up \d+ s\ncatalog {2}6 tools of 2 servers\n/);
    expect(text).toMatch(/\n {2}one {3}ready, 6 tools, pid \d+, no walls: \S+[^\n]*, MCP 2025-11-25\n/);
    expect(text).toMatch(
      /\n {2}gone {2}failed: The command "waygate-no-such-command" was not found; .*waygate\.json:\d+\)\n/,
    );
    expect(text).toMatch(/\nsessions\n {2}test-client 1\.2\.3, MCP 2025-11-25, gateway mode, for \d+ s\n$/);
    expect(await status(workspace)).toMatchObject({
      workspace: workspace.folder,
      worker: {
        pid: rendezvous(workspace)?.pid,
        build: expect.any(String),
        uptimeMs: expect.any(Number),
        state: 'degraded',
      },
      configuration: { file: workspace.configFile, exists: true, problems: [] },
      catalog: { toolCount: 6, namespaceCount: expect.any(Number) },
      sessions: [{ client: 'test-client', mode: 'gateway' }],
      servers: [
        { name: 'one', state: 'ready', pid: expect.any(Number) },
        { name: 'gone', state: 'failed' },
      ],
    });
  });

  it('reports the mode of each session', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    for (const mode of ['gateway', 'transparent', 'passthrough'])
      await HostProcess.connect(workspace, ['--mode', mode]);
    // Only a passthrough client waits for the worker; the other clients are answered before their hosts have attached.
    await until('all three to be attached', async () => (await status(workspace)).sessions.length === 3);
    const { stdout } = await waygate(workspace, ['status']);
    const modes = [...stdout.matchAll(/^ {2}test-client .*, (\w+) mode, for /gm)].map(([, mode]) => mode);
    // The order of attachment varies.
    expect([...modes].sort()).toEqual(['gateway', 'passthrough', 'transparent']);
    expect((await status(workspace)).sessions.map(({ mode }) => mode)).toEqual(modes);
  });

  it('stops the worker with its servers; the session stays, and its next request starts a new worker', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const { worker, servers: running } = await status(workspace);
    const { code, stdout, stderr } = await waygate(workspace, ['stop']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(`Stopped the gateway of ${workspace.folder} (pid ${worker?.pid}).\n`);
    expect([worker?.pid, running[0]?.pid].map((pid) => isAlive(pid as number))).toEqual([false, false]);
    // A wrong restart would happen at once.
    await new Promise((done) => setTimeout(done, 500));
    expect((await status(workspace)).worker).toBeNull();
    expect(await host.call('tool_browse', { path: '/' })).toMatchObject({ isError: false });
    expect((await status(workspace)).worker?.pid).not.toBe(worker?.pid);
  });

  it.each([
    ['asked to stop', 'stop', (pid: number | undefined) => `Stopped the gateway of .* \\(pid ${pid}\\)\\.`],
    ['asked for its id', 'status', () => 'No gateway runs for '],
  ])('takes a gateway for stopped that ends when it is %s', async (_, request, words) => {
    const workspace = testWorkspace({});
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir, []);
    const worker = spawn(process.execPath, ['test/fixtures/leavingWorker.mjs', folder, request], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(worker.stdout, 'data');
    const { code, stdout, stderr } = await waygate(workspace, ['stop']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(words(worker.pid)));
  });

  it('reports a worker that does not answer', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const pid = rendezvous(workspace)?.pid as number;
    process.kill(pid, 'SIGSTOP');
    try {
      const answers = await Promise.all([waygate(workspace, ['status']), waygate(workspace, ['stop'])]);
      for (const { code, stdout, stderr } of answers) {
        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr).toMatch(oneSentence);
        expect(stderr).toContain(`The gateway (pid ${pid}) does not answer`);
      }
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, ''), 'is not a folder'],
    ['a folder for everybody', (path: string) => mkdirSync(path, { mode: 0o777 }), 'is writable by everybody'],
  ])('serves its session to the end if the state folder is %s, and exits with 73', async (what, make, sentence) => {
    const workspace = testWorkspace({});
    make(workspace.stateDir);
    if (what !== 'a file') (await import('node:fs')).chmodSync(workspace.stateDir, 0o1777);
    const host = new HostProcess(workspace);
    expect((await host.initialize()).result).toBeDefined();
    const answer = await host.call('tool_browse', { path: '/' });
    expect(answer).toMatchObject({ isError: true, text: expect.stringContaining(sentence) });
    expect((await host.request('prompts/list')).error?.message).toContain(sentence);
    const { result } = await host.request('resources/read', { uri: 'waygate://health' });
    expect(JSON.stringify(result)).toContain(sentence);
    host.end();
    expect(await host.exited).toBe(73);
    expect(host.stderr).toMatch(oneSentence);
    expect(host.stderr).toContain(sentence);
  });
});

describe('a client that exits', () => {
  const spawnHost = (workspace: TestWorkspace) => {
    const child = spawn(process.execPath, [WAYGATE, 'serve', '--workspace', workspace.folder], { env: workspace.env });
    child.stdin.on('error', () => undefined);
    return { child, exited: new Promise((done) => child.once('exit', (code) => done(code))) };
  };

  it('ends its host without having read the output', async () => {
    const { child, exited } = spawnHost(testWorkspace({}));
    // Far more than a socket holds, so that the output blocks.
    child.stdout.pause();
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(50_000));
    await until('the output to be full', () => child.stdin.writableLength === 0);
    child.stdin.end();
    // Without its limit of a second, the host would never exit.
    await exited;
  });

  it('does no harm in the middle of a line', async () => {
    const { child, exited } = spawnHost(testWorkspace({}));
    child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"tools');
    expect(await exited).toBe(0);
  });

  it('ends its host silently when only the output is closed', async () => {
    const { child, exited } = spawnHost(testWorkspace({}));
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.destroy();
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(10));
    expect(await exited).toBe(0);
    expect(stderr).toBe('');
  });

  it('changes nothing when only stderr is closed', async () => {
    const folder = temporaryFolder('wg-');
    writeFileSync(join(folder, 'state'), '');
    const workspace = { ...testWorkspace({}), stateDir: join(folder, 'state') };
    const host = new HostProcess({ ...workspace, env: { ...workspace.env, WAYGATE_STATE_DIR: workspace.stateDir } });
    host.child.stderr.destroy();
    await host.initialize();
    // Each of these calls would write a line to stderr.
    expect(await host.call('tool_browse', { path: '/' })).toMatchObject({ isError: true });
    expect((await host.request('ping')).result).toEqual({});
  });

  it('gets its answer before it exits, with or without a worker', async () => {
    const workspace = testWorkspace({});
    // Another process is starting the worker and never becomes ready.
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
    writeFileSync(join(folder, 'start.lock'), String(process.pid));
    const host = new HostProcess(workspace);
    await host.initialize();
    const tools = host.request('tools/list');
    const call = host.call('tool_browse', { path: '/' });
    host.end();
    expect((await tools).error?.message).toContain('Nothing was sent');
    expect((await call).text).toContain('outcome: not_dispatched');
    await host.exited;
  });
});
