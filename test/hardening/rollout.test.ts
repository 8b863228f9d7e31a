import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TelemetryReport } from '../../src/control/healthContract.ts';
import { LINK_VERSION, publishRendezvous, type Rendezvous } from '../../src/link/rendezvous.ts';
import { killedAtTakeover, otherBuild } from '../support/builds.ts';
import { rendezvous, stateFolder, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { linesOf, recordsOf } from '../support/lines.ts';
import { McpHttpClient } from '../support/mcpHttp.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

interface Health {
  generation: number;
  restart_count: number;
  since_unix_ms: number;
  consecutive_failures: number;
  rollout: string;
  last_fault?: { class: string; code: string; generation: number };
}

async function health(workspace: TestWorkspace): Promise<Health> {
  return JSON.parse((await waygate(workspace, ['health', '--json'])).stdout) as Health;
}

const here = (workspace: TestWorkspace): Rendezvous => rendezvous(workspace) as Rendezvous;

/** A workspace whose one server notes who it is and what it does. */
function watched(...flags: string[]) {
  const workspace = patient(testWorkspace());
  const effects = workspace.write('effects.txt', '');
  const pids = workspace.write('pids.txt', '');
  const one = servers.fixture('--effects', effects, '--pid-file', pids, '--grandchild', ...flags);
  workspace.configure({ one });
  return { workspace, effects, pids };
}

/** Lets the person's word make every tool of the server repeatable. */
function convergent(workspace: TestWorkspace): void {
  const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
  writeFileSync(workspace.configFile, JSON.stringify({ ...config, replay: { default: 'convergent' } }));
}

/** However long a busy machine takes to get to the next line, calls in flight have the time for it. */
function patient(workspace: TestWorkspace): TestWorkspace {
  workspace.env.WAYGATE_DRAIN_MS = '60000';
  return workspace;
}

async function reload(workspace: TestWorkspace): Promise<void> {
  const { code, stdout, stderr } = await waygate(workspace, ['reload']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Reloaded the gateway of .* \(pid \d+, previously \d+\)\.\n$/);
}

const wait = (host: HostProcess, id: string, ms: number, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { ms, nonce } });
/** Runs until the workspace lets it go. */
const held = ({ gate }: TestWorkspace, host: HostProcess, id: string, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { until: gate, nonce } });
const LET_GO = { isError: false, text: 'ok\nwaited until it was let go\n' };

/** A session with a call that runs until it is let go, and the worker that has the call. */
async function withRunningCall() {
  const { workspace, effects } = watched();
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/wait');
  const before = here(workspace);
  const running = held(workspace, host, id, 'running');
  await until('the effect', () => linesOf(effects).includes('running'));
  return { workspace, effects, host, id, before, running };
}

describe('a reload', () => {
  it('cuts over silently: every session moves, none is told anything, the servers run once', async () => {
    const { workspace, pids } = watched();
    const hosts = await Promise.all([1, 2, 3].map(() => HostProcess.connect(workspace)));
    await hosts[0]?.toolId('/one/echo');
    const before = here(workspace);
    let asking = true;
    const asked = hosts.map(async (host) => {
      for (let n = 1; ; n++) {
        expect(await host.call('tool_browse', { path: '/one' })).toMatchObject({ isError: false });
        if (!asking) return n;
      }
    });
    await reload(workspace);
    await until('the one before to leave', () => !isAlive(before.pid));
    asking = false;
    for (const times of await Promise.all(asked)) expect(times).toBeGreaterThan(0);
    expect(await workersOf(workspace)).toEqual([here(workspace).pid]);
    expect((await status(workspace)).sessions).toHaveLength(3);
    for (const host of hosts) {
      const said = host.lines.map((line) => JSON.parse(line) as { method?: string; id?: number });
      expect(said.filter(({ method }) => method !== undefined)).toEqual([]);
      expect(new Set(said.map(({ id }) => id)).size).toBe(said.length);
      expect(host.stderr).toBe('');
    }
    const id = (await hosts[0]?.toolId('/one/echo')) as string;
    expect((await hosts[1]?.call('tool_execute', { tool_id: id, args: { text: 'moved' } }))?.text).toBe('ok\nmoved\n');
    expect(pidsIn(pids).filter(isAlive)).toHaveLength(2);
  });

  it('lets a long call that must not be repeated finish where it is, while new calls go to the new worker', async () => {
    const { workspace, effects, host, id, before, running } = await withRunningCall();
    await reload(workspace);
    expect(isAlive(before.pid)).toBe(true);
    expect(await wait(host, id, 10, 'new')).toMatchObject({ isError: false });
    expect(isAlive(before.pid)).toBe(true);
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect(linesOf(effects)).toEqual(['running', 'new']);
  });

  it('ends a server that is idle at once, though another one still works', async () => {
    const workspace = patient(testWorkspace());
    const [idlePids, effects] = [workspace.write('idle.txt', ''), workspace.write('effects.txt', '')];
    workspace.configure({
      idle: servers.fixture('--pid-file', idlePids),
      busy: servers.fixture('--effects', effects),
    });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/idle/echo');
    const id = await host.toolId('/busy/wait');
    const before = here(workspace);
    const long = held(workspace, host, id, 'long');
    await until('the effect', () => linesOf(effects).includes('long'));
    expect(pidsIn(idlePids).filter(isAlive)).toHaveLength(1);
    await reload(workspace);
    await until('the end of the idle one', () => !pidsIn(idlePids).some(isAlive));
    expect(isAlive(before.pid)).toBe(true);
    workspace.letGo();
    expect(await long).toMatchObject(LET_GO);
  });

  it('treats what takes too long by its contract: one is told as lost, the other is run again', async () => {
    const { workspace, effects } = watched();
    const impatient = { ...workspace, env: { ...workspace.env, WAYGATE_DRAIN_MS: '300' } };
    const host = await HostProcess.connect(impatient);
    const id = await host.toolId('/one/wait');
    const never = wait(host, id, 60_000, 'never');
    await until('the effect', () => linesOf(effects).includes('never'));
    await reload(impatient);
    const lost = await never;
    expect(lost.isError).toBe(true);
    expect(lost.text).toMatch(/^Error UPSTREAM_UNAVAILABLE: .*may have taken effect/);
    expect(lost.text).toContain('outcome: unknown');
    convergent(impatient);
    const log = join(stateFolder(workspace), 'worker.log');
    await until('the edit', () => readFileSync(log, 'utf8').includes('the edited configuration is in force'));
    const again = held(workspace, host, id, 'again');
    await until('the effect', () => linesOf(effects).includes('again'));
    await reload(impatient);
    await until('it anew', () => linesOf(effects).length === 3);
    workspace.letGo();
    expect(await again).toMatchObject(LET_GO);
    expect(linesOf(effects)).toEqual(['never', 'again', 'again']);
  });

  it('tells a cancellation to the worker that has the call, and to nobody else', async () => {
    const workspace = patient(testWorkspace());
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.fixture('--log', log) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const before = here(workspace);
    const params = { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 60_000 } } };
    void host.request('tools/call', params, 'long');
    await until('the call', () => readFileSync(log, 'utf8').includes('60000'));
    await reload(workspace);
    expect(isAlive(before.pid)).toBe(true);
    host.notify('notifications/cancelled', { requestId: 'long', reason: 'enough' });
    await until('the one before to leave', () => !isAlive(before.pid));
    expect(linesOf(log).filter((line) => line.includes('notifications/cancelled'))).toHaveLength(1);
    await host.toolId('/one/wait');
    expect(host.lines.filter((line) => line.includes('"long"'))).toEqual([]);
  });

  it('takes along what the session had negotiated', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.primitives('--log', log) });
    const host = new HostProcess(workspace);
    await host.initialize({ protocolVersion: '2025-06-18', clientInfo: { name: 'careful', version: '9.8.7' } });
    const uri = 'file:///shared/readme.md';
    await until('the subscription', async () => (await host.request('resources/subscribe', { uri })).result);
    const before = here(workspace);
    await reload(workspace);
    await until('the one before to leave', () => !isAlive(before.pid));
    const session = { client: 'careful', clientVersion: '9.8.7', protocolVersion: '2025-06-18' };
    expect((await status(workspace)).sessions).toEqual([expect.objectContaining(session)]);
    await until('it anew', () => linesOf(log).filter((line) => line.includes('resources/subscribe')).length === 2);
  });

  it('is counted, and so is a loss', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    expect(await health(workspace)).toMatchObject({ generation: 1, restart_count: 0, rollout: 'stable' });
    const first = here(workspace);
    await reload(workspace);
    // It would take its place back from one that is killed at once.
    await until('the one before to leave', () => !isAlive(first.pid));
    const moved = await health(workspace);
    expect(moved).toMatchObject({ generation: 2, restart_count: 0, consecutive_failures: 0, rollout: 'stable' });
    expect(moved.last_fault).toBeUndefined();
    const { pid } = here(workspace);
    process.kill(pid, 'SIGKILL');
    await until('another', () => here(workspace).pid !== pid);
    await host.request('tools/list');
    expect(await health(workspace)).toMatchObject({
      generation: 3,
      restart_count: 1,
      consecutive_failures: 1,
      last_fault: { class: 'process', code: 'exited', generation: 2 },
    });
    await waygate(workspace, ['stop']);
    await host.request('tools/list');
    expect(await health(workspace)).toMatchObject({ generation: 4, restart_count: 1, consecutive_failures: 0 });
  });

  it('begins the counts anew and says since when; the log has the calls of both workers', async () => {
    const { workspace, host, id, before, running } = await withRunningCall();
    await host.call('tool_browse', { path: '/' });
    await reload(workspace);
    const reloaded = Date.now();
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the old one to leave', () => !isAlive(before.pid));
    await host.call('tool_execute', { tool_id: id, args: { ms: 0, nonce: 'next' } });
    const report = JSON.parse((await waygate(workspace, ['telemetry', '--json'])).stdout) as TelemetryReport;
    expect(report.methods).toMatchObject([{ method: 'tool_execute', request_count: 1, success_count: 1 }]);
    expect(report.since_unix_ms).toBeGreaterThan(before.startedAt);
    expect(report.since_unix_ms).toBeLessThanOrEqual(reloaded);
    expect((await health(workspace)).since_unix_ms).toBeGreaterThan(before.startedAt);
    expect((await status(workspace)).recentCalls).toMatchObject([{ metaTool: 'tool_execute', subject: id }]);
    const executed = await until('the event of the last call', () => {
      const events = recordsOf(join(stateFolder(workspace), 'events.jsonl'));
      const found = events.filter(({ event }) => event === 'execute.completed');
      return found.length === 2 && found;
    });
    expect(executed).toMatchObject([{ tool_id: id }, { tool_id: id }]);
  });

  it('tells that it is pending for as long as the other worker is prepared', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    // Never listed and slow: what has to be ready waits for it.
    const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
    const slow = servers.fixture('--start-delay', '2500');
    const before = here(workspace);
    const preparing = { ...config.servers, slow };
    workspace.configure(preparing);
    const reloaded = waygate(workspace, ['reload']);
    await until('the word', async () => (await health(workspace)).rollout === 'pending');
    expect(here(workspace).token).toBe(before.token);
    expect((await reloaded).code).toBe(0);
    expect(here(workspace).token).not.toBe(before.token);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect((await host.call('tool_browse', { path: '/slow' })).isError).toBe(false);
    expect(await health(workspace)).toMatchObject({ rollout: 'stable', generation: 2 });
  });

  it('has nothing to do where nothing runs', async () => {
    const workspace = testWorkspace({});
    expect(await waygate(workspace, ['reload'])).toEqual({
      code: 0,
      stdout: `No gateway runs for ${workspace.folder}.\n`,
      stderr: '',
    });
    expect(await workersOf(workspace)).toEqual([]);
  });
});

describe('a session over HTTP', () => {
  it('moves as any other', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const served = HttpProcess.waygate(workspace, ['--no-token']);
    const client = await McpHttpClient.connect(await served.url());
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools');
    const before = here(workspace);
    await reload(workspace);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools');
    expect((await status(workspace)).sessions).toHaveLength(1);
  });
});

describe('a candidate that fails', () => {
  const HANGS = (): string => 'setInterval(() => {}, 1000);';
  it.each([
    ['is not there', null, /This build of Waygate is missing/],
    ['is no program', () => 'this is not JavaScript', /ended during its start \(exit code 1\)/],
    ['ends at its start', () => 'process.exit(7);', /ended during its start \(exit code 7\)/],
    ['hangs', HANGS, /was not ready within 1\.5 s/],
    ['is killed before it takes over', killedAtTakeover('before'), /ended during its start \(SIGKILL\)/],
    ['is killed as it takes over', killedAtTakeover('behind'), /SIGKILL/],
  ] as const)('because it %s leaves the one that serves, and is told', async (_, worker, reason) => {
    const { workspace, pids } = watched();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const before = here(workspace);
    const bad = { ...workspace, program: otherBuild({ builtAt: '20990101000000', worker }) };
    // The others are given the time to fail in their own way.
    if (worker === HANGS) bad.env = { ...workspace.env, WAYGATE_READY_MS: '1500' };
    const { code, stdout, stderr } = await waygate(bad, ['reload']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^waygate: the gateway was not reloaded; the running one continues unchanged: [^\n]+\.\n$/);
    expect(stderr).toMatch(reason);
    await until('its name in the file', () => here(workspace).token === before.token);
    const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'still here' } });
    expect(answer).toMatchObject({ text: 'ok\nstill here\n' });
    expect(await workersOf(workspace)).toEqual([before.pid]);
    expect(pidsIn(pids).filter(isAlive)).toHaveLength(2);
    expect(host.stderr).toBe('');
    // Nothing of it is left on disk either.
    const kinds = [/^[0-9a-f]{16}\.sock$/, /^children-/, /^worker\.json/, /^start\.lock/, /^lastWorker\.json/];
    const left = readdirSync(stateFolder(workspace));
    expect(kinds.map((kind) => left.filter((name) => kind.test(name)).length)).toEqual([1, 1, 1, 0, 1]);
  });

  it('because it hangs keeps nobody waiting when the one that serves is killed meanwhile', async () => {
    const { workspace } = watched();
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const before = here(workspace);
    const bad = { ...workspace, program: otherBuild({ worker: HANGS }) };
    // Longer than this test: what waits for the candidate fails it.
    bad.env = { ...workspace.env, WAYGATE_READY_MS: '600000' };
    const reloaded = waygate(bad, ['reload']);
    await until('the candidate', async () => (await health(workspace)).rollout === 'pending');
    process.kill(before.pid, 'SIGKILL');
    expect((await host.call('tool_browse', { path: '/one' })).isError).toBe(false);
    const { code, stderr } = await reloaded;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `waygate: the gateway was not reloaded: the worker that served (pid ${before.pid}) ended during the rollout.\n`,
    });
    expect(await workersOf(workspace)).toEqual([here(workspace).pid]);
  });
});

describe('an update of the extension', () => {
  it('that takes away the program of a client that runs is told to whoever needs another worker', async () => {
    const { workspace } = watched();
    const program = otherBuild({});
    const chat = await HostProcess.connect({ ...workspace, program });
    await chat.toolId('/one/echo');
    rmSync(dirname(program), { recursive: true });
    expect((await chat.call('tool_browse', { path: '/one' })).isError).toBe(false);
    process.kill(here(workspace).pid, 'SIGKILL');
    const { text } = await chat.call('tool_browse', { path: '/one' });
    expect(text).toContain('is missing (');
    expect(text).toContain('restart this client');
    // Somebody else's worker is as good.
    const next = await HostProcess.connect(workspace);
    await next.toolId('/one/echo');
    await until('the session', async () => !(await chat.call('tool_browse', { path: '/one' })).isError);
  });

  it('does not end the session of a chat that runs', async () => {
    const { workspace, effects, host: chat, id, before, running } = await withRunningCall();
    const program = otherBuild({ builtAt: '20990101000000' });
    const next = await HostProcess.connect({ ...workspace, program });
    expect((await next.call('tool_browse', { path: '/one' })).isError).toBe(false);
    await until('the newer build', () => here(workspace).build.endsWith('+20990101000000'));
    expect(await wait(chat, id, 10, 'after')).toMatchObject({ isError: false });
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect(linesOf(effects)).toEqual(['running', 'after']);
    expect((await status(workspace)).sessions).toHaveLength(2);
    expect(chat.stderr).toBe('');
    // The older build may be asked to reload, but does not put itself in the place of the newer one.
    const { code, stderr } = await waygate(workspace, ['reload']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('A newer Waygate') });
  });

  it('that speaks another link takes nothing from the worker before, which finishes its calls', async () => {
    const { workspace, before, running } = await withRunningCall();
    const newer = {
      ...before,
      pid: process.pid,
      token: 'another',
      link: LINK_VERSION + 1,
      build: '99.0.0+20990101000000',
    };
    publishRendezvous(stateFolder(workspace), newer);
    const log = (): string => readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
    await until('its word', () => log().includes(`worker ${process.pid} takes over`));
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect(log()).toContain(`worker ${before.pid} stops: worker ${process.pid} has taken over`);
  });

  it('that does not work leaves the build that does', async () => {
    const { workspace } = watched();
    const chat = await HostProcess.connect(workspace);
    await chat.toolId('/one/echo');
    const before = here(workspace);
    const program = otherBuild({ builtAt: '20990101000000', worker: () => 'process.exit(9);' });
    const next = await HostProcess.connect({ ...workspace, program });
    await until('the reason', () => next.stderr.includes('exit code 9'));
    expect(next.stderr).toMatch(/^waygate: the older gateway continues: [^\n]+\n$/);
    expect((await next.call('tool_browse', { path: '/one' })).isError).toBe(false);
    expect(here(workspace).token).toBe(before.token);
    expect(chat.stderr).toBe('');
  });

  it('that does not work is prepared once, not by every host; another time later, and when somebody asks', async () => {
    const { workspace } = watched();
    const chat = await HostProcess.connect(workspace);
    await chat.toolId('/one/echo');
    const tries = workspace.write('tries.txt', '');
    const failing = () => `require('node:fs').appendFileSync(${JSON.stringify(tries)}, 'x'); process.exit(9);`;
    const program = otherBuild({ builtAt: '20990101000000', worker: failing });
    const tried = (): number => readFileSync(tries, 'utf8').length;
    const told = async (other: TestWorkspace): Promise<void> => {
      const host = await HostProcess.connect(other);
      await until('the reason', () => host.stderr.includes('exit code 9'));
      expect(host.stderr).toMatch(/^waygate: the older gateway continues: [^\n]+\n$/);
      expect((await host.call('tool_browse', { path: '/one' })).isError).toBe(false);
    };
    for (let hosts = 0; hosts < 3; hosts++) await told({ ...workspace, program });
    expect(tried()).toBe(1);
    // Another build is another matter.
    await told({ ...workspace, program: otherBuild({ builtAt: '20990102000000', worker: failing }) });
    expect(tried()).toBe(2);
    await told({ ...workspace, program });
    expect(tried()).toBe(3);
    // The person's word counts at once.
    expect((await waygate({ ...workspace, program }, ['reload'])).code).toBe(1);
    expect(tried()).toBe(4);
    const note = join(stateFolder(workspace), 'failedBuild.json');
    const { at, ...rest } = JSON.parse(readFileSync(note, 'utf8')) as { at: number };
    writeFileSync(note, JSON.stringify({ ...rest, at: at - 11 * 60_000 }));
    await told({ ...workspace, program });
    expect(tried()).toBe(5);
    // One that takes over is not held against anybody.
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    expect(existsSync(note)).toBe(false);
  });
});
