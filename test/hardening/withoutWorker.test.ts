import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import type { HealthWithoutWorker } from '../../src/control/healthContract.ts';
import { readOutage } from '../../src/host/attach/lastWorker.ts';
import { endedByAttachers, killedAtWords, otherBuild } from '../support/builds.ts';
import { rendezvous, stateFolder, status, waygate } from '../support/census.ts';
import { HostProcess, isAlive, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const EXIT_DOWN = 69;
const OWN = ['waygate://health', 'waygate://telemetry'];

async function read(host: HostProcess, uri: string): Promise<string> {
  const { result, error } = await host.request('resources/read', { uri });
  if (error) throw new Error(error.message);
  return ((result?.contents ?? []) as { text: string }[]).map(({ text }) => text).join('');
}

const health = async (host: HostProcess): Promise<HealthWithoutWorker> =>
  JSON.parse(await read(host, 'waygate://health?render=json')) as HealthWithoutWorker;

async function names(host: HostProcess): Promise<string[]> {
  const { result } = await host.request('tools/list');
  return ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
}

async function uris(host: HostProcess): Promise<string[]> {
  const { result } = await host.request('resources/list');
  return ((result?.resources ?? []) as { uri: string }[]).map(({ uri }) => uri);
}

/** Worker program that lacks one of its parts. */
const BROKEN = () => "require('/nowhere/part.cjs');";

const logOf = (workspace: TestWorkspace): string => join(stateFolder(workspace), 'worker.log');

/** Creates a workspace with this worker program. */
function withWorker(worker: (real: string) => string, configured = {}): TestWorkspace & { program: string } {
  return { ...testWorkspace(configured), program: otherBuild({ worker }) };
}

/** Kills the worker until it is in a crash loop, without an answer in between. */
async function killedTimeAndAgain(workspace: TestWorkspace, host: HostProcess): Promise<void> {
  for (let n = 0; n < 5; n++) {
    await until('the session to be attached', async () => (await status(workspace)).sessions.length === 1);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await until('the loss', () => host.stderr.split('worker lost').length === n + 2);
  }
  await until('the crash loop', () => host.stderr.includes('it ended several times in a row'));
}

describe('if no worker can start', () => {
  it('the host itself reports its health, the reason and its tools', async () => {
    const workspace = withWorker(BROKEN);
    const host = await HostProcess.connect(workspace);
    expect(await names(host)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    expect(await uris(host)).toEqual(OWN);
    const report = await health(host);
    expect(report).toMatchObject({
      workspace: workspace.folder,
      state: 'recovering',
      condition: 'down',
      generation: 1,
      uptime_ms: 0,
      rollout: 'stable',
      last_fault: { class: 'process', code: 'spawn_failed' },
      worker_log: logOf(workspace),
      host_pid: host.child.pid,
      servers: [],
    });
    expect(report.consecutive_failures).toBeGreaterThan(0);
    expect(['failed', 'starting']).toContain(report.worker_handshake);
    const missing = "Error: Cannot find module '/nowhere/part.cjs'";
    expect(report.problems).toEqual([`Waygate's worker could not be started: ${missing}.`]);
    const text = await read(host, 'waygate://health');
    expect(text).toMatch(/^gateway down: Waygate's worker could not be started: Error: Cannot find module '/);
    expect(text).toMatch(/\ngeneration 1, \d+ restarts?, \d+ failures? in a row, rollout stable, worker \w+\n/);
    expect(text).toMatch(/\nnext try: (?:now|in \d+ s), by the host \d+\n/);
    expect(text.endsWith(`\nlog of the worker: ${logOf(workspace)}\n`)).toBe(true);
    expect(readFileSync(logOf(workspace), 'utf8')).toContain(missing);
    expect(await read(host, 'waygate://telemetry')).toBe(
      'No worker runs, so nothing is counted; see waygate://health.\n',
    );
    expect(JSON.parse(await read(host, 'waygate://telemetry?render=json'))).toMatchObject({ totals: null });
  });

  it('calls and other requests that need servers get the reason and what to do', async () => {
    const workspace = withWorker(BROKEN);
    const host = await HostProcess.connect(workspace);
    const { isError, text } = await host.call('tool_browse', { path: '/' });
    expect(isError).toBe(true);
    const [line] = text.split('\n');
    const missing = "Error: Cannot find module '/nowhere/part.cjs'";
    expect(line).toBe(
      `Error UPSTREAM_UNAVAILABLE: Waygate's worker could not be started: ${missing}. Nothing was sent. Ask the user to run \`waygate health\`; the reason is in ${logOf(workspace)}.`,
    );
    expect(text).toContain(`\nlog: ${logOf(workspace)}\n`);
    for (const method of ['prompts/list', 'resources/read']) {
      const { error } = await host.request(method, { uri: 'file:///x' });
      expect(error?.message, method).toContain('Ask the user to run `waygate health`');
    }
    expect(host.lines.join('\n')).not.toMatch(/this server|use another tool/);
  });

  it('the command line reports it too, even when no host tries any more', async () => {
    const workspace = withWorker(BROKEN);
    const host = await HostProcess.connect(workspace);
    await host.call('tool_browse', { path: '/' });
    const spoken = await waygate(workspace, ['health']);
    expect(spoken.code).toBe(EXIT_DOWN);
    expect(spoken.stdout).toMatch(/^gateway down: Waygate's worker could not be started: Error: Cannot find module '/);
    expect(spoken.stdout).toContain(`, by the host ${host.child.pid}\n`);
    expect(spoken.stdout).toContain(`\nlog of the worker: ${logOf(workspace)}\n`);
    expect(await waygate(workspace, ['status'])).toMatchObject({
      code: EXIT_DOWN,
      stdout: expect.stringMatching(/^gateway down: /),
    });
    const json = await waygate(workspace, ['health', '--json']);
    expect(json.code).toBe(EXIT_DOWN);
    expect(JSON.parse(json.stdout)).toMatchObject({ condition: 'down', last_fault: { code: 'spawn_failed' } });
    const listed = await waygate(workspace, ['status', '--json']);
    expect(listed.code).toBe(EXIT_DOWN);
    expect(JSON.parse(listed.stdout)).toMatchObject({
      worker: null,
      servers: [],
      health: { condition: 'down', host_pid: host.child.pid },
    });
    host.end();
    expect(await host.exited).toBe(EXIT_DOWN);
    // No host tries any more, but the reason is still true.
    const left = await waygate(workspace, ['health']);
    expect(left.code).toBe(EXIT_DOWN);
    expect(left.stdout).toContain('\nnext try: when a client comes\n');
    expect(JSON.parse((await waygate(workspace, ['health', '--json'])).stdout)).toMatchObject({
      state: 'cold',
      supervision: 'idle',
      condition: 'down',
    });
    // A successful start ends the outage.
    const whole = { ...workspace, program: otherBuild({}) };
    expect((await waygate(whole, ['catalog'])).code).toBe(0);
    await until('the worker to exit', () => !rendezvous(workspace));
    expect(await waygate(workspace, ['health'])).toMatchObject({
      code: 0,
      stdout: `No gateway runs for ${workspace.folder}.\n`,
    });
  });

  it('the first successful start ends the outage and announces the lists', async () => {
    const workspace = withWorker(BROKEN, { notes: servers.primitives() });
    const whole = { ...workspace, program: otherBuild({}) };
    // From here on the catalog of the server is stored: a worker has no reason of its own to notify.
    const before = await HostProcess.connect(whole);
    await until('the tools of resources', async () => (await names(before)).includes('resource_read'));
    before.end();
    await until('the worker to exit', () => !rendezvous(workspace));
    const host = await HostProcess.connect(workspace);
    expect(await names(host)).toHaveLength(3);
    expect(await uris(host)).toEqual(OWN);
    renameSync(join(dirname(whole.program), 'worker.cjs'), join(dirname(workspace.program), 'worker.cjs'));
    // The host now retries once a minute. A new host tries at once, and the old session joins with its next request.
    const next = await HostProcess.connect(workspace);
    await until('the tools of resources', async () => (await names(next)).includes('resource_read'));
    await until('the session', async () => (await names(host)).includes('resource_read'));
    for (const list of ['tools', 'resources']) {
      await until(`the notification about ${list}`, () =>
        host.notifications.some(({ method }) => method === `notifications/${list}/list_changed`),
      );
    }
    await until('the tools of resources', async () => (await names(host)).includes('resource_read'));
    expect((await uris(host)).length).toBeGreaterThan(OWN.length);
    expect(readOutage(stateFolder(workspace))).toBeUndefined();
    expect(await waygate(workspace, ['health'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^gateway (?:ready|degraded|starting), /),
    });
  });

  it('five are started at once, then one per minute, whatever clients request', async () => {
    const workspace = testWorkspace();
    const starts = workspace.write('starts.txt', '');
    const counted = () => `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'start\\n'); process.exit(3);`;
    const host = await HostProcess.connect({ ...workspace, program: otherBuild({ worker: counted }) });
    for (let n = 0; n < 20; n++) expect((await host.call('tool_browse', { path: '/' })).isError).toBe(true);
    await until('the crash loop', async () => (await health(host)).supervision === 'crash_loop');
    expect((await health(host)).next_attempt_in_ms).toBeGreaterThan(30_000);
    for (let n = 0; n < 20; n++) await host.call('tool_browse', { path: '/' });
    expect(linesOf(starts)).toHaveLength(5);
  });

  it.each(['passthrough', 'transparent'])(
    'the host invents no lists in %s mode, where they are those of the servers',
    async (mode) => {
      const workspace = withWorker(BROKEN);
      const host = new HostProcess(workspace, ['--mode', mode]);
      const answer = await host.initialize();
      if (mode === 'passthrough') {
        expect(answer.error?.message).toMatch(/^Waygate's worker could not be started: .*`waygate health`/);
        return;
      }
      expect((await host.request('tools/list')).error?.message).toContain('`waygate health`');
    },
  );
});

describe('a crash loop of the worker', () => {
  it('is reported by the host with the fifth kill in a row and the time of the next try', async () => {
    const workspace = testWorkspace({ notes: servers.primitives() });
    const folder = ensureWorkspaceState(workspace.folder, workspace.stateDir);
    writeFileSync(join(folder, 'worker.log'), 'Error: of another day\n', { mode: 0o600 });
    const host = await HostProcess.connect(workspace);
    await until('the tools of resources', async () => (await names(host)).includes('resource_read'));
    const listed = await names(host);
    await killedTimeAndAgain(workspace, host);
    expect(await names(host)).toEqual(listed);
    expect(await uris(host)).toEqual(OWN);
    const report = await health(host);
    expect(report).toMatchObject({
      state: 'recovering',
      supervision: 'crash_loop',
      worker_handshake: 'failed',
      generation: 5,
      restart_count: 4,
      consecutive_failures: 5,
      last_fault: { generation: 5, class: 'process', code: 'exited' },
      problems: ["Waygate's worker keeps exiting and is retried only once a minute."],
      worker_log: logOf(workspace),
    });
    expect(report.next_attempt_in_ms).toBeGreaterThan(30_000);
    expect(report.next_attempt_in_ms).toBeLessThanOrEqual(60_000);
    const { isError, text } = await host.call('tool_browse', { path: '/' });
    expect(isError).toBe(true);
    expect(text.split('\n')[0]).toBe(
      `Error UPSTREAM_UNAVAILABLE: Waygate's worker keeps exiting and is retried only once a minute. Nothing was sent. Ask the user to run \`waygate health\`; the reason is in ${logOf(workspace)}.`,
    );
    const spoken = await waygate(workspace, ['health']);
    expect(spoken.code).toBe(EXIT_DOWN);
    expect(spoken.stdout).toMatch(
      /^gateway down: Waygate's worker keeps exiting .*\ngeneration 5, 4 restarts, 5 failures in a row, .*\nlast fault: process\/exited \(generation 5\)\nnext try: in \d+ s, by the host \d+\n/,
    );
  });

  it('is reported with the last error of the worker, without its secrets', async () => {
    const workspace = withWorker(endedByAttachers("throw new Error('the disk has gone, token=abcdef123456');"));
    const host = await HostProcess.connect(workspace);
    await until('the crash loop', () => host.stderr.includes('it ended several times in a row'));
    const { text } = await host.call('tool_browse', { path: '/' });
    expect(text).toMatch(/once a minute: Error: the disk has gone/);
    expect((await health(host)).last_fault?.detail).toBe('Error: the disk has gone, token=[REDACTED-SECRET]');
    expect(host.lines.join('\n')).not.toContain('abcdef123456');
    expect(readFileSync(join(stateFolder(workspace), 'lastWorker.json'), 'utf8')).not.toContain('abcdef123456');
  });
});

describe('an ordinary recovery', () => {
  it('is waited for: the next worker answers reads, not the host', async () => {
    const workspace = testWorkspace({ notes: servers.primitives() });
    const host = await HostProcess.connect(workspace);
    await until('the resources', async () => (await uris(host)).length > OWN.length);
    for (let n = 0; n < 3; n++) {
      const pid = rendezvous(workspace)?.pid as number;
      process.kill(pid, 'SIGKILL');
      const [report, listed] = await Promise.all([health(host), uris(host)]);
      expect(report).not.toHaveProperty('supervision');
      expect(listed.length).toBeGreaterThan(OWN.length);
    }
  });
});

describe('the command line without a worker', () => {
  it('reports the unexpected exit of the last worker, and that nothing is wrong now', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await names(host);
    const pid = rendezvous(workspace)?.pid as number;
    host.child.kill('SIGKILL');
    await host.exited;
    process.kill(pid, 'SIGKILL');
    await until('its end', () => !isAlive(pid));
    const { code, stdout } = await waygate(workspace, ['health']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      [
        `No gateway runs for ${workspace.folder}.`,
        `gateway cold: Its worker (pid ${pid}) exited unexpectedly; the next client starts another.`,
        'generation 1, 0 restarts, 1 failure in a row, rollout stable, worker failed',
        `last fault: process/exited (generation 1): pid ${pid}`,
        `log of the worker: ${logOf(workspace)}`,
        '',
      ].join('\n'),
    );
    expect(JSON.parse((await waygate(workspace, ['health', '--json'])).stdout)).toMatchObject({
      state: 'cold',
      worker_handshake: 'failed',
      last_fault: { code: 'exited' },
    });
    const listed = await waygate(workspace, ['status', '--json']);
    expect(listed.code).toBe(0);
    expect(JSON.parse(listed.stdout)).toMatchObject({ worker: null, health: { consecutive_failures: 1 } });
  });

  it.each([
    ['during the handshake', 'before'],
    ['during the request', 'behind'],
  ] as const)('reports the same of a worker that is killed %s', async (_moment, when) => {
    const workspace = testWorkspace({});
    const flag = join(workspace.folder, 'flag');
    workspace.program = otherBuild({ worker: killedAtWords(when, '"ok":true', flag) });
    const host = await HostProcess.connect(workspace);
    // The stopped host must neither attach first nor start another worker.
    await until('the host to be attached', async () => (await status(workspace)).sessions.length === 1);
    host.child.kill('SIGSTOP');
    onTestFinished(() => void host.child.kill('SIGCONT'));
    const asked: [string, object][] = [
      ['health', { worker_handshake: 'failed', last_fault: { code: 'exited' } }],
      ['status', { worker: null, health: { consecutive_failures: 2 } }],
      ['telemetry', { state: 'cold' }],
    ];
    for (const [command, expected] of asked) {
      writeFileSync(flag, '');
      const { code, stdout, stderr } = await waygate(workspace, [command, '--json']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject(expected);
      // The next command finds a new worker.
      host.child.kill('SIGCONT');
      await until('another worker', async () => (await status(workspace)).sessions.length === 1);
      host.child.kill('SIGSTOP');
    }
  });

  it('ignores an invalid record of the last worker', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    await names(host);
    await waygate(workspace, ['stop']);
    host.child.kill('SIGKILL');
    for (const text of ['', 'no JSON', '7', '{"outage":{"at":1}}', '{"outage":{"at":1,"health":{"problems":"x"}}}']) {
      writeFileSync(join(stateFolder(workspace), 'lastWorker.json'), text);
      expect(await waygate(workspace, ['health'])).toEqual({
        code: 0,
        stdout: `No gateway runs for ${workspace.folder}.\n`,
        stderr: expect.stringMatching(/^Next: [^\n]+\n$/),
      });
    }
  });
});
