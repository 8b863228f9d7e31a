import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PinBook, readBook, type ServerPins, writeBook } from '../../src/trust/pins/pinBook.ts';
import { stateFolder, status, stopGateway, waygate, workersOf } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

const started = (file: string): number => readFileSync(file, 'utf8').split('\n').filter(Boolean).length;

/** Creates a workspace whose worker ran once and ended, which leaves a known catalog. */
async function knownWorkspace(count: number): Promise<{ workspace: TestWorkspace; pids: string }> {
  const workspace = testWorkspace();
  const pids = workspace.write('pids.txt', '');
  const names = Array.from({ length: count }, (_, i) => `s${i}`);
  workspace.configure(Object.fromEntries(names.map((name) => [name, servers.fixture('--pid-file', pids)])));
  const { stdout } = await waygate(workspace, ['catalog', '--json']);
  expect(stdout).toContain(`${names.at(-1)}:echo`);
  await stopGateway(workspace);
  await until('the end of the worker', async () => (await workersOf(workspace)).length === 0);
  expect(started(pids)).toBe(count);
  return { workspace, pids };
}

describe('a workspace with a known catalog', () => {
  it('is browsed without starting servers, and starts only the server of a call', async () => {
    const { workspace, pids } = await knownWorkspace(5);
    const host = await GatewaySession.connect(workspace);
    const root = await host.call('tool_browse', { path: '/' });
    for (let i = 0; i < 5; i++) expect(root.text).toContain(`s${i}`);
    // A server that is not started is not down, so no note mentions it.
    expect(root.text).not.toMatch(/start|Failed|Needs/);
    const found = await host.call('tool_browse', { query: 'say back the text' });
    expect(found.text).toContain(':echo');
    const before = await status(workspace);
    expect(before.worker?.state).toBe('ready');
    expect(before.servers.map(({ state, toolCount }) => [state, toolCount])).toEqual(Array(5).fill(['not_started', 6]));
    expect((await waygate(workspace, ['status'])).stdout).toMatch(/^ {2}s0 {2}asleep, 6 tools, no walls: /m);
    expect(started(pids)).toBe(5);
    const id = await host.toolId('/s3/echo');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    expect((await status(workspace)).servers.map(({ state }) => state)).toEqual([
      'not_started',
      'not_started',
      'not_started',
      'ready',
      'not_started',
    ]);
    expect(started(pids)).toBe(6);
  });

  it('starts a server whose listing is known but was never pinned', async () => {
    const { workspace, pids } = await knownWorkspace(1);
    writeFileSync(join(stateFolder(workspace), 'pins.json'), writeBook({}), { mode: 0o600 });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/s0/echo');
    expect(started(pids)).toBe(2);
  });

  it('starts no server only because it is in quarantine', async () => {
    const { workspace, pids } = await knownWorkspace(1);
    const file = join(stateFolder(workspace), 'pins.json');
    const book = readBook(readFileSync(file, 'utf8')) as PinBook;
    writeFileSync(file, writeBook({ s0: { ...(book.s0 as ServerPins), quarantine: 'why' } }), { mode: 0o600 });
    const host = await GatewaySession.connect(workspace);
    expect((await host.call('tool_browse', { query: 'say back the text' })).text).not.toContain(':echo');
    expect((await status(workspace)).servers).toMatchObject([{ state: 'not_started', toolCount: 0 }]);
    expect(started(pids)).toBe(1);
  });

  it('forgets removed servers, and starts new and changed ones', async () => {
    const { workspace, pids } = await knownWorkspace(2);
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/s0/echo');
    workspace.configure({
      s0: servers.fixture('--pid-file', pids, '--name-suffix', '_new'),
      fresh: servers.fixture('--pid-file', pids),
    });
    await Promise.all([host.toolId('/s0/echo_new'), host.toolId('/fresh/echo')]);
    expect((await host.call('tool_browse', { path: '/s1' })).text).toMatch(/^Error PATH_NOT_FOUND/);
    expect(started(pids)).toBe(4);
  });
});
