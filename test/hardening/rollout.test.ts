import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TelemetryReport } from '../../src/control/healthContract.ts';
import { LINK_VERSION, publishRendezvous, type Rendezvous } from '../../src/link/rendezvous.ts';
import { killedAtTakeover, otherBuild } from '../support/builds.ts';
import { rendezvous, stateFolder, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { atEnd } from '../support/lifetime.ts';
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

/** Configures one server that records its process id and the effects of its calls. */
function watched(...flags: string[]) {
  const workspace = patient(testWorkspace());
  const effects = workspace.write('effects.txt', '');
  const pids = workspace.write('pids.txt', '');
  const one = servers.fixture('--effects', effects, '--pid-file', pids, '--grandchild', ...flags);
  workspace.configure({ one });
  // A test may end before the last worker has looked for what the killed one left.
  atEnd(() => {
    for (const pid of pidsIn(pids).filter(isAlive)) process.kill(pid, 'SIGKILL');
  });
  return { workspace, effects, pids };
}

/** Configures every tool of the server as repeatable. */
function convergent(workspace: TestWorkspace): void {
  const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
  writeFileSync(workspace.configFile, JSON.stringify({ ...config, replay: { default: 'convergent' } }));
}

/** Gives calls in flight enough time to finish on a busy machine. */
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
/** Runs until the workspace opens its gate. */
const held = ({ gate }: TestWorkspace, host: HostProcess, id: string, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { until: gate, nonce } });
const LET_GO = { isError: false, text: 'ok\nwaited until it was let go\n' };

/** Opens a session with a call that runs until the gate opens. `before` is the worker that has the call. */
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
  it('is silent: every session moves without a notification, and each server runs once', async () => {
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
    await until('the old worker to exit', () => !isAlive(before.pid));
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

  it('lets a long call that must not be repeated finish in the old worker, while new calls go to the new worker', async () => {
    const { workspace, effects, host, id, before, running } = await withRunningCall();
    await reload(workspace);
    expect(isAlive(before.pid)).toBe(true);
    expect(await wait(host, id, 10, 'new')).toMatchObject({ isError: false });
    expect(isAlive(before.pid)).toBe(true);
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect(linesOf(effects)).toEqual(['running', 'new']);
  });

  it('ends an idle server at once although another one is still busy', async () => {
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
    await until('the end of the idle server', () => !pidsIn(idlePids).some(isAlive));
    expect(isAlive(before.pid)).toBe(true);
    workspace.letGo();
    expect(await long).toMatchObject(LET_GO);
  });

  it('treats an overdue call by its contract: reports it as lost or runs it again', async () => {
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
    await until('the repeated effect', () => linesOf(effects).length === 3);
    workspace.letGo();
    expect(await again).toMatchObject(LET_GO);
    expect(linesOf(effects)).toEqual(['never', 'again', 'again']);
  });

  it('sends a cancellation only to the worker that has the call', async () => {
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
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect(linesOf(log).filter((line) => line.includes('notifications/cancelled'))).toHaveLength(1);
    await host.toolId('/one/wait');
    expect(host.lines.filter((line) => line.includes('"long"'))).toEqual([]);
  });

  it('keeps the negotiated values and subscriptions of the session', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.primitives('--log', log) });
    const host = new HostProcess(workspace);
    await host.initialize({ protocolVersion: '2025-06-18', clientInfo: { name: 'careful', version: '9.8.7' } });
    const uri = 'file:///shared/readme.md';
    await until('the subscription', async () => (await host.request('resources/subscribe', { uri })).result);
    const before = here(workspace);
    await reload(workspace);
    await until('the old worker to exit', () => !isAlive(before.pid));
    const session = { client: 'careful', clientVersion: '9.8.7', protocolVersion: '2025-06-18' };
    expect((await status(workspace)).sessions).toEqual([expect.objectContaining(session)]);
    await until(
      'the renewed subscription',
      () => linesOf(log).filter((line) => line.includes('resources/subscribe')).length === 2,
    );
  });

  it('is counted as a generation, and a loss as a restart', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    expect(await health(workspace)).toMatchObject({ generation: 1, restart_count: 0, rollout: 'stable' });
    const first = here(workspace);
    await reload(workspace);
    // The old worker would take the rendezvous file back if the new one were killed at once.
    await until('the old worker to exit', () => !isAlive(first.pid));
    const moved = await health(workspace);
    expect(moved).toMatchObject({ generation: 2, restart_count: 0, consecutive_failures: 0, rollout: 'stable' });
    expect(moved.last_fault).toBeUndefined();
    const { pid } = here(workspace);
    process.kill(pid, 'SIGKILL');
    await until('another worker', () => here(workspace).pid !== pid);
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

  it('resets the counts and reports since when; the log has the calls of both workers', async () => {
    const { workspace, host, id, before, running } = await withRunningCall();
    await host.call('tool_browse', { path: '/' });
    await reload(workspace);
    const reloaded = Date.now();
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the old worker to exit', () => !isAlive(before.pid));
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

  it('is reported as pending while the new worker is prepared', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    // The server is slow and has no stored catalog: the new worker waits for it.
    const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
    const slow = servers.fixture('--start-delay', '2500');
    const before = here(workspace);
    const preparing = { ...config.servers, slow };
    workspace.configure(preparing);
    const reloaded = waygate(workspace, ['reload']);
    await until('the pending rollout', async () => (await health(workspace)).rollout === 'pending');
    expect(here(workspace).token).toBe(before.token);
    expect((await reloaded).code).toBe(0);
    expect(here(workspace).token).not.toBe(before.token);
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect((await host.call('tool_browse', { path: '/slow' })).isError).toBe(false);
    expect(await health(workspace)).toMatchObject({ rollout: 'stable', generation: 2 });
  });

  it('does nothing if no gateway runs', async () => {
    const workspace = testWorkspace({});
    expect(await waygate(workspace, ['reload'])).toEqual({
      code: 0,
      stdout: `No gateway runs for ${workspace.folder}.\n`,
      stderr: expect.stringMatching(/^Next: [^\n]+\n$/),
    });
    expect(await workersOf(workspace)).toEqual([]);
  });
});

describe('a session over HTTP', () => {
  it('moves like any other', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const served = HttpProcess.waygate(workspace, ['--no-token']);
    const client = await McpHttpClient.connect(await served.url());
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools');
    const before = here(workspace);
    await reload(workspace);
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools');
    expect((await status(workspace)).sessions).toHaveLength(1);
  });
});

describe('a candidate that fails', () => {
  const HANGS = (): string => 'setInterval(() => {}, 1000);';
  it.each([
    ['is missing', null, /This build of Waygate is missing/],
    ['is not a program', () => 'this is not JavaScript', /ended during its start \(exit code 1\)/],
    ['exits at its start', () => 'process.exit(7);', /ended during its start \(exit code 7\)/],
    ['hangs', HANGS, /was not ready within 1\.5 s/],
    ['is killed before it takes over', killedAtTakeover('before'), /ended during its start \(SIGKILL\)/],
    ['is killed as it takes over', killedAtTakeover('behind'), /SIGKILL/],
  ] as const)('because it %s leaves the serving worker in place and is reported', async (_, worker, reason) => {
    const { workspace, pids } = watched();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const before = here(workspace);
    const bad = { ...workspace, program: otherBuild({ builtAt: '20990101000000', worker }) };
    // The other candidates get enough time to fail in their own way.
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
    // The candidate leaves no file either.
    const kinds = [/^[0-9a-f]{16}\.sock$/, /^children-/, /^worker\.json/, /^start\.lock/, /^lastWorker\.json/];
    const left = readdirSync(stateFolder(workspace));
    expect(kinds.map((kind) => left.filter((name) => kind.test(name)).length)).toEqual([1, 1, 1, 0, 1]);
  });

  it('because it hangs does not delay the recovery when the serving worker is killed', async () => {
    const { workspace } = watched();
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const before = here(workspace);
    const bad = { ...workspace, program: otherBuild({ worker: HANGS }) };
    // Longer than the time limit of this test, which fails if a session waits for the candidate.
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
  it('that deletes the program of a running client is reported when the client needs another worker', async () => {
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
    // A worker that another host started serves the client too.
    const next = await HostProcess.connect(workspace);
    await next.toolId('/one/echo');
    await until('the session', async () => !(await chat.call('tool_browse', { path: '/one' })).isError);
  });

  it('does not end the session of a running chat', async () => {
    const { workspace, effects, host: chat, id, before, running } = await withRunningCall();
    const program = otherBuild({ builtAt: '20990101000000' });
    const next = await HostProcess.connect({ ...workspace, program });
    expect((await next.call('tool_browse', { path: '/one' })).isError).toBe(false);
    await until('the newer build', () => here(workspace).build.endsWith('+20990101000000'));
    expect(await wait(chat, id, 10, 'after')).toMatchObject({ isError: false });
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect(linesOf(effects)).toEqual(['running', 'after']);
    expect((await status(workspace)).sessions).toHaveLength(2);
    expect(chat.stderr).toBe('');
    // A reload with the older build does not replace the newer one.
    const { code, stderr } = await waygate(workspace, ['reload']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('A newer Waygate') });
  });

  it('with another link version takes no call from the old worker, which finishes its calls', async () => {
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
    await until('the takeover', () => log().includes(`worker ${process.pid} takes over`));
    workspace.letGo();
    expect(await running).toMatchObject(LET_GO);
    await until('the old worker to exit', () => !isAlive(before.pid));
    expect(log()).toContain(`worker ${before.pid} stops: worker ${process.pid} has taken over`);
  });

  it('that does not work leaves the working build in place', async () => {
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

  it('that does not work is tried once, not by every host, then again later and on request', async () => {
    const { workspace } = watched();
    const chat = await HostProcess.connect(workspace);
    await chat.toolId('/one/echo');
    const tries = workspace.write('tries.txt', '');
    const failing = () => `require('node:fs').appendFileSync(${JSON.stringify(tries)}, 'x'); process.exit(9);`;
    const program = otherBuild({ builtAt: '20990101000000', worker: failing });
    const tried = (): number => readFileSync(tries, 'utf8').length;
    const continues = async (other: TestWorkspace): Promise<void> => {
      const host = await HostProcess.connect(other);
      await until('the reason', () => host.stderr.includes('exit code 9'));
      expect(host.stderr).toMatch(/^waygate: the older gateway continues: [^\n]+\n$/);
      expect((await host.call('tool_browse', { path: '/one' })).isError).toBe(false);
      // A host that stayed would try its build again as soon as another worker serves.
      host.end();
      await host.exited;
    };
    for (let hosts = 0; hosts < 3; hosts++) await continues({ ...workspace, program });
    expect(tried()).toBe(1);
    // Another build is tried at once.
    await continues({ ...workspace, program: otherBuild({ builtAt: '20990102000000', worker: failing }) });
    expect(tried()).toBe(2);
    await continues({ ...workspace, program });
    expect(tried()).toBe(3);
    // A reload that the user requests is tried at once.
    expect((await waygate({ ...workspace, program }, ['reload'])).code).toBe(1);
    expect(tried()).toBe(4);
    const note = join(stateFolder(workspace), 'failedBuild.json');
    const { at, ...rest } = JSON.parse(readFileSync(note, 'utf8')) as { at: number };
    writeFileSync(note, JSON.stringify({ ...rest, at: at - 11 * 60_000 }));
    await continues({ ...workspace, program });
    expect(tried()).toBe(5);
    // A successful takeover deletes the note.
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    expect(existsSync(note)).toBe(false);
  });
});
