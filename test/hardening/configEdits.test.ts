import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import type { Rendezvous } from '../../src/link/rendezvous.ts';
import { rendezvous, stateFolder, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';
import { servers, type TestWorkspace, testWorkspace, WORKER } from '../support/workspace.ts';

/** Scale of the long tests; `npm run test:full` has 21 edits in 35 s and a call of 25 s. */
const EDITS = Number(process.env.WAYGATE_EDITS ?? 6);
const EDIT_SECONDS = Number(process.env.WAYGATE_EDIT_SECONDS ?? 5);
const LONG_CALL_MS = Number(process.env.WAYGATE_LONG_CALL_MS ?? 0);
const SEED = Number(process.env.WAYGATE_EDIT_SEED ?? Date.now() % 2 ** 31);
const CALLERS = 8;
const BROKEN_SHARE = 0.15;

const here = (workspace: TestWorkspace): Rendezvous => rendezvous(workspace) as Rendezvous;
const writes = (file: string, config: object | string): void =>
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config));
const log = (workspace: TestWorkspace): string => readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
const applied = (workspace: TestWorkspace): number =>
  log(workspace).split('the edited configuration is in force').length - 1;
/** Attaches to the gateway of a workspace as an editor does. */
async function attached({ folder, stateDir, env }: TestWorkspace) {
  const runtime = { workspace: folder, nodePath: process.execPath, workerScript: WORKER };
  const control = await attachControl({ ...runtime, stateDir, env }, { start: false, holds: false });
  if (!control) throw new Error('There is no gateway.');
  return control;
}
/** Writes the configuration and makes the worker apply it now, unless its file watch was faster. */
async function edits(workspace: TestWorkspace, change: () => void): Promise<void> {
  const control = await attached(workspace);
  change();
  await control.request('recheck', {});
  control.dispose();
}
const pidOf = async (workspace: TestWorkspace, server: string): Promise<number | undefined> =>
  (await status(workspace)).servers.find(({ name }) => name === server)?.pid;
const problems = async (workspace: TestWorkspace): Promise<string[]> =>
  (await status(workspace)).configuration.problems.map(({ message }) => message);
/** Runs until the workspace opens its gate. */
const held = ({ gate }: TestWorkspace, host: HostProcess, id: string, nonce: string) =>
  host.call('tool_execute', { tool_id: id, args: { until: gate, nonce } });
const LET_GO = { isError: false, text: 'ok\nwaited until it was let go\n' };
const execute = (host: HostProcess, id: string, args: object = {}) =>
  host.call('tool_execute', { tool_id: id, args }).then(({ text }) => text);
const notified = (host: HostProcess): string[] => host.notifications.map(({ method }) => method as string);

/** Configures three servers that record the effects of their calls. */
function three() {
  const workspace = testWorkspace();
  const effects = workspace.write('effects.txt', '');
  const one = (...flags: string[]) => servers.fixture('--effects', effects, ...flags);
  workspace.configure({ same: one(), changed: one('--name-suffix', '_a'), gone: one() });
  return { workspace, effects, one };
}

describe('an edit of the configuration', () => {
  it('keeps the process and the memory of an unchanged server, 20 times', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    const keeps = { ...servers.fixture('--pid-file', pids, '--counts'), keepAlive: true };
    const configure = (other: object, more: object): void => {
      workspace.configure({ keeps, other: { ...servers.fixture(), ...other } });
      const { servers: entries } = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
      writes(workspace.configFile, { servers: entries, ...more });
    };
    configure({}, {});
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/keeps/count');
    const worker = here(workspace);
    expect(await execute(host, id)).toBe('ok\n1\n');
    for (let n = 1; n <= 20; n++) {
      const env = n % 4 === 0 ? { env: { N: String(n) } } : {};
      const more = { idleMinutes: 10 + n, timeouts: { default: 60 + n } };
      await edits(workspace, () => configure(env, n % 4 === 1 ? { ...more, browse: { topK: 1 + n } } : more));
      expect(await execute(host, id)).toBe(`ok\n${n + 1}\n`);
    }
    expect(pidsIn(pids)).toHaveLength(1);
    expect(await pidOf(workspace, 'keeps')).toBe(pidsIn(pids)[0]);
    expect(here(workspace).token).toBe(worker.token);
    expect(await workersOf(workspace)).toEqual([worker.pid]);
  });

  it('does not interrupt a long call: not when a server changes, not when one is removed, not when the file is broken', async () => {
    const { workspace, effects, one } = three();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/same/wait');
    await host.toolId('/gone/wait');
    const call = execute(host, id, { ms: LONG_CALL_MS, until: workspace.gate, nonce: 'long' });
    await until('its effect', () => linesOf(effects).includes('long'));
    await edits(workspace, () =>
      workspace.configure({ same: one(), changed: one('--name-suffix', '_b'), gone: one() }),
    );
    await edits(workspace, () => workspace.configure({ same: one(), changed: one('--name-suffix', '_b') }));
    const good = readFileSync(workspace.configFile, 'utf8');
    writes(workspace.configFile, good.slice(0, -9));
    await until('the problem', async () => (await problems(workspace)).some((line) => line.includes('not JSON')));
    workspace.letGo();
    expect(await call).toBe(LET_GO.text);
    expect(linesOf(effects)).toEqual(['long']);
  });

  it('lets all calls finish: an unchanged server is kept, a changed one restarts after its calls, a removed one ends after its own', async () => {
    const { workspace, effects, one } = three();
    const host = await HostProcess.connect(workspace);
    const ids = await Promise.all(['/same/wait', '/changed/wait_a', '/gone/wait'].map((path) => host.toolId(path)));
    const before = (await status(workspace)).servers.map(({ pid }) => pid as number);
    const calls = ids.map((id, i) => held(workspace, host, id, `n${i}`));
    await until('the effects', () => linesOf(effects).length === 3);
    const worker = here(workspace);
    await edits(workspace, () =>
      workspace.configure({ same: one(), changed: one('--name-suffix', '_b'), comes: one() }),
    );
    // While the calls run, new servers serve and removed ones are not shown.
    expect(await execute(host, await host.toolId('/comes/echo'), { text: 'new' })).toBe('ok\nnew\n');
    expect((await host.call('tool_browse', { path: '/gone' })).text).toMatch(/^Error PATH_NOT_FOUND/);
    expect((await host.call('tool_execute', { tool_id: ids[2], args: {} })).isError).toBe(true);
    const changed = (await status(workspace)).servers.find(({ name }) => name === 'changed');
    expect(changed).toMatchObject({ state: 'starting', reason: expect.stringContaining('after its current calls') });
    // The old tools are shown until the changed server has listed its own.
    const waiting = execute(host, await host.toolId('/changed/echo_a'), { text: 'queued' });
    expect(before.every(isAlive)).toBe(true);
    workspace.letGo();
    for (const call of calls) expect(await call).toMatchObject(LET_GO);
    expect(await waiting).toMatch(/^Error POLICY_DENIED: \S+ may not be used: its server no longer lists it\. Browse/);
    expect(await execute(host, await host.toolId('/changed/echo_b'), { text: 'other' })).toBe('ok\nother\n');
    await until('the ends', () => before.map(isAlive).join() === 'true,false,false');
    expect(await pidOf(workspace, 'same')).toBe(before[0]);
    expect(linesOf(effects).sort()).toEqual(['n0', 'n1', 'n2']);
    expect(here(workspace).token).toBe(worker.token);
    expect(host.stderr).toBe('');
  });

  it('gives a call to a removed server its normal deadline, then ends the server', async () => {
    const workspace = testWorkspace();
    const write = (entries: object): void => {
      workspace.configure(entries as Record<string, unknown>);
      writes(workspace.configFile, { servers: entries, timeouts: { default: 3 } });
    };
    write({ gone: servers.fixture(), stays: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/gone/wait');
    const pid = (await pidOf(workspace, 'gone')) as number;
    const call = held(workspace, host, id, 'never');
    await edits(workspace, () => write({ stays: servers.fixture() }));
    expect(isAlive(pid)).toBe(true);
    expect((await call).text).toMatch(/^Error UPSTREAM_TIMEOUT/);
    await until('its end', () => !isAlive(pid));
  });

  it('applies added rules, removed rules, limits and masking to the next call', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const text = 'key AKIAIOSFODNN7EXAMPLE';
    const call = () => execute(host, id, { text });
    const policy = (action: string): object => ({ policy: { rules: [{ action, tool: 'echo', reason: 'Not here.' }] } });
    expect(await call()).toBe(`ok\n${text}\n`);
    const pid = await pidOf(workspace, 'one');
    for (const [more, answer] of [
      [policy('deny'), /^Error POLICY_DENIED.*Not here/],
      [policy('allow'), `ok\n${text}\n`],
      [policy('require_approval'), /^Error AUTH_REQUIRED/],
      [{ artifacts: { maskSecrets: 'always' } }, /REDACTED/],
      [{ rateLimits: { tool_execute: { maxCallsPerSession: 1 } } }, /^ok/],
      [{ rateLimits: { tool_execute: { maxCallsPerSession: 1 } }, idleMinutes: 7 }, /^Error RATE_LIMITED/],
      [{ rateLimits: { tool_execute: { maxCallsPerSession: 2 } } }, /^ok/],
      [{}, `ok\n${text}\n`],
    ] as const) {
      await edits(workspace, () => writes(workspace.configFile, { servers: { one: servers.fixture() }, ...more }));
      const answered = await call();
      if (typeof answer === 'string') expect(answered).toBe(answer);
      else expect(answered, JSON.stringify(more)).toMatch(answer);
    }
    expect(await pidOf(workspace, 'one')).toBe(pid);
  });

  it('of a tool filter restarts nothing and notifies only the sessions that list tools', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const [gateway, listing] = [
      await HostProcess.connect(workspace),
      await HostProcess.connect(workspace, ['--mode', 'transparent']),
    ];
    await gateway.toolId('/one/picture');
    const names = async () => JSON.stringify((await listing.request('tools/list')).result);
    await until('the tools', async () => (await names()).includes('picture'));
    await sleep(1_200);
    listing.notifications.length = 0;
    gateway.notifications.length = 0;
    const pid = await pidOf(workspace, 'one');
    // Settings that change no list notify no session.
    await edits(workspace, () => writes(workspace.configFile, { servers: { one: servers.fixture() }, idleMinutes: 7 }));
    expect(notified(listing)).toEqual([]);
    const filtered = { ...servers.fixture(), tools: { exclude: ['picture'] } };
    await edits(workspace, () => workspace.configure({ one: filtered }));
    await until('the notification', () => notified(listing).length > 0);
    expect(notified(listing)).toEqual(['notifications/tools/list_changed']);
    expect(await names()).not.toContain('picture');
    expect(notified(gateway)).toEqual([]);
    expect(await pidOf(workspace, 'one')).toBe(pid);
  });

  it('of `passthrough.firewall` notifies the sessions in passthrough mode, whose list it changes', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const [gateway, passthrough] = [
      await HostProcess.connect(workspace),
      await HostProcess.connect(workspace, ['--mode', 'passthrough']),
    ];
    const hasView = async () => JSON.stringify((await passthrough.request('tools/list')).result).includes('tool_view');
    expect(await hasView()).toBe(false);
    // Notifications of the start.
    await sleep(1_200);
    for (const firewall of [true, false]) {
      for (const host of [gateway, passthrough]) host.notifications.length = 0;
      await edits(workspace, () =>
        writes(workspace.configFile, { servers: { one: servers.fixture() }, passthrough: { firewall } }),
      );
      await until('the notification', () => notified(passthrough).length > 0);
      expect(notified(passthrough)).toEqual(['notifications/tools/list_changed']);
      expect(await hasView()).toBe(firewall);
      expect(notified(gateway)).toEqual([]);
    }
  });

  it('that adds a second server announces the prompts that it renames in passthrough mode', async () => {
    const workspace = testWorkspace({ one: servers.primitives() });
    const host = await HostProcess.connect(workspace, ['--mode', 'passthrough']);
    const prompts = async () => JSON.stringify((await host.request('prompts/list')).result);
    const before = await until('the prompts', async () => {
      const listed = await prompts();
      return listed.includes('"name"') && listed;
    });
    await sleep(1_200);
    host.notifications.length = 0;
    await edits(workspace, () => workspace.configure({ one: servers.primitives(), two: servers.fixture() }));
    await until('the notification', () => notified(host).includes('notifications/prompts/list_changed'));
    expect(await prompts()).not.toBe(before);
  });

  it.each(['gateway', 'passthrough'])('of a server renews the subscriptions to its resources (%s)', async (mode) => {
    const workspace = testWorkspace();
    const lines = workspace.write('log.txt', '');
    const one = (n: string) => ({ one: { ...servers.primitives('--log', lines), env: { N: n } } });
    workspace.configure(one('1'));
    const host = await HostProcess.connect(workspace, ['--mode', mode]);
    const uri = 'file:///shared/readme.md';
    await until('its resources', async () =>
      JSON.stringify((await host.request('resources/list')).result).includes(uri),
    );
    expect((await host.request('resources/subscribe', { uri })).error).toBeUndefined();
    const subscribed = (): number => linesOf(lines).filter((line) => line.includes('resources/subscribe')).length;
    expect(subscribed()).toBe(1);
    await edits(workspace, () => workspace.configure(one('2')));
    await until('the changed server to hear of it', () => subscribed() === 2);
  });

  it('of `mode` does not change existing sessions', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    await edits(workspace, () =>
      writes(workspace.configFile, { servers: { one: servers.fixture() }, mode: 'passthrough' }),
    );
    expect(await execute(host, id, { text: 'x' })).toBe('ok\nx\n');
    const next = await HostProcess.connect(workspace);
    const { result } = await next.request('tools/list');
    expect(JSON.stringify(result)).toContain('"echo"');
    expect((await status(workspace)).sessions.map(({ mode }) => mode).sort()).toEqual(['gateway', 'passthrough']);
  });

  it('of the user’s file, of a `--config` file and of a static catalog is applied in the same way', async () => {
    const workspace = testWorkspace({ theirs: servers.fixture() });
    writes(workspace.userConfigFile, { servers: { mine: servers.fixture() } });
    const given = workspace.write('given.json', JSON.stringify({ servers: { given: servers.fixture() } }));
    const catalogOf = (name: string) => ({ tools: [{ name, inputSchema: { type: 'object' }, result: name }] });
    const catalog = workspace.write('catalog.json', JSON.stringify(catalogOf('weather.first')));
    const [host, byHand, fixed] = (await Promise.all(
      [[], ['--config', given], ['--catalog', catalog]].map((args) => HostProcess.connect(workspace, args)),
    )) as [HostProcess, HostProcess, HostProcess];
    await Promise.all([host.toolId('/mine/echo'), byHand.toolId('/given/echo'), fixed.toolId('/weather/first')]);
    const workers = (await workersOf(workspace)).sort();
    expect(workers).toHaveLength(3);
    writes(workspace.userConfigFile, { servers: { mine2: servers.fixture() } });
    writes(given, { servers: { later: servers.fixture() } });
    writes(catalog, catalogOf('weather.second'));
    await Promise.all([host.toolId('/mine2/echo'), byHand.toolId('/later/echo'), fixed.toolId('/weather/second')]);
    expect((await workersOf(workspace)).sort()).toEqual(workers);
  });

  it('of a server from the workspace file revokes the approval and needs a new one', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const pid = (await pidOf(workspace, 'one')) as number;
    await edits(workspace, () =>
      writes(workspace.configFile, { servers: { one: servers.fixture('--name-suffix', '_evil') } }),
    );
    expect(await execute(host, id, { text: 'x' })).toMatch(/^Error .*approve/s);
    await until('its end', () => !isAlive(pid));
    expect((await status(workspace)).servers).toMatchObject([{ name: 'one', state: 'needs_approval' }]);
    workspace.approve();
    await host.toolId('/one/echo_evil');
  });

  it('of a file of variables restarts only the server that uses it, and mends one that missed it', async () => {
    const workspace = testWorkspace();
    const envFile = join(workspace.folder, 'uses.env');
    writes(workspace.userConfigFile, {
      servers: { uses: { ...servers.fixture('--wild'), envFile }, other: servers.fixture() },
    });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/other/echo');
    const other = await pidOf(workspace, 'other');
    expect(await problems(workspace)).toEqual([expect.stringContaining('uses.env cannot be read (ENOENT)')]);
    const shows = async (value: string): Promise<boolean> => {
      const id = await host.toolId('/uses/environment');
      return (await execute(host, id, { names: ['A'] })).includes(`"A":"${value}"`);
    };
    for (const value of ['first', 'second']) {
      writeFileSync(envFile, `A=${value}`);
      await until(`the ${value} value`, () => shows(value).catch(() => false));
    }
    expect(await problems(workspace)).toEqual([]);
    expect(await pidOf(workspace, 'other')).toBe(other);
  });

  it('with a typo in an entry keeps its server running, and reports the typo', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const pid = await pidOf(workspace, 'one');
    await edits(workspace, () =>
      writes(workspace.configFile, { servers: { one: { ...servers.fixture(), arg: 'x' } } }),
    );
    expect(await problems(workspace)).toEqual([
      expect.stringMatching(/"servers\.one\.arg".*this entry stays in force/),
    ]);
    expect(await execute(host, id, { text: 'x' })).toBe('ok\nx\n');
    expect(await pidOf(workspace, 'one')).toBe(pid);
  });

  it('with a broken new entry renames no tool in passthrough mode', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    writes(workspace.configFile, { servers: { one: servers.fixture(), two: { command: 5 } } });
    const host = await HostProcess.connect(workspace, ['--mode', 'passthrough']);
    const { result } = await host.request('tools/list');
    expect((result as { tools: { name: string }[] }).tools.map(({ name }) => name)).toContain('echo');
    expect((await host.call('echo', { text: 'x' })).text).toBe('x');
  });

  it('that cannot be kept for the next worker is applied and logged', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const kept = join(stateFolder(workspace), 'lastWorker.json');
    rmSync(kept);
    // No program replaces a folder with a file.
    mkdirSync(kept);
    await edits(workspace, () => workspace.configure({ two: servers.fixture() }));
    await host.toolId('/two/echo');
    expect(log(workspace)).toMatch(/the next worker will not know the last readable configuration: /);
  });

  it('is in force when a refresh is answered while an editor is attached', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    await HostProcess.connect(workspace);
    const control = await until('the gateway', () => attached(workspace).catch(() => undefined));
    await control.request('watch', {});
    workspace.configure({ two: servers.fixture() });
    expect((await control.request('refresh', {})).servers.map(({ name }) => name)).toEqual(['two']);
    control.dispose();
  });

  it(
    `loses nothing ${EDITS} times in ${EDIT_SECONDS} s under ${CALLERS} callers (seed ${SEED})`,
    async () => {
      const random = new PseudoRandom(SEED);
      const workspace = testWorkspace();
      const pids = workspace.write('pids.txt', '');
      const stays = servers.fixture('--pid-file', pids);
      const entries = (n: number) => ({
        stays,
        changes: { ...servers.fixture(), env: { N: String(n) } },
        [`comes${n}`]: servers.fixture(),
      });
      workspace.configure(entries(0));
      const hosts = await Promise.all(Array.from({ length: CALLERS }, () => HostProcess.connect(workspace)));
      const ids = await Promise.all(
        ['/stays/echo', '/changes/echo'].map((path) => (hosts[0] as HostProcess).toolId(path)),
      );
      const worker = here(workspace);
      let over = false;
      let calls = 0;
      const lost: string[] = [];
      const callers = hosts.map(async (host, i) => {
        for (let n = 0; !over; n++) {
          const id = ids[(i + n) % 2] as string;
          const answer = await execute(host, id, { text: `${i}-${n}` });
          calls += 1;
          if (answer !== `ok\n${i}-${n}\n`) lost.push(`${id}: ${answer}`);
        }
      });
      let last = 0;
      for (let n = 1; n <= EDITS; n++) {
        await sleep((EDIT_SECONDS * 1_000) / EDITS);
        // The last edit is valid, so that the test can wait for its server.
        if (n < EDITS && random.next() < BROKEN_SHARE)
          writes(workspace.configFile, JSON.stringify({ servers: entries(n) }).slice(0, -7));
        else {
          workspace.configure(entries(n));
          last = n;
        }
      }
      await (hosts[0] as HostProcess).toolId(`/comes${last}/echo`);
      over = true;
      await Promise.all(callers);
      expect(lost).toEqual([]);
      expect(calls).toBeGreaterThan(CALLERS * EDITS);
      expect(pidsIn(pids)).toHaveLength(1);
      expect(here(workspace).token).toBe(worker.token);
      expect(await workersOf(workspace)).toEqual([worker.pid]);
      expect((await status(workspace)).servers.map(({ name }) => name)).toEqual(['stays', 'changes', `comes${last}`]);
    },
    60_000 + EDIT_SECONDS * 3_000,
  );
});

describe('a file of approvals that cannot be read', () => {
  it('approves nothing, and is reported until it is mended', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const file = join(workspace.stateDir, 'approvals.json');
    writes(file, '{"cut');
    const message = 'The approvals cannot be read (it is not JSON), so none counts.';
    await until('the problem', async () => (await problems(workspace)).some((line) => line.startsWith(message)));
    expect((await status(workspace)).servers).toMatchObject([{ state: 'needs_approval' }]);
    // A second damage of the same kind is no news.
    writes(file, '{"cut again');
    rmSync(file);
    workspace.approve();
    await until('the approval', async () => (await problems(workspace)).length === 0);
    await host.toolId('/one/echo');
    expect(log(workspace).split(message).length - 1).toBe(1);
  });
});

describe('a saved file', () => {
  it('with the same meaning changes only the reported positions', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const good = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: object };
    writes(workspace.configFile, JSON.stringify({ ...good, idleMinuts: 3 }));
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const line = async () => (await status(workspace)).configuration.problems.map(({ location }) => location.line);
    expect(await line()).toEqual([1]);
    writes(workspace.configFile, `// Mine.\n\n{ "idleMinuts": 4,\n ${JSON.stringify(good).slice(1)}`);
    await until('the new place', async () => (await line())[0] === 3);
    expect(applied(workspace)).toBe(0);
    expect((await status(workspace)).servers[0]?.location?.line).toBe(4);
  });

  it('is applied although another file is broken, whose last good content and rules stay in force', async () => {
    const workspace = testWorkspace();
    const rules = [{ action: 'deny', tool: 'large', reason: 'Not here.' }];
    const mine = { mine: servers.fixture() };
    writes(workspace.userConfigFile, { servers: mine, policy: { rules } });
    workspace.configure({ theirs: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/mine/large');
    const denied = () => execute(host, id, { lines: 1 });
    expect(await denied()).toMatch(/^Error POLICY_DENIED/);
    // The whole file, then the block alone.
    for (const [n, text] of ['{ "servers": ', JSON.stringify({ servers: mine, policy: { rules: 'none' } })].entries()) {
      if (n === 1) writes(workspace.userConfigFile, { servers: mine, policy: { rules } });
      writes(workspace.userConfigFile, text);
      workspace.configure({ theirs: servers.fixture(), [`new${n}`]: servers.fixture() });
      await host.toolId(`/new${n}/echo`);
      await until('the problem', async () => (await problems(workspace)).length === 1);
      expect(await denied()).toMatch(/^Error POLICY_DENIED.*Not here/);
      const { configuration } = await status(workspace);
      expect(configuration.problems.map(({ location }) => location.file)).toEqual([workspace.userConfigFile]);
    }
  });

  it('that is broken leaves the last good content in force, even after a kill and a reload', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const rules = [{ action: 'deny', tool: 'large', reason: 'Not here.' }];
    const good = { servers: { one: servers.fixture() }, policy: { rules } };
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/large');
    // Written while the worker runs, so that the worker stores it.
    await edits(workspace, () => writes(workspace.configFile, good));
    const kept = join(stateFolder(workspace), 'lastWorker.json');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    // The whole file, then the block alone.
    for (const text of ['{ "servers": ', JSON.stringify({ ...good, policy: { rules: 'none' } })]) {
      writes(workspace.configFile, text);
      process.kill(here(workspace).pid, 'SIGKILL');
      for (const reload of [false, true]) {
        if (reload) expect((await waygate(workspace, ['reload'])).code).toBe(0);
        expect((await host.call('tool_browse', { path: '/' })).text).toContain('/one');
        expect(await execute(host, id, { lines: 1 })).toMatch(/^Error POLICY_DENIED.*Not here/);
        expect(await problems(workspace)).toHaveLength(1);
      }
      writes(workspace.configFile, good);
    }
    // Removing the file drops its stored content.
    await until('the good file', async () => (await problems(workspace)).length === 0);
    await edits(workspace, () => rmSync(workspace.configFile));
    writes(workspace.configFile, '{');
    process.kill(here(workspace).pid, 'SIGKILL');
    expect((await host.call('tool_browse', { path: '/' })).text).not.toContain('/one');
  });
});
