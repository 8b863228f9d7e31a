import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workspaceStateFolder } from '../../src/config/state/stateFolder.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { approveShown, runtimeOf, status, waygate, workersOf } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, pidsIn, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const write = (file: string, content: object | string): void =>
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
const stateOf = async (workspace: TestWorkspace, name: string): Promise<string | undefined> =>
  (await status(workspace)).servers.find((server) => server.name === name)?.state;
/** Returns tool ids without their hashes, such as `one:echo`. */
const toolsOf = async (host: StreamClient, path: string): Promise<string[]> => {
  const { structured } = await host.call('tool_browse', { path, render: 'json' });
  return ((structured?.cards ?? []) as { id: string; kind: string }[])
    .filter(({ kind }) => kind === 'tool')
    .map(({ id }) => id.split('#')[0] as string);
};

describe("the user's own waygate.json", () => {
  it('starts its servers in every workspace without approval, and the workspace replaces none of them', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    write(workspace.userConfigFile, {
      servers: { mine: servers.fixture(), both: servers.fixture() },
    });
    const theirs = servers.fixture('--pid-file', pids);
    write(workspace.configFile, { servers: { both: theirs, new: theirs } });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/mine/echo');
    await host.toolId('/both/echo');
    expect(await stateOf(workspace, 'new')).toBe('needs_approval');
    expect(readFileSync(pids, 'utf8')).toBe('');
    const { stdout } = await waygate(workspace, ['approve']);
    expect(stdout).toMatch(
      /^"mine" \(needs no approval\)\n.*"both" \(needs no.*"new" \(not approved, hash [0-9a-f]{8}\)\n/s,
    );
    await approveShown(workspace, 'new');
    await host.toolId('/new/echo');
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
  });

  it('applies if the workspace has no file, and keeps its last good version while it is broken', async () => {
    const workspace = testWorkspace();
    write(workspace.userConfigFile, { servers: { mine: servers.fixture() } });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/mine/echo');
    write(workspace.userConfigFile, '{\n  "servers": {');
    workspace.configure({ theirs: servers.fixture() });
    await host.toolId('/theirs/echo');
    const { configuration } = await status(workspace);
    expect(configuration.problems.map(({ location }) => [location.file, location.line])).toEqual([
      [workspace.userConfigFile, 2],
    ]);
    expect((await waygate(workspace, ['status'])).stdout).toContain(
      `config   ${workspace.userConfigFile} (user level)\nconfig   ${workspace.configFile}\n`,
    );
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
  });

  it('denies a tool even if the workspace allows it', async () => {
    const workspace = testWorkspace();
    write(workspace.userConfigFile, {
      servers: { mine: servers.fixture() },
      policy: { rules: [{ action: 'deny', server: 'mine', tool: 'echo', reason: 'Not here.' }] },
    });
    write(workspace.configFile, { policy: { rules: [{ action: 'allow', tool: '*' }] } });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/mine/echo');
    const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
    expect(answer.text).toMatch(/^Error POLICY_DENIED: .*Not here\./);
  });
});

describe('a configuration given with --config', () => {
  it('runs as a separate gateway, needs no approval, and applies when it changes', async () => {
    const workspace = testWorkspace({ ours: servers.fixture() });
    const file = workspace.write('given.json', '');
    write(file, { servers: { given: servers.fixture() } });
    const host = await HostProcess.connect(workspace);
    const other = new HostProcess(workspace, ['--config', file]);
    await other.initialize();
    await Promise.all([host.toolId('/ours/echo'), other.toolId('/given/echo')]);
    expect(await workersOf(workspace)).toHaveLength(2);
    const report = JSON.parse((await waygate(workspace, ['status', '--json', '--config', file])).stdout) as {
      servers: { name: string; state: string }[];
    };
    expect(report.servers).toMatchObject([{ name: 'given', state: 'ready' }]);
    expect((await status(workspace)).servers).toMatchObject([{ name: 'ours', state: 'ready' }]);
    write(file, { servers: { later: servers.fixture() } });
    await other.toolId('/later/echo');
    expect((await waygate(workspace, ['catalog', '--config', file])).stdout).toMatch(
      /^6 tools of 1 server\n\/later {2}/,
    );
    // Stopping this gateway does not stop the gateway of the workspace.
    expect((await waygate(workspace, ['stop', '--config', file])).stdout).toContain('Stopped the gateway');
    expect(await stateOf(workspace, 'ours')).toBe('ready');
    expect((await waygate(workspace, ['status', '--config', file])).stdout).toBe(
      `No gateway runs for ${workspace.folder} with ${file}.\n`,
    );
  });
});

describe('the tool filter of a server', () => {
  it('applies when the file changes, and calls of excluded tools are refused', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    const entry = servers.fixture('--pid-file', pids);
    workspace.configure({ one: entry });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    expect((await toolsOf(host, '/one')).length).toBeGreaterThan(2);
    write(workspace.configFile, { servers: { one: { ...entry, tools: { include: ['e*'], exclude: ['echo'] } } } });
    await until('the change', async () => !(await toolsOf(host, '/one')).includes('one:echo'));
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toMatch(
      /^Error HYDRATE_FAILED/,
    );
    write(workspace.configFile, { servers: { one: { ...entry, tools: { include: ['echo'] } } } });
    await until('the way back', async () => (await toolsOf(host, '/one')).includes('one:echo'));
    expect(await toolsOf(host, '/one')).toEqual(['one:echo']);
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    // Each worker starts its own process, which ends with the worker.
    const started = pidsIn(pids);
    await until('one process alone', () => started.filter(isAlive).length === 1);
  });
});

describe('a strict start', () => {
  it('answers no call before every required server is up, and reports the reason in answers and in the status', async () => {
    const workspace = testWorkspace();
    const file = workspace.write('given.json', '');
    const gone = { command: 'waygate-no-such-command' };
    write(file, { startup: { mode: 'strict' }, servers: { one: servers.fixture(), gone } });
    const host = new HostProcess(workspace, ['--config', file]);
    await host.initialize();
    const flaw = '"startup" is strict, and these servers are not up: gone (failed).';
    expect((await host.call('tool_browse', { path: '/' })).text).toContain(
      `Error UPSTREAM_UNAVAILABLE: Waygate does not serve yet: ${flaw}`,
    );
    const { stdout } = await waygate(workspace, ['status', '--config', file]);
    expect(stdout).toContain(`error    ${file}:1:12: ${flaw}`);
    write(file, {
      startup: { mode: 'strict' },
      servers: { one: servers.fixture(), gone: { ...gone, required: false } },
    });
    await until('the start', async () => !(await host.call('tool_browse', { path: '/' })).isError);
  });
});

describe('an approval', () => {
  it('can be revoked by server name or for all servers, which stops them', async () => {
    const workspace = testWorkspace({ one: servers.fixture(), two: servers.fixture('--tools', '2') });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    await host.toolId('/two/echo');
    const { stdout } = await waygate(workspace, ['approve', '--revoke', 'one']);
    expect(stdout).toBe(`Revoked 1 approval of servers and 0 of tools for ${workspace.folder}.\n`);
    await until('its end', async () => (await stateOf(workspace, 'one')) === 'needs_approval');
    expect(await stateOf(workspace, 'two')).toBe('ready');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toMatch(
      /^Error PERMISSION_DENIED: one waits for the user's approval/,
    );
    await waygate(workspace, ['approve', '--revoke', '--all']);
    await until('the other’s end', async () => (await stateOf(workspace, 'two')) === 'needs_approval');
    await approveShown(workspace, 'one');
    await until('an answer', async () => {
      const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } });
      return answer.text === 'ok\nhi\n';
    });
  });

  it('of a tool is listed, and can be revoked by its id', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const folder = workspaceStateFolder(workspace.folder, workspace.stateDir);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'tool-approvals.json');
    write(file, ['one:drop#1a2b3c4d one f1', 'one:wipe#1a2b3c4d one f2']);
    expect((await waygate(workspace, ['approve'])).stdout).toContain(
      'Tools that run without asking:\n  one:drop#1a2b3c4d\n  one:wipe#1a2b3c4d\n',
    );
    await waygate(workspace, ['approve', '--revoke', 'one:drop#1a2b3c4d']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(['one:wipe#1a2b3c4d one f2']);
    const { code, stderr } = await waygate(workspace, ['approve', '--revoke', 'one:wipe#1a2b3c4e']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('did you mean "one:wipe#1a2b3c4d"?')]);
    await waygate(workspace, ['approve', '--revoke', '--all']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([]);
  });

  it('names a variable of the environment, whose value the running gateway has, and never shows it', async () => {
    const workspace = testWorkspace();
    const fixture = servers.fixture();
    write(workspace.configFile, {
      servers: { one: { ...fixture, args: [...fixture.args, '--tools', '${env:WG_COUNT}'] } },
    });
    const host = new HostProcess(workspace, [], { WG_COUNT: '3' });
    await host.initialize();
    await until('its question', async () => (await stateOf(workspace, 'one')) === 'needs_approval');
    const elsewhere = { ...workspace, env: { ...workspace.env, WG_COUNT: '5' } };
    expect((await waygate(elsewhere, ['approve'])).stdout).toMatch(/ --tools \$\{env:WG_COUNT\}\n/);
    await approveShown(elsewhere, 'one');
    await host.toolId('/one/echo');
    expect((await status(workspace)).servers[0]?.toolCount).toBe(6);
  });
});

describe.skipIf(process.platform === 'win32')('a gateway started by a desktop', () => {
  it("finds the commands of the user's login shell", async () => {
    const workspace = testWorkspace();
    const bin = join(workspace.folder, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'my-own-node'));
    const shell = workspace.write(
      'sh',
      `#!/bin/sh\necho Hello\nPATH='${bin}':$PATH; export PATH\nexec /bin/sh -c "$2"\n`,
    );
    chmodSync(shell, 0o755);
    write(workspace.configFile, {
      servers: { one: { command: 'my-own-node', args: [resolve('test/fixtures/server.mjs')] } },
    });
    const host = new HostProcess(workspace, [], { SHELL: shell, PATH: '/usr/bin:/bin:/usr/sbin:/sbin' });
    await host.initialize();
    const control = await until('the gateway', () =>
      attachControl(runtimeOf(workspace), { start: false, holds: false }),
    );
    const shown = await until('its program', async () => {
      const approval = (await control.request('status', {})).servers[0]?.approval;
      return approval?.lines[0]?.startsWith(`runs ${bin}/my-own-node `) && approval;
    });
    await control.request('approve', { hashes: [shown.hash] });
    control.dispose();
    await host.toolId('/one/echo');
  });
});
