import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { GatewaySnapshot } from '../../src/control/contract.ts';
import type { TelemetryReport } from '../../src/control/healthContract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import type { Rendezvous } from '../../src/link/rendezvous.ts';
import { candidatesWhile, killedAtTakeover, otherBuild, withoutPlace } from '../support/builds.ts';
import { rendezvous, stateFolder, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { linesOf } from '../support/lines.ts';
import { McpHttpClient } from '../support/mcpHttp.ts';
import { servers, type TestWorkspace, testWorkspace, WORKER } from '../support/workspace.ts';

interface Health {
  generation: number;
  rollout: string;
  problems: string[];
  last_fault?: { class: string; code: string; detail: string };
}

const here = (workspace: TestWorkspace): Rendezvous => rendezvous(workspace) as Rendezvous;
const alive = (pidFile: string): number[] => pidsIn(pidFile).filter(isAlive);
const health = async (workspace: TestWorkspace, ...args: string[]): Promise<Health> =>
  JSON.parse((await waygate(workspace, ['health', '--json', ...args])).stdout) as Health;
const telemetry = async (workspace: TestWorkspace): Promise<TelemetryReport> =>
  JSON.parse((await waygate(workspace, ['telemetry', '--json'])).stdout) as TelemetryReport;
const writes = (file: string, config: object | string): void =>
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
const log = (workspace: TestWorkspace): string => readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
const eventsOf = (workspace: TestWorkspace, name: string): { attributes: { reason?: string } }[] =>
  linesOf(join(stateFolder(workspace), 'events.jsonl'))
    .map((line) => JSON.parse(line) as { event: string; attributes: object })
    .filter(({ event }) => event === name);
const successor = (workspace: TestWorkspace, before: Rendezvous): Promise<Rendezvous> =>
  until('another worker', () => {
    const now = rendezvous(workspace);
    return now && now.token !== before.token && now;
  });
const wait = (host: HostProcess, id: string, ms: number, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { ms, nonce } });
/** Runs until the workspace lets it go. */
const held = ({ gate }: TestWorkspace, host: HostProcess, id: string, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { until: gate, nonce } });
const LET_GO = { isError: false, text: 'ok\nwaited until it was let go\n' };
const echo = (host: HostProcess, id: string, text: string) =>
  host.call('tool_execute', { tool_id: id, args: { text } }).then((answer) => answer.text);
/** However long a busy machine takes to get to the next line, calls in flight have the time for it. */
function patient(workspace: TestWorkspace): TestWorkspace {
  workspace.env.WAYGATE_DRAIN_MS = '60000';
  return workspace;
}
const said = (host: HostProcess): string[] => host.told.map(({ method }) => method as string);

/** Three servers that note what they do. */
function three() {
  const workspace = patient(testWorkspace());
  const effects = workspace.write('effects.txt', '');
  const one = (...flags: string[]) => servers.fixture('--effects', effects, ...flags);
  workspace.configure({ same: one(), changed: one('--name-suffix', '_a'), gone: one() });
  return { workspace, effects, one };
}

describe('a change of the configuration', () => {
  it('costs no call that is in flight: of a server that is changed, of one that goes, of one that stays', async () => {
    const { workspace, effects, one } = three();
    const host = await HostProcess.connect(workspace);
    const ids = await Promise.all(['/same/wait', '/changed/wait_a', '/gone/wait'].map((path) => host.toolId(path)));
    const before = here(workspace);
    const calls = ids.map((id, i) => held(workspace, host, id, `n${i}`));
    await until('the effects', () => linesOf(effects).length === 3);
    workspace.configure({ same: one(), changed: one('--name-suffix', '_b'), comes: one() });
    const after = await successor(workspace, before);
    // While they run: what is new serves, what is gone is gone.
    const id = await host.toolId('/changed/echo_b');
    expect(await echo(host, id, 'new')).toBe('ok\nnew\n');
    expect((await host.call('tool_browse', { path: '/gone' })).text).toMatch(/^Error PATH_NOT_FOUND/);
    workspace.letGo();
    for (const call of calls) expect(await call).toMatchObject(LET_GO);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect(linesOf(effects).sort()).toEqual(['n0', 'n1', 'n2']);
    expect(await workersOf(workspace)).toEqual([after.pid]);
    expect(host.stderr).toBe('');
  });

  it('loses no count and no line of what was called: not of what ends on the one before', async () => {
    const { workspace, effects, one } = three();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/same/wait');
    for (const nonce of ['a', 'b']) await wait(host, id, 0, nonce);
    await host.call('tool_execute', { tool_id: 'same:none', args: {} });
    const calls = async () =>
      (JSON.parse((await waygate(workspace, ['status', '--json'])).stdout) as GatewaySnapshot).recentCalls;
    const count = async () =>
      (await telemetry(workspace)).methods.find(({ method }) => method === 'tool_execute')?.request_count;
    expect(await count()).toBe(3);
    const before = here(workspace);
    const late = held(workspace, host, id, 'late');
    await until('its effect', () => linesOf(effects).includes('late'));
    const began = performance.now();
    workspace.configure({ same: one(), comes: one() });
    await successor(workspace, before);
    // What had ended by then is there at once.
    await until('the counts', async () => (await count()) === 3);
    const ran = performance.now() - began;
    workspace.letGo();
    await late;
    await until('the one before to leave', () => !isAlive(before.pid));
    await wait(host, id, 0, 'c');
    const { tools, methods, uptime_ms } = await telemetry(workspace);
    expect(methods.find(({ method }) => method === 'tool_execute')).toMatchObject({
      request_count: 5,
      success_count: 4,
      error_count: 1,
    });
    expect(tools).toMatchObject([{ tool_id: id, request_count: 4, success_count: 4 }]);
    expect(tools[0]?.max_latency_ms).toBeGreaterThan(ran);
    expect(uptime_ms).toBeGreaterThan(ran);
    const executed = (await calls()).filter(({ metaTool }) => metaTool === 'tool_execute');
    expect(executed).toHaveLength(5);
    expect(new Set((await calls()).map((call) => call.id)).size).toBe((await calls()).length);
    expect(executed.map(({ at }) => at)).toEqual(executed.map(({ at }) => at).sort((a, b) => b - a));
  });

  it('loses no token either of what ends on the one before', async () => {
    const { workspace, effects, one } = three();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/same/wait');
    const before = here(workspace);
    const late = held(workspace, host, id, 'late');
    await until('its effect', () => linesOf(effects).includes('late'));
    workspace.configure({ same: one(), comes: one() });
    await successor(workspace, before);
    // What was counted so far is handed on, and nothing but this call is waited for.
    await until('the counts', async () =>
      (await telemetry(workspace)).methods.some(({ method }) => method === 'tool_browse'),
    );
    await telemetry(workspace);
    workspace.letGo();
    expect(await late).toMatchObject(LET_GO);
    await until('the one before to leave', () => !isAlive(before.pid));
    const { tools, tokens } = await telemetry(workspace);
    expect(tools).toMatchObject([{ tool_id: id, request_count: 1, success_count: 1 }]);
    expect(tokens.result_tokens_raw).toBeGreaterThan(0);
  });

  it('treats a call that takes too long by its contract', async () => {
    const { workspace, effects, one } = three();
    const impatient = { ...workspace, env: { ...workspace.env, WAYGATE_DRAIN_MS: '300' } };
    const host = await HostProcess.connect(impatient);
    const id = await host.toolId('/gone/wait');
    const never = wait(host, id, 60_000, 'never');
    await until('the effect', () => linesOf(effects).includes('never'));
    workspace.configure({ same: one() });
    const { text, isError } = await never;
    expect(isError).toBe(true);
    expect(text).toMatch(/^Error UPSTREAM_UNAVAILABLE: .*may have taken effect/);
    expect(text).toContain('outcome: unknown');
    expect(linesOf(effects)).toEqual(['never']);
  });

  it('moves every session of every client, and tells those whose lists it has changed', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const [gateway, other] = await Promise.all([1, 2].map(() => HostProcess.connect(workspace)));
    const listing = await HostProcess.connect(workspace, ['--mode', 'transparent']);
    const names = async () =>
      ((await listing.request('tools/list')).result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    await gateway?.toolId('/one/echo');
    expect((await names()).some((name) => name.includes('only_b'))).toBe(false);
    const before = here(workspace);
    workspace.configure({ one: servers.fixture(), two: servers.fixture('--names', '["only_b"]') });
    await successor(workspace, before);
    await until('its list', async () => (await names()).some((name) => name.includes('only_b')));
    await until('the word', () => said(listing).includes('notifications/tools/list_changed'));
    expect(await gateway?.toolId('/two/echo')).toMatch(/^two:echo/);
    await until('the one before to leave', () => !isAlive(before.pid));
    expect((await status(workspace)).sessions).toHaveLength(3);
    // They see three tools, whatever stands behind them.
    for (const host of [gateway, other]) expect(said(host as HostProcess)).toEqual([]);
  });

  it('of the person’s own file, and of two files at once, is one rollout', async () => {
    const workspace = testWorkspace({ theirs: servers.fixture() });
    writes(workspace.userConfigFile, { servers: { mine: servers.fixture() } });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/mine/echo');
    writes(workspace.userConfigFile, { servers: { mine: servers.fixture(), mine2: servers.fixture() } });
    await host.toolId('/mine2/echo');
    expect(await health(workspace)).toMatchObject({ generation: 2, rollout: 'stable' });
    writes(workspace.userConfigFile, { servers: { mine: servers.fixture(), mine3: servers.fixture() } });
    workspace.configure({ theirs: servers.fixture(), theirs2: servers.fixture() });
    await Promise.all(['/mine3/echo', '/theirs2/echo'].map((path) => host.toolId(path)));
    // Long enough for a second look to have come.
    await sleep(2_500);
    expect(await health(workspace)).toMatchObject({ generation: 3, rollout: 'stable' });
  });

  it('of a file given by hand goes the same way', async () => {
    const workspace = patient(testWorkspace());
    const effects = workspace.write('effects.txt', '');
    const file = workspace.write('given.json', '');
    writes(file, { servers: { given: servers.fixture('--effects', effects) } });
    const host = await HostProcess.connect(workspace, ['--config', file]);
    const id = await host.toolId('/given/wait');
    const call = held(workspace, host, id, 'given');
    await until('the effect', () => linesOf(effects).includes('given'));
    writes(file, { servers: { later: servers.fixture() } });
    await host.toolId('/later/echo');
    expect(await health(workspace, '--config', file)).toMatchObject({ generation: 2 });
    workspace.letGo();
    expect(await call).toMatchObject(LET_GO);
    expect(linesOf(effects)).toEqual(['given']);
  });

  it('of a static catalog goes the same way', async () => {
    const workspace = testWorkspace();
    const catalog = (name: string) => ({ tools: [{ name, inputSchema: { type: 'object' }, result: name }] });
    const file = workspace.write('catalog.json', '');
    writes(file, catalog('weather.first'));
    const host = await HostProcess.connect(workspace, ['--catalog', file]);
    await host.toolId('/weather/first');
    const [before] = await workersOf(workspace);
    writes(file, catalog('weather.second'));
    await host.toolId('/weather/second');
    await until('the one before to leave', () => !isAlive(before as number));
    expect(await workersOf(workspace)).toHaveLength(1);
  });

  it('moves a session over HTTP as any other', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const served = HttpProcess.waygate(workspace, ['--no-token']);
    const client = await McpHttpClient.connect(await served.url());
    expect((await client.request('tools/list', {})).result).toHaveProperty('tools');
    const before = here(workspace);
    workspace.configure({ two: servers.fixture() });
    await successor(workspace, before);
    await until('the one before to leave', () => !isAlive(before.pid));
    const params = { name: 'tool_browse', arguments: { path: '/two' } };
    await until('its tools', async () => {
      const { result } = await client.request('tools/call', params);
      return JSON.stringify(result).includes('two:echo');
    });
    expect((await status(workspace)).sessions).toHaveLength(1);
  });

  it('takes what is kept along: artifacts, and what was learned from use', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/large');
    await host.call('tool_browse', { query: 'a text of the given number of lines' });
    const { text } = await host.call('tool_execute', { tool_id: id, args: { lines: 5_000 } });
    const handle = /text:[^\s"',;)]+/.exec(text)?.[0];
    expect(handle).toBeDefined();
    const before = here(workspace);
    workspace.configure({ one: servers.fixture(), two: servers.fixture() });
    await successor(workspace, before);
    await until('the one before to leave', () => !isAlive(before.pid));
    const selector = { type: 'lines', start: 4_000, end: 4_001 };
    expect(await host.call('tool_view', { handle, selector })).toMatchObject({ isError: false });
    expect((await waygate(workspace, ['learned'])).stdout).toContain(id);
  });

  it('is followed by an editor that watches, which is told where to look', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const runtime = { workspace: workspace.folder, nodePath: process.execPath, workerScript: WORKER };
    const options = { ...runtime, stateDir: workspace.stateDir, env: workspace.env };
    const control = await attachControl(options, { start: true, holds: true });
    if (!control) throw new Error('There is no gateway.');
    const heard: string[] = [];
    control.onSuperseded(() => heard.push('superseded'));
    control.onClose(() => heard.push('closed'));
    await control.request('watch', {});
    workspace.configure({ two: servers.fixture() });
    // Whoever asks for it has an answer when the change is in force.
    const before = here(workspace);
    await control.request('refresh', {});
    expect(here(workspace).token).not.toBe(before.token);
    await until('the end', () => heard.includes('closed'));
    expect(heard).toEqual(['superseded', 'closed']);
    const next = await attachControl(options, { start: false, holds: false });
    expect((await next?.request('watch', {}))?.servers.map(({ name }) => name)).toEqual(['two']);
    next?.dispose();
  });
});

describe('what a session has moves with it', () => {
  /** Nothing but what its clients see, and how often they may call. */
  const configured = (workspace: TestWorkspace, tools: object, more: object = {}): void =>
    writes(workspace.configFile, { servers: { one: { ...servers.fixture(), ...tools } }, ...more });
  const moved = async (workspace: TestWorkspace, change: () => void): Promise<void> => {
    const before = here(workspace);
    change();
    await successor(workspace, before);
    await until('the one before to leave', () => !isAlive(before.pid));
  };

  it('how often it has called, chat by chat', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const limits = { rateLimits: { tool_execute: { maxCallsPerSession: 2 }, tool_browse: { maxCallsPerMinute: 500 } } };
    configured(workspace, {}, limits);
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const call = async (chat?: string) => {
      const _meta = chat === undefined ? {} : { _meta: { 'vscode.conversationId': chat } };
      const params = { name: 'tool_execute', arguments: { tool_id: id, args: { text: 'x' } }, ..._meta };
      return JSON.stringify((await host.request('tools/call', params)).result);
    };
    for (const chat of [undefined, undefined, 'a', 'a', 'b']) expect(await call(chat)).toContain('ok');
    expect(await call('a')).toContain('RATE_LIMITED');
    await moved(workspace, () => configured(workspace, { tools: { exclude: ['picture'] } }, limits));
    for (const chat of [undefined, 'a']) expect(await call(chat)).toContain('RATE_LIMITED');
    for (const chat of ['b', 'c', 'c']) expect(await call(chat)).toContain('ok');
    for (const chat of ['b', 'c']) expect(await call(chat)).toContain('RATE_LIMITED');
    // Another session has its own.
    const other = await HostProcess.connect(workspace);
    expect(await echo(other, await other.toolId('/one/echo'), 'fresh')).toBe('ok\nfresh\n');
  });

  it('what was allowed for it, and for no other', async () => {
    const asks = { policy: { rules: [{ action: 'require_approval', tool: 'echo' }] } };
    const workspace = testWorkspace({ one: servers.fixture() });
    configured(workspace, {}, asks);
    const [host, other] = (await Promise.all(
      [1, 2].map(() => HostProcess.connect(workspace, [], { elicitation: { form: {} } })),
    )) as [HostProcess, HostProcess];
    host.answer('elicitation/create', () => ({ action: 'accept', content: { remember: 'session' } }));
    other.answer('elicitation/create', () => ({ action: 'decline' }));
    const id = await host.toolId('/one/echo');
    expect(await echo(host, id, 'a')).toBe('ok\na\n');
    for (const exclude of [['picture'], ['large']]) {
      await moved(workspace, () => configured(workspace, { tools: { exclude } }, asks));
      expect(await echo(host, id, 'b')).toBe('ok\nb\n');
      expect(await echo(other, id, 'c')).toMatch(/^Error POLICY_DENIED/);
    }
    expect(host.asked).toHaveLength(1);
  });

  it.each(['transparent', 'passthrough'])(
    'what its client has listed (%s): told where that has changed',
    async (mode) => {
      const workspace = testWorkspace({ one: servers.fixture() });
      const host = await HostProcess.connect(workspace, ['--mode', mode]);
      const names = async () => JSON.stringify((await host.request('tools/list')).result);
      expect(await names()).toContain('picture');
      // The first worker tells of the first start, where that has changed what is listed.
      if (mode === 'transparent') await until('the first word', () => said(host).length > 0);
      host.told.length = 0;
      // Not what is listed: nobody hears of it.
      await moved(workspace, () => configured(workspace, {}, { idleMinutes: 7 }));
      await names();
      expect(said(host)).toEqual([]);
      // The server is known, and does not start: nothing but its list is another.
      await moved(workspace, () => configured(workspace, { tools: { exclude: ['picture'] } }, { idleMinutes: 7 }));
      await until('the word', () => said(host).length > 0);
      expect(said(host)).toEqual(['notifications/tools/list_changed']);
      expect(await names()).not.toContain('picture');
    },
  );

  it('resources and prompts among it', async () => {
    const workspace = testWorkspace({ one: servers.primitives(), two: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/two/echo');
    await until('its resources', async () => {
      const listed = JSON.stringify((await host.request('resources/list')).result);
      return listed.includes('file:///shared/readme.md');
    });
    const tools = await until('their tools', async () => {
      const listed = JSON.stringify((await host.request('tools/list')).result);
      return listed.includes('resource_browse') && listed;
    });
    expect(tools).toContain('prompt_browse');
    await host.request('prompts/list');
    // Of each kind, as the first of them came.
    await until('the first words', () => new Set(said(host)).size === 3);
    host.told.length = 0;
    const { servers: same } = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
    await moved(workspace, () => writes(workspace.configFile, { servers: same, idleMinutes: 7 }));
    await sleep(1_500);
    expect(said(host)).toEqual([]);
    await moved(workspace, () => workspace.configure({ two: servers.fixture() }));
    await until('the word', () => said(host).length >= 3);
    expect(said(host).sort()).toEqual(
      ['prompts', 'resources', 'tools'].map((kind) => `notifications/${kind}/list_changed`),
    );
  });

  it('and no client can give itself what it wants', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    configured(workspace, {}, { rateLimits: { tool_execute: { maxCallsPerSession: 1 } } });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    expect(await echo(host, id, 'x')).toBe('ok\nx\n');
    const quota = { tool_execute: { recent: [], total: 0 } };
    host.notify('notifications/waygate/kept', { kept: [['session', { quota }, 0]] });
    expect(await echo(host, id, 'y')).toMatch(/^Error RATE_LIMITED/);
  });
});

describe('a file that is written', () => {
  it('and says what it said before changes nothing but where it is wrong', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const good = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
    writes(workspace.configFile, JSON.stringify({ ...good, idleMinuts: 3 }));
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const before = here(workspace);
    const line = async () => (await status(workspace)).configuration.problems.map(({ location }) => location.line);
    expect(await line()).toEqual([1]);
    writes(workspace.configFile, `// Mine.\n\n{ "idleMinuts": 4,\n ${JSON.stringify(good).slice(1)}`);
    await until('the new place', async () => (await line())[0] === 3);
    // As long as a rollout could take to begin.
    await sleep(500);
    expect(here(workspace).token).toBe(before.token);
    expect(await health(workspace)).toMatchObject({ generation: 1, rollout: 'stable' });
    expect((await status(workspace)).servers[0]?.location?.line).toBe(4);
  });

  it('and cannot be read leaves what was in force, calls included', async () => {
    const { workspace, effects } = three();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/gone/wait');
    const before = here(workspace);
    const call = held(workspace, host, id, 'on');
    await until('the effect', () => linesOf(effects).includes('on'));
    writes(workspace.configFile, '{ "servers": {\n  oops');
    const problems = async () => (await status(workspace)).configuration.problems.map(({ message }) => message);
    await until('the problem', async () => (await problems()).some((message) => message.includes('not JSON')));
    expect(here(workspace).token).toBe(before.token);
    expect(await workersOf(workspace)).toEqual([before.pid]);
    workspace.letGo();
    expect(await call).toMatchObject(LET_GO);
  });

  it('beside another that cannot be read counts, and of that one the last good content, its rules included', async () => {
    const workspace = testWorkspace();
    const rules = [{ action: 'deny', tool: 'large', reason: 'Not here.' }];
    writes(workspace.userConfigFile, { servers: { mine: servers.fixture() }, policy: { rules } });
    workspace.configure({ theirs: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/mine/large');
    const denied = async () => (await host.call('tool_execute', { tool_id: id, args: { lines: 1 } })).text;
    expect(await denied()).toMatch(/^Error POLICY_DENIED/);
    // The file as a whole, then the block alone.
    for (const [n, text] of ['{ "servers": ', `{ "servers": {}, "policy": { "rules": "none" } }`].entries()) {
      if (n === 1) writes(workspace.userConfigFile, { servers: { mine: servers.fixture() }, policy: { rules } });
      const before = here(workspace);
      writes(workspace.userConfigFile, text.replace('{}', JSON.stringify({ mine: servers.fixture() })));
      workspace.configure({ theirs: servers.fixture(), [`new${n}`]: servers.fixture() });
      await host.toolId(`/new${n}/echo`);
      expect(here(workspace).token).not.toBe(before.token);
      expect(await denied()).toMatch(/^Error POLICY_DENIED.*Not here/);
      const { problems } = (await status(workspace)).configuration;
      expect(problems.map(({ location }) => location.file)).toEqual([workspace.userConfigFile]);
    }
  });

  it('with rules that cannot be read takes none away, not even by a reload', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const config = (rules: unknown) => ({ servers: { one: servers.fixture() }, policy: { rules } });
    writes(workspace.configFile, config([{ action: 'deny', tool: 'large', reason: 'Not here.' }]));
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/large');
    const before = here(workspace);
    writes(workspace.configFile, config('none'));
    const { code, stderr } = await waygate(workspace, ['reload']);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^waygate: the gateway was not reloaded and serves on as it was: \S+waygate\.json:1:\d+: .*rules/,
    );
    const denied = await host.call('tool_execute', { tool_id: id, args: { lines: 1 } });
    expect(denied.text).toMatch(/^Error POLICY_DENIED.*Not here/);
    expect(here(workspace).token).toBe(before.token);
  });

  it('and cannot be read outlives its worker: the one that comes after a kill has the last good content and its rules', async () => {
    const workspace = testWorkspace();
    const rules = [{ action: 'deny', tool: 'large', reason: 'Not here.' }];
    const good = { servers: { one: servers.fixture() }, policy: { rules } };
    workspace.configure(good.servers);
    writes(workspace.configFile, good);
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/large');
    // The file as a whole, then the block alone.
    for (const text of ['{ "servers": ', JSON.stringify({ ...good, policy: { rules: 'none' } })]) {
      const before = here(workspace);
      writes(workspace.configFile, text);
      process.kill(before.pid, 'SIGKILL');
      expect((await host.call('tool_browse', { path: '/' })).text).toContain('/one');
      const denied = await host.call('tool_execute', { tool_id: id, args: { lines: 1 } });
      expect(denied.text).toMatch(/^Error POLICY_DENIED.*Not here/);
      expect((await status(workspace)).configuration.problems).toHaveLength(1);
      writes(workspace.configFile, good);
    }
    const kept = join(stateFolder(workspace), 'lastGood.json');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    // What there is no file for is in force for nobody.
    const before = here(workspace);
    rmSync(workspace.configFile);
    await until('another worker', () => !existsSync(kept));
    // Until then it would take its place back.
    await until('the one before to leave', () => !isAlive(before.pid));
    writes(workspace.configFile, '{');
    process.kill(here(workspace).pid, 'SIGKILL');
    expect((await host.call('tool_browse', { path: '/' })).text).not.toContain('/one');
  });

  it('tells that a rollout is pending for as long as the other worker is prepared', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const before = here(workspace);
    workspace.configure({ one: servers.fixture(), slow: servers.fixture('--start-delay', '2500') });
    await until('the word', async () => (await health(workspace)).rollout === 'pending');
    expect(await echo(host, id, 'meanwhile')).toBe('ok\nmeanwhile\n');
    expect(here(workspace).token).toBe(before.token);
    await successor(workspace, before);
    await host.toolId('/slow/echo');
    expect(await health(workspace)).toMatchObject({ rollout: 'stable', generation: 2 });
  });

  it('while another worker is prepared leads to one more, and in a storm not to a storm of workers', async () => {
    const workspace = testWorkspace({ n0: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/n0/echo');
    const seen = new Set<number>();
    for (let n = 1; n <= 60; n++) {
      workspace.configure({ [`n${n}`]: servers.fixture() });
      for (const pid of await workersOf(workspace)) seen.add(pid);
      await sleep(50);
    }
    await host.toolId('/n60/echo');
    expect((await status(workspace)).servers.map(({ name }) => name)).toEqual(['n60']);
    // Some four seconds of it, two of rest behind each.
    const { generation } = await health(workspace);
    expect(generation).toBeGreaterThan(1);
    expect(generation).toBeLessThanOrEqual(6);
    expect(seen.size).toBeLessThanOrEqual(6);
    const last = here(workspace);
    await until('the others to leave', async () => (await workersOf(workspace)).every((pid) => pid === last.pid));
  });
});

describe('a successor that fails', () => {
  it.each([
    ['is killed as it takes over', killedAtTakeover('behind'), /SIGKILL|ended as it took over/],
    ['is killed before it takes over', killedAtTakeover('before'), /ended at its start \(SIGKILL\)/],
    ['cannot write its name', withoutPlace, /cannot write its state folder/],
    ['ends at its start', () => 'process.exit(7);', /ended at its start \(exit code 7\)/],
  ] as const)(
    'because it %s leaves the worker that serves, which says why, and tries again with the next change',
    async (_, worker, reason) => {
      const workspace = testWorkspace();
      const pids = workspace.write('pids.txt', '');
      const flaw = workspace.write('flaw', '');
      workspace.program = otherBuild({ worker: candidatesWhile(flaw, worker) });
      workspace.configure({ one: servers.fixture('--pid-file', pids) });
      const host = await HostProcess.connect(workspace);
      const id = await host.toolId('/one/echo');
      const before = here(workspace);
      workspace.configure({ two: servers.fixture() });
      const { problems, last_fault } = await until('the reason', async () => {
        const now = await health(workspace);
        // For a moment none serves where it was killed as it took over, and health tells that.
        return now.problems.some((problem) => problem.startsWith('What is written now')) && now;
      });
      expect(problems).toEqual([
        expect.stringMatching(/^What is written now is not in force, .*serves on as it was: /),
      ]);
      expect(problems[0]).toMatch(reason);
      expect(last_fault).toMatchObject({ class: 'rollout', code: 'candidate_failed' });
      expect(last_fault?.detail).toMatch(reason);
      await until('its name in the file', () => here(workspace).token === before.token);
      expect((await status(workspace)).configuration.problems).toMatchObject([
        { location: { file: workspace.configFile, line: 1 } },
      ]);
      expect(log(workspace)).toContain('the changed configuration is not in force: ');
      await until('the event', () => eventsOf(workspace, 'rollout.failed').length === 1);
      expect(eventsOf(workspace, 'rollout.failed')[0]?.attributes.reason).toMatch(reason);
      expect(await echo(host, id, 'still here')).toBe('ok\nstill here\n');
      expect(alive(pids)).toHaveLength(1);
      await until('it alone', async () => (await workersOf(workspace)).join() === String(before.pid));
      expect(readdirSync(stateFolder(workspace)).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
      // What was right before is right again as soon as it is written.
      rmSync(flaw);
      workspace.configure({ three: servers.fixture() });
      await host.toolId('/three/echo');
      const after = await health(workspace);
      expect(after).toMatchObject({ generation: expect.any(Number), problems: [], rollout: 'stable' });
      expect(after.last_fault?.code).not.toBe('candidate_failed');
      await until('the one before to leave', () => !isAlive(before.pid));
      expect(host.stderr).toBe('');
    },
  );

  it('is forgotten where the file is put back', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const flaw = workspace.write('flaw', '');
    workspace.program = otherBuild({ worker: candidatesWhile(flaw, () => 'process.exit(7);') });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const before = here(workspace);
    const good = readFileSync(workspace.configFile, 'utf8');
    workspace.configure({ two: servers.fixture() });
    await until('the reason', async () => (await health(workspace)).problems.length > 0);
    writes(workspace.configFile, good);
    await until('its end', async () => (await health(workspace)).problems.length === 0);
    expect((await health(workspace)).last_fault).toBeUndefined();
    expect(here(workspace).token).toBe(before.token);
  });
});
