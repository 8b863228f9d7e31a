import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Rendezvous } from '../../src/link/rendezvous.ts';
import { killedAtWords, otherBuild } from '../support/builds.ts';
import { rendezvous, waygate } from '../support/census.ts';
import { HostProcess, isAlive, until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

const here = (workspace: TestWorkspace): Rendezvous => rendezvous(workspace) as Rendezvous;

/** Kills the worker; what is changed meanwhile it does not see, only the next one. */
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
  await until('the one before to leave', () => !isAlive(pid));
}

/** One server, which the configuration lets be called so often. */
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

describe('how often a session has called, when its worker is killed', () => {
  it('is no less than it was, however many workers ago', async () => {
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

  it('is counted chat by chat', async () => {
    const workspace = limited({ maxCallsPerSession: 2 });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    for (const chat of [undefined, 'a', 'a']) expect(await call(host, id, chat)).toBe('ok');
    await killed(workspace);
    expect(await call(host, id, 'a')).toBe('RATE_LIMITED');
    for (const chat of [undefined, 'b', 'b']) expect(await call(host, id, chat)).toBe('ok');
    for (const chat of [undefined, 'b']) expect(await call(host, id, chat)).toBe('RATE_LIMITED');
  });

  it('has the calls among it that were under way', async () => {
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
    ['in the middle of a call that may be repeated', { servers: { one: 'convergent' } }],
    ['before a call was sent that may not', {}],
  ])('has each call once, and lets in again what it has let in: %s', async (_when, replay) => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    const isRepeated = Object.keys(replay).length > 0;
    const one = servers.fixture('--effects', effects, ...(isRepeated ? [] : ['--start-delay', '1500']));
    const config = { servers: { one }, replay, rateLimits: { tool_execute: { maxCallsPerSession: 2 } } };
    writeFileSync(workspace.configFile, JSON.stringify(config));
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    // Known by its snapshot from now on: the first call starts it.
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

  it('has a call that was not counted yet, once', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const config = {
      servers: { one: servers.fixture() },
      rateLimits: { tool_execute: { maxCallsPerSession: 1 } },
      policy: { rules: [{ action: 'require_approval', tool: 'echo' }] },
    };
    writeFileSync(workspace.configFile, JSON.stringify(config));
    const host = await HostProcess.connect(workspace, [], { elicitation: { form: {} } });
    const id = await host.toolId('/one/echo');
    // The first question is left open: it is asked before anything is counted.
    const answer = call(host, id);
    await until('the question', () => host.asked.length === 1);
    host.answer('elicitation/create', () => ({ action: 'accept', content: { remember: 'session' } }));
    await killed(workspace);
    expect(await answer).toBe('ok');
    expect(host.asked).toHaveLength(2);
    expect(await call(host, id)).toBe('RATE_LIMITED');
  });

  it('ages meanwhile: who has waited a part of the minute waits for the rest of it', async () => {
    const workspace = limited({ maxCallsPerMinute: 1 });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    expect(await call(host, id)).toBe('ok');
    const at = performance.now();
    await sleep(4_000);
    await killed(workspace);
    // At least so much of it is over when the call is judged, however long that takes to be told.
    const waited = (performance.now() - at) / 1_000;
    const { text } = await host.call('tool_execute', { tool_id: id, args: { text: 'x' } });
    const wait = Number(/Call again in (\d+) s/.exec(text)?.[1]);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(Math.ceil(60 - waited) + 1);
  });

  it('and what was allowed for it is allowed still', async () => {
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
});

it('nothing that a client says of its own session is believed', async () => {
  const workspace = limited({ maxCallsPerSession: 1 });
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/echo');
  expect(await call(host, id)).toBe('ok');
  const quota = { tool_execute: { recent: [], total: 0 } };
  host.notify('notifications/waygate/kept', { kept: [['session', { quota }, 0]] });
  expect(await call(host, id)).toBe('RATE_LIMITED');
});

describe('what a client has listed, when its worker is killed', () => {
  const ALL = ['tools/list', 'resources/list', 'prompts/list'];
  const news = ['prompts', 'resources', 'tools'].map((kind) => `notifications/${kind}/list_changed`);
  const two = () => ({ one: servers.primitives(), two: servers.fixture() });
  /** As long as news could take; what came is told. */
  const heard = async (host: HostProcess): Promise<string[]> => {
    await sleep(1_500);
    return host.notifications.splice(0).map(({ method }) => method as string);
  };
  const lists = (host: HostProcess) =>
    Promise.all(ALL.map(async (method) => JSON.stringify((await host.request(method)).result)));

  async function listing(args: readonly string[] = []) {
    const workspace = testWorkspace(two());
    const host = await HostProcess.connect(workspace, args);
    await until('its resources', async () => (await lists(host))[1]?.includes('readme.md'));
    await heard(host);
    await lists(host);
    return { workspace, host };
  }

  it.each([[[]], [['--mode', 'passthrough']]])(
    'is compared, and the client told of what has changed: %j',
    async (args) => {
      const { workspace, host } = await listing(args);
      await killed(workspace);
      expect(await heard(host)).toEqual([]);
      await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
      await until('the word', () => host.notifications.length >= 3);
      expect((await heard(host)).sort()).toEqual(news);
    },
  );

  it('is what it has listed last: there and back again is a change each time', async () => {
    const { workspace, host } = await listing();
    await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
    await until('the word', () => host.notifications.length >= 3);
    await heard(host);
    expect((await lists(host))[1]).not.toContain('readme.md');
    await killed(workspace, () => workspace.configure(two()));
    await until('the word', () => host.notifications.length >= 3);
    expect(new Set(await heard(host))).toEqual(new Set(news));
    expect((await lists(host))[1]).toContain('readme.md');
  });

  it('is what it has listed last, by whichever worker: one that took over, one that came after a kill', async () => {
    const { workspace, host } = await listing();
    workspace.configure({ ...two(), one: { ...servers.primitives(), disabled: true } });
    await reloaded(workspace);
    await until('the word', () => host.notifications.length >= 3);
    await heard(host);
    await lists(host);
    await killed(workspace, () => workspace.configure(two()));
    await until('the word', () => host.notifications.length >= 3);
    expect(new Set(await heard(host))).toEqual(new Set(news));
  });

  it('is what has reached it, however soon behind the answer its worker is killed', async () => {
    const workspace = testWorkspace({ two: servers.fixture() });
    const flag = join(temporaryFolder('wg-flag-'), 'flag');
    workspace.program = otherBuild({ worker: killedAtWords('behind', '"resource_browse"', flag) });
    const host = await HostProcess.connect(workspace);
    await host.request('tools/list');
    workspace.configure(two());
    await until('the word', () => host.notifications.length > 0);
    const { pid } = here(workspace);
    writeFileSync(flag, '');
    const { result } = await host.request('tools/list');
    host.notifications.length = 0;
    expect(JSON.stringify(result)).toContain('resource_browse');
    await until('another worker', () => !existsSync(flag) && rendezvous(workspace)?.pid !== pid);
    // What it has to tell of that list it tells first.
    await host.request('prompts/list');
    expect(host.notifications).toEqual([]);
  });

  it('is all that it is told of', async () => {
    const workspace = testWorkspace(two());
    const host = await HostProcess.connect(workspace);
    await until('its resources', async () =>
      JSON.stringify((await host.request('resources/list')).result).includes('readme.md'),
    );
    await heard(host);
    await host.request('resources/list');
    await killed(workspace, () => workspace.configure({ two: servers.fixture() }));
    await until('the word', () => host.notifications.length > 0);
    expect(await heard(host)).toEqual(['notifications/resources/list_changed']);
  });
});
