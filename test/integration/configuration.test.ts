import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { status } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('an error in the configuration', () => {
  it('affects no other server, and is reported with file, line and reason', async () => {
    const workspace = testWorkspace();
    const fixture = JSON.stringify(servers.fixture());
    const dying = JSON.stringify(servers.fixture('--say-and-exit', 'Error: no API key'));
    const lines = [
      '{ "servers": {',
      `  "works": ${fixture},`,
      '  "unknown": { "command": "waygate-no-such-command" },',
      `  "dies": ${dying},`,
      '  "wrong": { "command": 5 },',
      '  "unset": { "command": "x", "env": { "KEY": "${env:WAYGATE_TEST_UNSET}" } },',
      '  "fileless": { "command": "x", "envFile": "missing.env" },',
      `  "homeless": { "command": ${JSON.stringify(process.execPath)}, "cwd": "/no/such/folder" },`,
      `  "folder": { "command": ${JSON.stringify(workspace.folder)} }`,
      '} }',
    ];
    writeFileSync(workspace.configFile, lines.join('\n'));
    workspace.approve();
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/works/echo');
    expect(await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).toMatchObject({ text: 'ok\nhi\n' });
    const { text } = await until('all to have settled', async () => {
      const answer = await host.call('tool_browse', { path: '/' });
      return !answer.text.includes('starting') && answer;
    });
    const noteOf = (name: string): string => text.split('\n').find((line) => line.startsWith(`${name}: `)) ?? '';
    expect(noteOf('unknown')).toMatch(/"waygate-no-such-command" was not found; .*\(\.vscode\/waygate\.json line 3\)$/);
    expect(noteOf('dies')).toMatch(/exit code 3.*It said: Error: no API key.*line 4\)$/);
    expect(noteOf('wrong')).toMatch(/^wrong: "servers\.wrong\.command" must be a string\..*line 5\)$/);
    expect(noteOf('unset')).toMatch(
      /variable WAYGATE_TEST_UNSET .*is not set in the environment of the gateway; .*line 6\)$/,
    );
    expect(noteOf('fileless')).toMatch(
      /"servers\.fileless\.envFile": .*missing\.env cannot be read \(ENOENT\)\..*line 7\)$/,
    );
    expect(noteOf('homeless')).toMatch(/folder \/no\/such\/folder does not exist.*line 8\)$/);
    expect(noteOf('folder')).toMatch(/cannot be run.*line 9\)$/);
    const { servers: states, worker } = await status(workspace);
    expect(worker?.state).toBe('degraded');
    expect(states.filter((server) => server.state === 'ready').map((server) => server.name)).toEqual(['works']);
  });

  it.each([
    ['is not JSON', '{ "servers": {\n  oops\n', /Configuration, \.vscode\/waygate\.json line 2: This is not JSON/],
    ['nests too deeply', `{"servers": ${'['.repeat(100_000)}`, /line 1: This nests deeper than 100 levels/],
    ['is empty', '', /line 1: The file is empty/],
  ])('is reported from the first answer on if the file %s', async (_what, text, reported) => {
    const workspace = testWorkspace();
    writeFileSync(workspace.configFile, text);
    const host = await GatewaySession.connect(workspace);
    expect((await host.call('tool_browse', { path: '/' })).text).toMatch(reported);
  });
});

describe('a configuration that changes', () => {
  it('applies without a restart: new servers start, removed ones stop, unchanged ones keep running', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    const stays = servers.fixture('--pid-file', pids);
    workspace.configure({ stays, goes: servers.fixture(), changes: servers.fixture('--name-suffix', '_a') });
    const host = await HostProcess.connect(workspace);
    await Promise.all(['/stays/echo', '/goes/echo', '/changes/echo_a'].map((path) => host.toolId(path)));
    const before = await status(workspace);
    const pid = before.servers.find((server) => server.name === 'goes')?.pid as number;
    workspace.configure({ comes: servers.fixture(), changes: servers.fixture('--name-suffix', '_b'), stays });
    await Promise.all(['/comes/echo', '/changes/echo_b', '/stays/echo'].map((path) => host.toolId(path)));
    await until('the end of what has gone', () => !isAlive(pid));
    expect((await host.call('tool_browse', { path: '/goes' })).text).toMatch(/^Error PATH_NOT_FOUND/);
    const after = await status(workspace);
    expect(after.worker?.pid).toBe(before.worker?.pid);
    expect(host.child.exitCode).toBeNull();
    expect(after.servers.map((server) => server.name)).toEqual(['comes', 'changes', 'stays']);
    expect(pidsIn(pids)).toHaveLength(1);
  });

  it('keeps the last good servers while the file is broken, and reports the error until it is corrected', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/echo');
    const { pid } = (await status(workspace)).servers[0] as { pid: number };
    const good = readFileSync(workspace.configFile, 'utf8');
    writeFileSync(workspace.configFile, good.slice(0, -5));
    const notes = () => host.call('tool_browse', { path: '/' }).then(({ text }) => text);
    await until('the problem to be reported', async () => (await notes()).includes('This is not JSON'));
    expect(await host.call('tool_execute', { tool_id: id, args: { text: 'still' } })).toMatchObject({
      text: 'ok\nstill\n',
    });
    writeFileSync(workspace.configFile, good);
    await until('the problem to be gone', async () => !(await notes()).includes('This is not JSON'));
    expect((await status(workspace)).servers[0]).toMatchObject({ name: 'one', pid });
    rmSync(workspace.configFile);
    await until('the server to be gone', () => !isAlive(pid));
    expect(await notes()).toContain('No server is configured yet');
  });

  it('applies while its servers are starting', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    const slow = (name: string) => servers.fixture('--pid-file', pids, '--start-delay', '400', '--name-suffix', name);
    workspace.configure({ one: slow('_0') });
    const host = await GatewaySession.connect(workspace);
    for (let i = 1; i <= 4; i++) {
      await until('a start', () => readFileSync(pids, 'utf8').split('\n').length - 1 >= Math.min(i, 2));
      workspace.configure({ one: slow(`_${i}`) });
    }
    await host.toolId('/one/echo_4');
    const running = pidsIn(pids);
    await until('one process alone', () => running.filter(isAlive).length === 1);
    expect((await status(workspace)).servers).toMatchObject([{ name: 'one', state: 'ready', toolCount: 6 }]);
  });
});
