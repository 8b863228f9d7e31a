import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Rendezvous, readRendezvous } from '../../src/link/rendezvous.ts';
import { missingOn } from '../../src/walls/machine.ts';
import { wallsFolder } from '../../src/walls/wallsStart.ts';
import { stateFolder, status, stopGateway, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Covers servers behind walls, with real gateways, a real server and the walls of the system. */

const missing = missingOn(process.platform, process.env.PATH);
if (missing !== undefined) console.warn(`Tests of walls are skipped: ${missing}.`);
const walled = it.skipIf(missing !== undefined);

const SECRET = 'content-of-a-secret-file';
const REFUSED = /refused: (ENOENT|EACCES|EPERM|EROFS|ENOTDIR)/;

function prison(entry: object = {}): TestWorkspace {
  const workspace = testWorkspace();
  const one = { command: process.execPath, args: [resolve('test/fixtures/prisoner.mjs')], ...entry };
  workspace.configure({ one });
  return { ...workspace, env: { ...workspace.env, WAYGATE_WALLS: '' } };
}

type Ask = (tool: string, args?: Record<string, unknown>) => Promise<string>;

/** Starts the server and returns a function that calls its tools. */
async function asking(workspace: TestWorkspace, env: NodeJS.ProcessEnv = {}): Promise<Ask> {
  const host = new HostProcess(workspace, [], env);
  await host.initialize();
  return async (tool, args = {}) => {
    const { text } = await host.call('tool_execute', { tool_id: await host.toolId(`/one/${tool}`), args });
    return text;
  };
}

/** Opens an HTTP server of this machine, outside the walls. */
async function httpServer(): Promise<{ url: string; place: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer(({ url }, response) => {
    paths.push(url ?? '');
    response.end('reached');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await new Promise((done) => server.once('listening', done));
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${place}/here`, place, paths };
}

function written(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, SECRET);
  return path;
}

/** Whether a process of this machine has the words in its command line. */
function isRunning(words: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(words);
    } catch {
      return false;
    }
  });
}

walled('a server of a workspace does its job and reads no secrets of the user', async () => {
  const inHome = (name: string): string => written(join(homedir(), name));
  const secrets = ['.ssh/id_ed25519', '.aws/credentials', '.gnupg/key', '.cursor/mcp.json', '.claude.json'].map(inHome);
  const readable = inHome('.gitconfig');
  const workspace = prison({ env: { KEY: 'k' } });
  const ask = await asking(workspace);
  expect(await ask('sign', { text: 'x' })).toContain(createHmac('sha256', 'k').update('x').digest('hex'));
  expect(await ask('read', { path: readable })).toContain(SECRET);
  const hidden = [...secrets, written(join(workspace.stateDir, 'kept')), written(`${workspace.userConfigFile}.old`)];
  for (const path of hidden) {
    const said = await ask('read', { path });
    expect([path, said.includes(SECRET)]).toEqual([path, false]);
  }
  expect(await ask('list', { path: workspace.stateDir })).not.toContain('approvals.json');
  expect((await status(workspace)).servers[0]).toMatchObject({ walls: 'walled' });
  expect((await waygate(workspace, ['status'])).stdout).toMatch(/one +ready, .*, walled/);
});

walled('it writes files of the workspace, but not what decides about code outside the walls', async () => {
  const workspace = prison();
  mkdirSync(join(workspace.folder, '.git', 'hooks'), { recursive: true });
  const configured = readFileSync(workspace.configFile, 'utf8');
  const ask = await asking(workspace);
  const write = (...path: string[]): Promise<string> => ask('write', { path: join(...path), text: 'x' });
  expect(await write(workspace.folder, 'note.txt')).toContain('written');
  expect(readFileSync(join(workspace.folder, 'note.txt'), 'utf8')).toBe('x');
  // Behind the walls, an empty folder replaces the real one.
  await write(workspace.userConfigFile);
  expect(existsSync(workspace.userConfigFile)).toBe(false);
  for (const path of [
    workspace.configFile,
    join(workspace.folder, '.vscode', 'tasks.json'),
    join(workspace.folder, '.git', 'hooks', 'pre-commit'),
    join(homedir(), '.bashrc'),
    join(homedir(), '.npm', 'x'),
  ]) {
    expect([path, await write(path)]).toEqual([path, expect.stringMatching(REFUSED)]);
    expect(existsSync(path) && readFileSync(path, 'utf8') === 'x').toBe(false);
  }
  // Otherwise another folder could take its place.
  for (const name of ['.vscode', '.git']) {
    const [path, to] = [name, 'other'].map((one) => join(workspace.folder, one));
    expect([name, await ask('rename', { path, to })]).toEqual([name, expect.stringMatching(/refused: /)]);
  }
  expect(readFileSync(workspace.configFile, 'utf8')).toBe(configured);
});

const run = (ask: Ask, script: string): Promise<string> => ask('run', { command: 'bash', args: ['-c', script] });

walled('it leads git outside the walls to no configuration of its own', async () => {
  const trace = join(temporaryFolder('wg-trace-'), 'escaped');
  const evil = (folder: string): string =>
    `mkdir -p ${folder}/objects ${folder}/refs && printf '[core]\nfsmonitor = "touch ${trace}; false"\n' > ${folder}/config`;
  const repository = prison();
  const at = (workspace: TestWorkspace) => ({ cwd: workspace.folder, stdio: 'ignore' }) as const;
  execFileSync('git', ['init', '-q'], at(repository));
  const ask = await asking(repository);
  const { folder } = repository;
  await run(ask, `cd ${folder}; ${evil('evil')}; echo ../evil > .git/commondir; ${evil('.git/modules/one')}`);
  expect(await run(ask, `cd ${folder}; mv .git other`)).toContain('busy');
  execFileSync('git', ['status'], at(repository));
  expect(existsSync(join(folder, '.git', 'modules'))).toBe(false);

  // In a work tree of its own, `.git` is a file that names a folder.
  const tree = prison();
  execFileSync('git', ['init', '-q', `--separate-git-dir=${temporaryFolder('wg-git-')}`], at(tree));
  const asks = await asking(tree);
  await run(
    asks,
    `cd ${tree.folder}; ${evil('evil')}; cp ${folder}/.git/HEAD evil; echo 'gitdir: evil' > .git; mv .git x`,
  );
  execFileSync('git', ['status'], at(tree));
  expect(existsSync(trace)).toBe(false);
});

walled('it writes the repository where its entry names it, but no hooks and configuration', async () => {
  const workspace = prison({ sandbox: { filesystem: { allowWrite: ['.git'] } } });
  mkdirSync(join(workspace.folder, '.git', 'hooks'), { recursive: true });
  const ask = await asking(workspace);
  const write = (name: string): Promise<string> =>
    ask('write', { path: join(workspace.folder, '.git', name), text: 'x' });
  expect(await write('index')).toContain('written');
  expect(await write('hooks/pre-commit')).toMatch(REFUSED);
});

walled('several servers cannot create the editor folder, and none breaks the configuration', async () => {
  const workspace = prison();
  const { folder, userConfigFile } = workspace;
  rmSync(join(folder, '.vscode'), { recursive: true });
  const entry = {
    command: process.execPath,
    args: [resolve('test/fixtures/prisoner.mjs')],
    sandbox: { filesystem: { allowWrite: [folder] } },
  };
  writeFileSync(userConfigFile, JSON.stringify({ servers: { one: entry, two: entry } }));
  const host = new HostProcess(workspace);
  await host.initialize();
  const args = { command: 'bash', args: ['-c', `cd ${folder}; mkdir .vscode; echo > .vscode/tasks.json`] };
  const attempt = async (name: string): Promise<string> =>
    (await host.call('tool_execute', { tool_id: await host.toolId(`/${name}/run`), args })).text;
  for (const name of ['one', 'two']) expect(await attempt(name)).toContain('Read-only file system');
  const one = (await status(workspace)).servers.find(({ name }) => name === 'one');
  process.kill(one?.pid as number, 'SIGTERM');
  const launcher = wallsFolder(folder, 'one');
  await until('the end of one', () => !isRunning(launcher));
  expect(await attempt('two')).toContain('Read-only file system');
  expect(readdirSync(join(folder, '.vscode'))).toEqual([]);
});

walled('it reads no temporary file or cache of another server behind walls', async () => {
  const workspace = prison();
  const secret = written(join(wallsFolder(workspace.folder, 'two'), 'tmp', 'secret'));
  const ask = await asking(workspace);
  expect(await ask('read', { path: secret })).toMatch(REFUSED);
  expect(await ask('write', { path: join(wallsFolder(workspace.folder, 'one'), 'tmp', 'own'), text: 'x' })).toContain(
    'written',
  );
});

walled('it connects to no socket of this machine, in particular not to the control socket', async () => {
  const workspace = prison({ sandbox: { filesystem: { allowWrite: ['/tmp'] } } });
  const ask = await asking(workspace);
  expect(await ask('list', { path: '/' })).toContain('proc');
  const { socket: control } = readRendezvous(stateFolder(workspace)) as Rendezvous;
  expect(existsSync(control)).toBe(true);
  expect(await ask('connect', { path: control })).toMatch(/refused: /);
  const path = join(workspace.folder, 'open.sock');
  const socket = createSocket().listen(path);
  onTestFinished(() => void socket.close());
  await new Promise((done) => socket.once('listening', done));
  expect(await ask('list', { path: workspace.folder })).toContain('open.sock');
  expect(await ask('connect', { path })).toMatch(/refused: EPERM/);
});

walled('it reaches the addresses that its entry names and no other, not even on loopback', async () => {
  const [named, other, denied] = [await httpServer(), await httpServer(), await httpServer()];
  const network = { allowedDomains: [named.place, denied.place], deniedDomains: [denied.place] };
  const ask = await asking(prison({ sandbox: { network } }));
  expect(await ask('get', { url: other.url })).toMatch(/refused: ECONNREFUSED/);
  expect(await ask('proxied', { url: other.url })).toContain('403');
  expect(await ask('proxied', { url: denied.url })).toContain('403');
  expect(await ask('proxied', { url: named.url })).toContain('200');
  expect([named.paths, other.paths, denied.paths]).toEqual([['/here'], [], []]);
});

walled('its variables start nothing outside the walls', async () => {
  const trace = join(homedir(), 'escaped');
  const workspace = prison();
  const script = workspace.write('evil.sh', `touch ${trace}\n`);
  const code = workspace.write('evil.cjs', `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`);
  const bin = join(workspace.folder, 'bin');
  mkdirSync(bin);
  for (const name of ['bwrap', 'socat', 'bash', 'sh', 'env', 'true']) {
    writeFileSync(join(bin, name), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
  }
  const env = {
    BASH_ENV: script,
    ENV: script,
    PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`,
    ELECTRON_RUN_AS_NODE: '',
    'ODD.NAME': 'odd',
    UID: '7',
    TWO: 'two\nlines',
    NODE_OPTIONS: `--require ${code}`,
  };
  workspace.configure({
    one: {
      command: '/usr/bin/env',
      args: ['-u', 'NODE_OPTIONS', process.execPath, resolve('test/fixtures/prisoner.mjs')],
      env,
    },
  });
  const ask = await asking(workspace);
  const variable = (name: string): Promise<string> => ask('variable', { name });
  expect(await variable('TWO')).toContain('two\nlines');
  expect(await variable('ODD.NAME')).toContain('odd');
  expect(await variable('UID')).toContain('7');
  expect(await variable('PATH')).toContain(bin);
  expect(await variable('npm_config_cache')).toMatch(/waygate\/walls\/\w+\/cache\/npm/);
  // Below this level, a shell whose input is a socket runs the user's start files.
  expect(Number(/\d+/.exec(await variable('SHLVL'))?.[0])).toBeGreaterThan(2);
  expect(existsSync(trace)).toBe(false);
});

walled('it cannot make namespaces of its own, in which the walls would be gone', async () => {
  const ask = await asking(prison());
  expect(await ask('run', { command: 'unshare', args: ['-Urm', 'true'] })).toMatch(/\n?1 unshare: /);
});

walled('no process of it outlives the end of the gateway', async () => {
  const workspace = prison();
  const ask = await asking(workspace);
  const name = `stray-${workspace.folder}`;
  expect(await ask('stray', { name })).toContain('left');
  await until('the stray process', () => isRunning(name));
  expect(isRunning(wallsFolder(workspace.folder, 'one'))).toBe(true);
  await stopGateway(workspace);
  expect(isRunning(name)).toBe(false);
  expect(isRunning(wallsFolder(workspace.folder, 'one'))).toBe(false);
});

walled('no process of it outlives a killed worker and its successor', async () => {
  const workspace = prison();
  const ask = await asking(workspace);
  const name = `stray-${workspace.folder}`;
  await ask('stray', { name });
  await until('the stray process', () => isRunning(name));
  process.kill((await status(workspace)).worker?.pid as number, 'SIGKILL');
  await until('the end of the stray process', () => !isRunning(name));
});

walled('its own words and exit code are the reason of a failed start', async () => {
  const workspace = prison({ env: { SAYS: 'cannot open the database', EXITS: '3' } });
  const host = new HostProcess(workspace);
  await host.initialize();
  await host.call('tool_browse', { path: '/one' });
  const reason = await until('the reason', async () => (await status(workspace)).servers[0]?.reason);
  expect(reason).toMatch(/exit code 3.*cannot open the database/);
});

/** Returns how a start ends on a machine that has these programs only. */
async function outcome(sandbox: unknown, programs: Record<string, string>) {
  const path = temporaryFolder('wg-path-');
  for (const [name, script] of Object.entries({ bash: '', true: '', ...programs })) {
    writeFileSync(join(path, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const workspace = prison({ sandbox });
  const host = new HostProcess(workspace, [], { PATH: path });
  await host.initialize();
  await host.call('tool_browse', { path: '/one' });
  return until('the outcome', async () => {
    const server = (await status(workspace)).servers[0];
    return (server?.state === 'ready' || server?.reason !== undefined) && server;
  });
}

const onLinux = it.runIf(process.platform === 'linux');

onLinux('a machine without the programs starts only what may do without', async () => {
  const remedy = 'bubblewrap and socat not found; install them with: apt-get install bubblewrap socat';
  expect(await outcome('auto', {})).toMatchObject({
    state: 'ready',
    walls: expect.stringContaining(`no walls: ${remedy}`),
  });
  expect(await outcome({ required: false }, {})).toMatchObject({ state: 'ready' });
  const reason = expect.stringContaining(`It starts only behind walls, and this machine has none: ${remedy}`);
  for (const sandbox of [true, {}]) expect(await outcome(sandbox, {})).toMatchObject({ state: 'failed', reason });
});

onLinux('a machine that forbids namespaces starts only what may do without', async () => {
  const programs = { socat: '', bwrap: 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1' };
  const words = 'bubblewrap cannot create namespaces (bwrap: setting up uid map: Permission denied)';
  expect(await outcome('auto', programs)).toMatchObject({ state: 'ready', walls: expect.stringContaining(words) });
  expect(await outcome(true, programs)).toMatchObject({ state: 'failed', reason: expect.stringContaining(words) });
});

onLinux('walls that cannot be built are one sentence', async () => {
  const programs = { socat: '', bwrap: 'case "$*" in *--new-session*|"") exit 1;; esac' };
  const { reason } = await outcome({ network: { allowedDomains: ['*'] } }, programs);
  expect(reason).toMatch(/exit code 70.*Its walls cannot be built: network\.allowedDomains/);
  expect(reason).not.toContain('at ');
});

walled('a start runs no package manager outside the walls, and Java programs find the proxy', async () => {
  const programs = temporaryFolder('waygate-npm-');
  const ran = join(programs, 'ran');
  writeFileSync(join(programs, 'npm'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
  const ask = await asking(prison(), { PATH: `${programs}:${process.env.PATH}` });
  const [, agent = ''] = /-javaagent:(\S+?\.jar)/.exec(await ask('variable', { name: 'JAVA_TOOL_OPTIONS' })) ?? [];
  expect(await ask('read', { path: agent })).toContain('META-INF');
  expect(existsSync(ran)).toBe(false);
});
