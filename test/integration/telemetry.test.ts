import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import type { HealthReport, TelemetryReport } from '../../src/control/healthContract.ts';
import type { Rendezvous } from '../../src/link/rendezvous.ts';
import { rendezvous, stateFolder, status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, SHORT_SILENCE, until } from '../support/hostProcess.ts';
import { linesOf, recordsOf } from '../support/lines.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

const eventsFile = (workspace: TestWorkspace): string => join(stateFolder(workspace), 'events.jsonl');
const reportOf = async <T>(workspace: TestWorkspace, command: string): Promise<T> =>
  JSON.parse((await waygate(workspace, [command, '--json'])).stdout) as T;

/** Runs a command that keeps printing, and collects its output. */
function following(workspace: TestWorkspace, args: string[]) {
  const child = spawn(process.execPath, [WAYGATE, ...args], { env: workspace.env, cwd: workspace.folder });
  const output = { text: '', errors: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    output.text += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    output.errors += chunk.toString();
  });
  onTestFinished(() => void child.kill());
  return output;
}

describe('health and telemetry of a running gateway', () => {
  it('count calls, report a crash and the call that it ended, and store no argument values', async () => {
    const workspace = testWorkspace({ one: servers.fixture(), gone: { command: 'waygate-no-such-command' } });
    const host = await GatewaySession.connect(workspace);
    const [echo, fails, crash] = await Promise.all(
      ['echo', 'fails', 'crash'].map((name) => host.toolId(`/one/${name}`)),
    );
    const canary = 'canary-77aa';
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    for (const text of [canary, secret]) await host.call('tool_execute', { tool_id: echo, args: { text } });
    await host.call('tool_execute', { tool_id: fails, args: {} });
    await host.call('tool_execute', { tool_id: echo, args: { text: 7 } });
    expect((await host.call('tool_execute', { tool_id: crash, args: {} })).isError).toBe(true);
    await host.call('tool_execute', { tool_id: echo, args: { text: canary } });
    await host.call('tool_browse', { query: canary });
    await host.call('tool_view', { handle: `schema:${echo}`, selector: {} });

    // A missing command is also searched in the PATH of the login shell, which may take long to start.
    await until('the failure of the missing command', async () => {
      const { servers: known } = await reportOf<HealthReport>(workspace, 'health');
      return known.find(({ name }) => name === 'gone')?.state === 'failed';
    });
    const telemetry = await reportOf<TelemetryReport>(workspace, 'telemetry');
    expect(telemetry).toMatchObject({ state: 'ready', generation: 1, consecutive_failures: 0, restart_count: 0 });
    const row = (id: string | undefined) => telemetry.tools.find((tool) => tool.tool_id === id);
    expect(row(echo)).toMatchObject({ request_count: 4, success_count: 3, response_error_count: 1 });
    expect(row(echo)?.last_error?.code).toBe('ARGS_INVALID');
    expect(row(fails)).toMatchObject({ request_count: 1, response_error_count: 1, recovery_error_count: 0 });
    expect(row(crash)).toMatchObject({ request_count: 1, response_error_count: 0, recovery_error_count: 1 });
    expect(row(echo)?.p99_latency_ms).toBeGreaterThan(0);
    expect(telemetry.methods.find(({ method }) => method === 'tool_execute')).toMatchObject({
      request_count: 6,
      error_count: 3,
    });
    expect(telemetry.last_fault).toMatchObject({ class: 'process', recovery_hint: 'replace_worker' });
    const sum = telemetry.methods.reduce((n, method) => n + method.request_count, 0);
    expect(sum).toBe(telemetry.totals.request_count);

    const health = await reportOf<HealthReport>(workspace, 'health');
    expect(health).toMatchObject({
      workspace: workspace.folder,
      state: 'ready',
      worker_handshake: 'ready',
      condition: 'degraded',
      rollout: 'stable',
      event_log: { file: eventsFile(workspace), failures: 0 },
    });
    const [one, gone] = health.servers;
    expect(one).toMatchObject({ name: 'one', state: 'ready', down: false, generation: 2, restart_count: 1 });
    expect(one?.last_fault).toMatchObject({ generation: 1, class: 'process', code: 'exited' });
    expect(one?.uptime_ms).toBeGreaterThan(0);
    expect(gone).toMatchObject({ name: 'gone', state: 'failed', down: true, consecutive_failures: 1, uptime_ms: 0 });

    await stopGateway(workspace);
    const records = await until('the last event', () => {
      const all = recordsOf(eventsFile(workspace));
      return all.at(-1)?.event === 'worker.stopped' && all;
    });
    const names = records.map(({ event }) => event);
    expect(names[0]).toBe('worker.started');
    for (const name of [
      'upstream.started',
      'upstream.crashed',
      'upstream.restarting',
      'upstream.failed',
      'execute.completed',
      'execute.failed',
      'browse.completed',
      'hydrate.completed',
      'tool_call',
    ]) {
      expect(names).toContain(name);
    }
    expect(records.find(({ event, outcome }) => event === 'tool_call' && outcome === 'error')).toMatchObject({
      repo_root: workspace.folder,
      tool_name: fails,
      replay_attempts: 0,
      error_code: 'UPSTREAM_ERROR',
      error_kind: 'answered_with_error',
    });
    const written = readFileSync(eventsFile(workspace), 'utf8');
    for (const value of [canary, secret]) expect(written).not.toContain(value);
    expect(JSON.stringify([telemetry, health])).not.toContain(canary);
    if (process.platform !== 'win32') expect(statSync(eventsFile(workspace)).mode & 0o777).toBe(0o600);
  });

  it('count requests of clients by MCP method, and store none of their parameters', async () => {
    const workspace = testWorkspace({ one: servers.primitives() });
    const host = await GatewaySession.connect(workspace);
    const canary = 'canary-88bb';
    await until('its resources', async () => {
      const { result } = await host.request('resources/list');
      return (result?.resources as unknown[] | undefined)?.some((one) => JSON.stringify(one).includes('readme'));
    });
    const before = (await reportOf<TelemetryReport>(workspace, 'telemetry')).totals.request_count;
    const asked: [method: string, params: object, failed?: number][] = [
      ['tools/list', {}],
      ['resources/templates/list', {}],
      ['resources/read', { uri: 'file:///shared/readme.md' }],
      ['resources/read', { url: canary }, -32602],
      ['prompts/list', {}],
      ['prompts/get', { name: canary }, -32602],
      ['logging/setLevel', { level: 'info' }],
      [`odd/${canary}`, {}, -32601],
    ];
    for (const [method, params, failed] of asked) {
      expect((await host.request(method, params)).error?.code, method).toBe(failed);
    }
    const telemetry = await reportOf<TelemetryReport>(workspace, 'telemetry');
    expect(telemetry.totals.request_count - before).toBe(asked.length);
    const row = (method: string) => telemetry.methods.find((one) => one.method === method);
    for (const method of ['tools/list', 'resources/templates/list', 'prompts/list', 'logging/setLevel']) {
      expect(row(method), method).toMatchObject({ request_count: 1, success_count: 1, error_count: 0 });
    }
    expect(row('resources/list')?.success_count).toBeGreaterThan(0);
    expect(row('resources/read')).toMatchObject({
      request_count: 2,
      response_error_count: 1,
      last_error: { code: '-32602', message: 'JSON-RPC error -32602' },
    });
    expect(row('resources/read')?.max_latency_ms).toBeGreaterThan(0);
    expect(row('prompts/get')).toMatchObject({ request_count: 1, error_count: 1 });
    expect(row('(unknown method)')).toMatchObject({ request_count: 1, error_count: 1 });
    expect(JSON.stringify(telemetry)).not.toContain(canary);
  });

  it('are available as text, and can be followed: events from the log, health at every change', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    expect((await waygate(workspace, ['health'])).stdout).toBe(`No gateway runs for ${workspace.folder}.\n`);
    expect(await reportOf(workspace, 'health')).toMatchObject({
      state: 'cold',
      worker_handshake: 'absent',
      servers: [],
    });
    expect(await reportOf(workspace, 'telemetry')).toMatchObject({ state: 'cold', totals: null });
    const events = following(workspace, ['telemetry', '--follow', '--json']);
    const changes = following(workspace, ['health', '--follow']);
    await until('both to have begun', () => events.text !== '' && changes.text.includes('No gateway runs'));
    expect(rendezvous(workspace)).toBeUndefined();
    const host = await GatewaySession.connect(workspace);
    const echo = await host.toolId('/one/echo');
    await host.call('tool_execute', { tool_id: echo, args: { text: 'hi' } });
    await until('the event of the call', () => events.text.includes('"event":"execute.completed"'));
    await until('the change of health', () =>
      /gateway ready, up \d+ s \(since \S+Z\): 1 server, 1 ready\n/.test(changes.text),
    );
    expect((await waygate(workspace, ['telemetry'])).stdout).toMatch(/^\d+ requests in \d+ s \(since \S+Z\): \d+ ok, /);
    expect((await waygate(workspace, ['health'])).stdout).toMatch(/\none: ready, up \d+ s\n$/);
    for (const line of events.text.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('can be followed while the worker hangs, and the hang is reported', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    Object.assign(workspace.env, SHORT_SILENCE);
    const host = await HostProcess.connect(workspace);
    const echo = await host.toolId('/one/echo');
    const changes = following(workspace, ['health', '--follow']);
    await until('the first of it', () => changes.text.includes('gateway ready'));
    const { pid } = rendezvous(workspace) as Rendezvous;
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void (isAlive(pid) && process.kill(pid, 'SIGCONT')));
    const events = following(workspace, ['telemetry', '--follow', '--json']);
    const word = /^waygate: [^\n]* (?:does|did) not answer[^\n]*\n/;
    await until('the errors of both', () => [changes, events].every(({ errors }) => word.test(errors)));
    changes.text = '';
    // The host may have replaced the hung worker by now.
    if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    await until('its health', () => changes.text.includes('gateway ready'));
    await until('an event', async () => {
      await host.call('tool_execute', { tool_id: echo, args: { text: 'hi' } });
      return events.text.includes('"event":"execute.completed"');
    });
  });

  it('do not affect calls if the log cannot be written, and health reports the error', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    mkdirSync(join(ensureWorkspaceState(workspace.folder, workspace.stateDir), 'events.jsonl'));
    const host = await GatewaySession.connect(workspace);
    const echo = await host.toolId('/one/echo');
    const answer = await host.call('tool_execute', { tool_id: echo, args: { text: 'hi' } });
    expect(answer).toMatchObject({ isError: false, text: 'ok\nhi\n' });
    const health = await until('health to report it', async () => {
      const report = await reportOf<HealthReport>(workspace, 'health');
      return report.event_log.failures > 0 && report;
    });
    expect(health.event_log).toMatchObject({ written: 0, failing: 'EISDIR' });
    expect(health.problems).toEqual([`The event log ${eventsFile(workspace)} cannot be written (EISDIR).`]);
    expect((await reportOf<TelemetryReport>(workspace, 'telemetry')).tools[0]).toMatchObject({ success_count: 1 });
  });

  it('count a repeated call once, with its retries', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
    writeFileSync(workspace.configFile, JSON.stringify({ ...config, replay: { default: 'convergent' } }));
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { until: workspace.gate, nonce: 'a' } });
    for (let workers = 1; workers <= 2; workers++) {
      await until('its effect', () => linesOf(effects).length === workers);
      process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    }
    await until('its last effect', () => linesOf(effects).length === 3);
    workspace.letGo();
    expect(await call).toMatchObject({ isError: false });
    const { tools, methods } = await reportOf<TelemetryReport>(workspace, 'telemetry');
    expect(tools).toMatchObject([{ tool_id: id, request_count: 1, success_count: 1, retry_count: 2 }]);
    expect(methods.find(({ method }) => method === 'tool_execute')).toMatchObject({ request_count: 1, retry_count: 2 });
  });

  it('count a call once if its session ends first', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const id = await (await GatewaySession.connect(workspace)).toolId('/one/wait');
    const host = await GatewaySession.connect(workspace);
    void host.call('tool_execute', { tool_id: id, args: { ms: 600_000, nonce: 'a' } });
    await until('its effect', () => linesOf(effects).length === 1);
    host.end();
    await host.ended;
    // The host reports the call before its connection ends, and the worker's own report follows.
    const tools = await until('the report of the worker', async () => {
      const { tools: rows } = await reportOf<TelemetryReport>(workspace, 'telemetry');
      return rows[0]?.last_error?.code === 'CANCELLED' && rows;
    });
    expect(tools).toMatchObject([{ tool_id: id, request_count: 1, error_count: 1 }]);
  });

  it('count the lost calls of a killed worker in the next one, and the loss itself', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const calls = ['a', 'b'].map((nonce) =>
      host.call('tool_execute', { tool_id: id, args: { ms: 600_000, nonce, password: 'c4nary' } }),
    );
    await until('their effects', () => readFileSync(effects, 'utf8').trim().split('\n').length === 2);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    for (const { text } of await Promise.all(calls)) expect(text).toContain('outcome: unknown');
    await host.toolId('/one/wait');
    const { tools, totals } = await reportOf<TelemetryReport>(workspace, 'telemetry');
    expect(tools).toMatchObject([{ tool_id: id, request_count: 2, success_count: 0, recovery_error_count: 2 }]);
    expect(tools[0]?.last_error?.message).toMatch(/^Waygate's worker .*may have taken effect/);
    expect(totals.recovery_fault_count).toBeGreaterThan(0);
    const records = await until('the events', () => {
      const all = recordsOf(eventsFile(workspace));
      return all.filter(({ event }) => event === 'execute.failed').length === 2 && all;
    });
    expect(records.filter(({ event }) => event === 'worker.lost')).toMatchObject([
      { success: false, attributes: { generation: 1, reason: 'process/exited' } },
    ]);
    expect(records.find(({ event }) => event === 'execute.failed')).toMatchObject({
      tool_id: id,
      success: false,
      attributes: { error_code: 'UPSTREAM_UNAVAILABLE' },
    });
    expect((await status(workspace)).recentCalls.filter(({ subject }) => subject === id)).toHaveLength(2);
    expect(JSON.stringify(records)).not.toContain('c4nary');
  });

  it.each([
    ['passthrough', 'of the only server', 'wait', {}, 'tools/call'],
    ['passthrough', 'of one of several', 'one__wait', { two: servers.fixture() }, 'tools/call'],
    ['transparent', 'by its listed name', 'one__wait', {}, 'tool_execute'],
    ['transparent', 'with tool_execute and its listed name', 'tool_execute', {}, 'tool_execute'],
    ['gateway', 'by its id without the hash', 'tool_execute', {}, 'tool_execute'],
    ['gateway', 'with another spelling of tool_execute', 'mcp__waygate__tool_execute', {}, 'tool_execute'],
  ])('count a lost call by its tool in %s mode: %s', async (mode, _how, name, others, metaTool) => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects), ...others });
    const host = await HostProcess.connect(workspace, ['--mode', mode]);
    if (mode === 'gateway') await host.toolId('/one/wait');
    else await host.request('tools/list');
    const id = expect.stringMatching(/^one:wait#\w{8}$/);
    const args = { ms: 600_000, nonce: 'a', query: 'c4nary', tool_id: 'c4nary' };
    const given = { tool_id: mode === 'gateway' ? 'one:wait' : 'one__wait', args };
    const called = name.endsWith('tool_execute') ? given : args;
    const lost = host.request('tools/call', { name, arguments: called });
    await until('its effect', () => readFileSync(effects, 'utf8') !== '');
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    expect(JSON.stringify(await lost)).toContain('outcome: unknown');
    await host.request('tools/list');
    const { tools, methods } = await reportOf<TelemetryReport>(workspace, 'telemetry');
    expect(tools).toMatchObject([{ tool_id: id, request_count: 1, recovery_error_count: 1 }]);
    expect(methods.map(({ method }) => method)).not.toContain('(unknown)');
    const { recentCalls } = await status(workspace);
    expect(recentCalls).toMatchObject([{ metaTool, subject: id, outcome: 'error', errorCode: 'UPSTREAM_UNAVAILABLE' }]);
    const record = await until('the event', () =>
      recordsOf(eventsFile(workspace)).find(({ event }) => event === 'execute.failed'),
    );
    expect(record).toMatchObject({ tool_id: id, namespace: 'one' });
    expect(JSON.stringify([record, recentCalls])).not.toContain('c4nary');
  });

  it.each(['reload', 'stop'])('record one event for a call that ends with its worker: %s', async (command) => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    workspace.env.WAYGATE_DRAIN_MS = '300';
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 600_000, nonce: 'once' } });
    await until('the effect', () => readFileSync(effects, 'utf8').includes('once'));
    expect((await waygate(workspace, [command])).code).toBe(0);
    expect((await call).text).toContain('outcome: unknown');
    await host.toolId('/one/wait');
    const events = (name: string) => recordsOf(eventsFile(workspace)).filter(({ event }) => event === name);
    await until('the end of its worker', () => events('worker.stopped').length === 1);
    await until('the event', () => events('execute.failed').length > 0);
    expect((await waygate(workspace, ['stop'])).code).toBe(0);
    await until('the end of the next', () => events('worker.stopped').length === 2);
    expect(events('execute.failed')).toMatchObject([{ tool_id: id }]);
  });

  it('survive the loss of the worker: the next one appends to its log', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    await until('something written', async () => recordsOf(eventsFile(workspace)).length > 0);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await host.call('tool_browse', { path: '/' });
    const starts = await until('the next worker in the same log', async () => {
      const records = recordsOf(eventsFile(workspace));
      const pids = records.filter(({ event }) => event === 'worker.started').map(({ attributes }) => attributes);
      return pids.length === 2 && pids;
    });
    expect(starts[0]).not.toEqual(starts[1]);
    // The server's tools are known, so it starts when it is called and is not down until then.
    const { condition, servers: known } = await reportOf<HealthReport>(workspace, 'health');
    const idle = { generation: 1, worker_handshake: 'absent', supervision: 'idle', uptime_ms: 0 };
    expect(known).toMatchObject([{ name: 'one', state: 'not_started', down: false, ...idle }]);
    expect(condition).toBe('ready');
  });
});
