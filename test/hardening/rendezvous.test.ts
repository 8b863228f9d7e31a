import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { receiveHello, welcome } from '../../src/link/linkHandshake.ts';
import { LINK_VERSION, publishRendezvous, type Rendezvous } from '../../src/link/rendezvous.ts';
import { rendezvous, stateFolder, status, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, SHORT_SILENCE, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace, WORKER } from '../support/workspace.ts';

const plant = (workspace: TestWorkspace, fields: Record<string, unknown>): void => {
  const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
  publishRendezvous(folder, {
    link: LINK_VERSION,
    pid: process.pid,
    socket: join(folder, 'nobody.sock'),
    token: 'planted',
    version: '0.0.1',
    build: '99.0.0+20990101000000',
    startedAt: 0,
    ...fields,
  });
};

describe('the rendezvous file', () => {
  it('leads twenty hosts that start at once to one worker', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids) });
    const hosts = Array.from({ length: 20 }, () => new HostProcess(workspace));
    await Promise.all(hosts.map((host) => host.initialize()));
    const answers = await Promise.all(hosts.map((host) => host.request('tools/list')));
    expect(answers.every((answer) => Array.isArray(answer.result?.tools))).toBe(true);
    const pid = rendezvous(workspace)?.pid;
    await until('only one worker', async () => (await workersOf(workspace)).length === 1);
    expect(await workersOf(workspace)).toEqual([pid]);
    await hosts[0]?.toolId('/one/echo');
    expect((await status(workspace)).sessions).toHaveLength(20);
    expect(statSync(pids).size).toBeLessThan(10);
  });

  it('keeps different workspaces apart', async () => {
    const [left, right] = [testWorkspace({ left: servers.fixture() }), testWorkspace({ right: servers.fixture() })];
    const shared = { ...right, stateDir: left.stateDir, env: left.env };
    shared.approve();
    const hosts = [await HostProcess.connect(left), await HostProcess.connect(shared)];
    await Promise.all([hosts[0]?.toolId('/left/echo'), hosts[1]?.toolId('/right/echo')]);
    expect((await hosts[0]?.call('tool_browse', { path: '/right' }))?.text).toMatch(/^Error PATH_NOT_FOUND/);
    expect(rendezvous(left)?.pid).not.toBe(rendezvous(shared)?.pid);
  });

  it.each([
    ['a dead process', { pid: 2 ** 22 - 3 }],
    ['a running process that is not a worker', {}],
    ['an older build', { build: '0.0.1+20200101000000' }],
  ])('is replaced if it names %s', async (_what, fields) => {
    const workspace = testWorkspace({});
    plant(workspace, fields);
    const host = await HostProcess.connect(workspace);
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
    expect(rendezvous(workspace)?.token).not.toBe('planted');
  });

  it('is replaced if the socket of its worker does not answer', async () => {
    const workspace = testWorkspace({});
    const socket = join(temporaryFolder('wg-'), 'deaf.sock');
    const deaf = createServer((attacher) => attacher.on('error', () => undefined)).listen(socket);
    plant(workspace, { socket });
    const host = await HostProcess.connect(workspace, [], {}, SHORT_SILENCE);
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
    deaf.close();
  });

  it('is read again if its worker exits during the handshake', async () => {
    const workspace = testWorkspace({});
    const folder = temporaryFolder('wg-');
    const [first, second] = [join(folder, 'first.sock'), join(folder, 'second.sock')];
    const successor = createServer(async (attacher) => {
      attacher.on('error', () => undefined);
      if (await receiveHello(attacher, 'second')) welcome(attacher);
    }).listen(second);
    const leaving = createServer((attacher) => {
      attacher.on('error', () => undefined).destroy();
      plant(workspace, { socket: second, token: 'second' });
    }).listen(first);
    onTestFinished(() => {
      leaving.close();
      successor.close();
    });
    plant(workspace, { socket: first, token: 'first' });
    const runtime = { nodePath: process.execPath, workerScript: WORKER, env: workspace.env };
    const target = { workspace: workspace.folder, stateDir: workspace.stateDir };
    const control = await attachControl({ ...runtime, ...target }, { start: false, holds: false });
    expect(control).toBeDefined();
    control?.dispose();
  });

  it('is replaced if it is invalid', async () => {
    const workspace = testWorkspace({});
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
    writeFileSync(join(folder, 'worker.json'), '{"pid": "seven"');
    const host = await HostProcess.connect(workspace);
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
  });

  it('makes a worker exit that it no longer names', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const replaced = rendezvous(workspace)?.pid as number;
    const socket = join(temporaryFolder('wg-'), 'successor.sock');
    const successor = createServer((attacher) => attacher.on('error', () => undefined).destroy()).listen(socket);
    onTestFinished(() => void successor.close());
    plant(workspace, { socket });
    await until('the first worker to exit', () => !isAlive(replaced));
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
    expect(await workersOf(workspace)).toEqual([rendezvous(workspace)?.pid]);
  });

  it('is taken back by a worker if it names a dead one', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const { pid, token } = rendezvous(workspace) as Rendezvous;
    plant(workspace, { pid: 2 ** 22 - 3 });
    await until('its name in the file', () => rendezvous(workspace)?.token === token);
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
    expect(await workersOf(workspace)).toEqual([pid]);
  });

  it('is accessible only to its owner, and so are the socket and the log', async () => {
    const workspace = testWorkspace({});
    mkdirSync(workspace.stateDir, { recursive: true });
    chmodSync(workspace.stateDir, 0o755);
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const folder = stateFolder(workspace);
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([workspace.stateDir, folder].map(mode)).toEqual([0o700, 0o700]);
    const socket = rendezvous(workspace)?.socket as string;
    expect([join(folder, 'worker.json'), join(folder, 'worker.log'), socket].map(mode)).toEqual([0o600, 0o600, 0o600]);
  });

  it('names a socket path that is short enough for the system', async () => {
    const workspace = testWorkspace({});
    const stateDir = join(workspace.stateDir, 'x'.repeat(100));
    const host = await HostProcess.connect({
      ...workspace,
      stateDir,
      env: { ...workspace.env, WAYGATE_STATE_DIR: stateDir },
    });
    expect((await host.request('tools/list')).result).toHaveProperty('tools');
  });

  it.each([
    ['a wrong token', '{"link":1,"token":"guess","kind":"session","holds":true}\n'],
    ['no token', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n'],
    ['an endless hello', 'x'.repeat(10_000)],
  ])('names a socket that closes on a client with %s and sends it nothing', async (_what, hello) => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    const stranger = connect(rendezvous(workspace)?.socket as string);
    let heard = '';
    stranger.on('data', (chunk) => {
      heard += chunk;
    });
    stranger.on('error', () => undefined);
    stranger.write(hello);
    await new Promise((resolve) => stranger.once('close', resolve));
    expect(heard).toBe('');
    expect((await status(workspace)).sessions).toHaveLength(1);
  });
});
