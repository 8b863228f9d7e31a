import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Rendezvous } from '../../src/link/rendezvous.ts';
import { killedAtWords, otherBuild } from '../support/builds.ts';
import { rendezvous, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, isAlive, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

const here = (workspace: TestWorkspace): Rendezvous => rendezvous(workspace) as Rendezvous;

/** Kills the worker. Only the next worker sees the change. */
async function killed(workspace: TestWorkspace, change = (): void => undefined): Promise<void> {
  const { pid } = here(workspace);
  process.kill(pid, 'SIGSTOP');
  change();
  process.kill(pid, 'SIGKILL');
  await until('another worker', () => rendezvous(workspace)?.pid !== pid);
}

async function reloaded(workspace: TestWorkspace): Promise<void> {
  const { pid } = here(workspace);
  expect(await waygate(workspace, ['reload'])).toMatchObject({ code: 0 });
  await until('the previous worker to exit', () => !isAlive(pid));
}

/** Configures one server with these rate limits. */
function limited(tool_execute: object): TestWorkspace {
  const workspace = testWorkspace({ one: servers.fixture() });
  const config = { servers: { one: servers.fixture() }, rateLimits: { tool_execute } };
  writeFileSync(workspace.configFile, JSON.stringify(config));
  return workspace;
}

const call = async (host: HostProcess, id: string, chat?: string): Promise<string> => {
  const _meta = chat === undefined ? {} : { _meta: { 'vscode.conversationId': chat } };
  const params = { name: 'tool_execute', arguments: { tool_id: id, args: { text: 'x' } }, ..._meta };
  const text = JSON.stringify((await host.request('tools/call', params)).result);
  return /RATE_LIMITED|POLICY_DENIED|\bok\b/.exec(text)?.[0] ?? text;
};

describe('the call count of a session whose worker is killed', () => {
  it('never decreases, however many workers follow', async () => {
    const workspace = limited({ maxCallsPerSession: 4 });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    expect(await call(host, id)).toBe('ok');
    await reloaded(workspace);
    for (let i = 0; i < 3; i++) expect(await call(host, id)).toBe('ok');
    expect(await call(host, id)).toBe('RATE_LIMITED');
    for (let i = 0; i < 2; i++) {
      await killed(workspace);
      expect(await call(host, id)).toBe('RATE_LIMITED');
    }
  });

  it('is kept per chat', async () => {
    const workspace = limited({ maxCallsPerSession: 2 });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    for (const chat of [undefined, 'a', 'a']) expect(await call(host, id, chat)).toBe('ok');
    await killed(workspace);
    expect(await call(host, id, 'a')).toBe('RATE_LIMITED');
    for (const chat of [undefined, 'b', 'b']) expect(await call(host, id, chat)).toBe('ok');
    for (const chat of [undefined, 'b']) expect(await call(host, id, chat)).toBe('RATE_LIMITED');
  });

  it('includes the calls in flight', async () => {
    const workspace = limited({ maxCallsPerSession: 2 });
    const effects = workspace.write('effects.txt', '');
    const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
    const one = servers.fixture('--effects', effects);
    workspace.configure({ one });
    writeFileSync(workspace.configFile, JSON.stringify({ ...config, servers: { one } }));
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const wait = (ms: number) => host.call('tool_execute', { tool_id: id, args: { ms, nonce: `${ms}` } });
    const lost = wait(60_000);
    await until('its effect', () => readFileSync(effects, 'utf8') !== '');
    await killed(workspace);
    expect((await lost).text).toContain('outcome: unknown');
    expect((await wait(1)).isError).toBe(false);
    expect((await wait(2)).text).toMatch(/^Error RATE_LIMITED/);
  });

  it.each<[string, object]>([
    ['during a call that may be repeated', { servers: { one: 'convergent' } }],
    ['before a call that must not be repeated is sent', {}],
  ])('counts each call once and admits an admitted call again: %s', async (_when, replay) => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    const isRepeated = Object.keys(replay).length > 0;
    const one = servers.fixture('--effects', effects, ...(isRepeated ? [] : ['--start-delay', '1500']));
    const config = { servers: { one }, replay, rateLimits: { tool_execute: { maxCallsPerSession: 2 } } };
    writeFileSync(workspace.configFile, JSON.stringify(config));
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    // From now on the worker has a snapshot of its tools: the first call starts the server.
    if (!isRepeated) await killed(workspace);
    await host.toolId('/one/wait');
    const wait = (args: object) => host.call('tool_execute', { tool_id: id, args });
    const call = wait({ until: workspace.gate, nonce: 'a' });
    for (let workers = 1; workers <= 2; workers++) {
      await until('the call', async () => {
        if (isRepeated) return readFileSync(effects, 'utf8') === 'a\n'.repeat(workers);
        const { text } = await host.call('tool_execute', { tool_id: id, args: {}, dry_run: true });
        return text.includes('quota: 1 of 2 left');
      });
      await killed(workspace);
    }
    workspace.letGo();
    expect(await call).toMatchObject({ isError: false, text: 'ok\nwaited until it was let go\n' });
    expect((await wait({ ms: 1 })).isError).toBe(false);
    const refused = await wait({ ms: 2 });
    expect(refused.text).toMatch(/^Error RATE_LIMITED/);
    expect(refused.text).not.toContain('retryable');
  });

  it('includes a call that was waiting for approval, once only', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const config = {
      servers: { one: servers.fixture() },
      rateLimits: { tool_execute: { maxCallsPerSession: 1 } },
      policy: { rules: [{ action: 'require_approval', tool: 'echo' }] },
    };
    writeFileSync(workspace.configFile, JSON.stringify(config));
    const host = await HostProcess.connect(workspace, [], { elicitation: { form: {} } });
    const id = await host.toolId('/one/echo');
    // The first question stays open: the user is asked before the call is counted.
    const answer = call(host, id);
    await until('the question', () => host.asked.length === 1);
    host.answer('elicitation/create', () => ({ action: 'accept', content: { remember: 'session' } }));
    await killed(workspace);
    expect(await answer).toBe('ok');
    expect(host.asked).toHaveLength(2);
    expect(await call(host, id)).toBe('RATE_LIMITED');
  });

  it('ages across workers: after a part of the minute only the rest remains', async () => {
    const workspace = limited({ maxCallsPerMinute: 1 });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    expect(await call(host, id)).toBe('ok');
    const at = performance.now();
    await sleep(1_500);
    await killed(workspace);
    // At least this much of the minute is over when the next worker judges the call.
    const waited = (performance.now() - at) / 1_000;
    const { text } = await host.call('tool_execute', { tool_id: id, args: { text: 'x' } });
    const wait = Number(/Call again in (\d+) s/.exec(text)?.[1]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(Math.ceil(60 - waited + 0.2));
  });
});

it('an approval for the session is kept when the worker is killed', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const policy = { rules: [{ action: 'require_approval', tool: 'echo' }] };
  writeFileSync(workspace.configFile, JSON.stringify({ servers: { one: servers.fixture() }, policy }));
  const host = await HostProcess.connect(workspace, [], { elicitation: { form: {} } });
  host.answer('elicitation/create', () => ({ action: 'accept', content: { remember: 'session' } }));
  const id = await host.toolId('/one/echo');
  expect(await call(host, id)).toBe('ok');
  await killed(workspace);
  expect(await call(host, id)).toBe('ok');
  expect(host.asked).toHaveLength(1);
});

it('a client cannot reset its own call count', async () => {
  const workspace = limited({ maxCallsPerSession: 1 });
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/echo');
  expect(await call(host, id)).toBe('ok');
  const quota = { tool_execute: { recent: [], total: 0 } };
  host.notify('notifications/waygate/kept', { kept: [['session', { quota }, 0]] });
  expect(await call(host, id)).toBe('RATE_LIMITED');
});

describe('the lists of a client whose worker is killed', () => {
  const ALL = ['tools/list', 'resources/list', 'prompts/list'];
  const news = ['prompts', 'resources', 'tools'].map((kind) => `notifications/${kind}/list_changed`);
  const two = () => ({ one: servers.primitives(), two: servers.fixture() });
  /**
   * Returns the methods of the notifications since the last time. A worker answers this call, known or not, when it
   * knows its servers, and compares the lists before.
   */
  const heard = async (host: HostProcess): Promise<string[]> => {
    await host.request('tools/call', { name: 'tool_browse', arguments: { path: '/' } });
    return host.notifications.splice(0).map(({ method }) => method as string);
  };
  const lists = (host: StreamClient) =>
    Promise.all(ALL.map(async (method) => JSON.stringify((await host.request(method)).result)));

  /** Lists once and ends the gateway: the next one knows the servers and has nothing to announce at its start. */
  async function known(): Promise<TestWorkspace> {
    const workspace = testWorkspace(two());
    const first = await GatewaySession.connect(workspace);
    await first.toolId('/two/echo');
    await until('its resources', async () => (await lists(first))[1]?.includes('readme.md'));
    await until('its prompts', async () => (await lists(first))[2]?.includes('greet'));
    await stopGateway(workspace);
    first.end();
    await first.ended;
    return workspace;
  }

  async function listing(args: readonly string[] = []) {
    const workspace = await known();
    const host = await HostProcess.connect(workspace, args);
    await lists(host);
    expect(await heard(host)).toEqual([]);
    return { workspace, host };
  }

  it.each([[[]], [['--mode', 'passthrough']]])(
    'are compared with the new ones, and the client is notified of changes: %j',
    async (args) => {
      const { workspace, host } = await listing(args);
      await killed(workspace);
      expect(await heard(host)).toEqual([]);
      await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
      await until('the notifications', () => host.notifications.length >= 3);
      expect((await heard(host)).sort()).toEqual(news);
    },
  );

  it('are those that it requested last: a change and its reversal are one change each', async () => {
    const { workspace, host } = await listing();
    await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
    await until('the notifications', () => host.notifications.length >= 3);
    await heard(host);
    expect((await lists(host))[1]).not.toContain('readme.md');
    await killed(workspace, () => workspace.configure(two()));
    await until('the notifications', () => host.notifications.length >= 3);
    expect(new Set(await heard(host))).toEqual(new Set(news));
    expect((await lists(host))[1]).toContain('readme.md');
  });

  it('are those that it requested last, from a worker that took over or one that followed a kill', async () => {
    const { workspace, host } = await listing();
    workspace.configure({ ...two(), one: { ...servers.primitives(), disabled: true } });
    await reloaded(workspace);
    await until('the notifications', () => host.notifications.length >= 3);
    await heard(host);
    await lists(host);
    await killed(workspace, () => workspace.configure(two()));
    await until('the notifications', () => host.notifications.length >= 3);
    expect(new Set(await heard(host))).toEqual(new Set(news));
  });

  it('include an answer that was sent just before the kill', async () => {
    const workspace = testWorkspace({ two: servers.fixture() });
    const flag = join(temporaryFolder('wg-flag-'), 'flag');
    workspace.program = otherBuild({ worker: killedAtWords('behind', '"resource_browse"', flag) });
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    workspace.configure(two());
    await until('the notification', () => host.notifications.length > 0);
    const { pid } = here(workspace);
    writeFileSync(flag, '');
    const { result } = await host.request('tools/list');
    host.notifications.length = 0;
    expect(JSON.stringify(result)).toContain('resource_browse');
    await until('another worker', () => !existsSync(flag) && rendezvous(workspace)?.pid !== pid);
    // A notification about that list would come before this answer.
    await host.request('prompts/list');
    expect(host.notifications).toEqual([]);
  });

  it('are the only ones that it is notified about', async () => {
    const workspace = await known();
    const host = await HostProcess.connect(workspace);
    await host.request('resources/list');
    await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
    await until('the notification', () => host.notifications.length > 0);
    expect(await heard(host)).toEqual(['notifications/resources/list_changed']);
  });
});
