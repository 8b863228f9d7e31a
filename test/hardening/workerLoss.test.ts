import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous, stateFolder, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { SDK_CLIENTS } from '../support/wire/sdkClients.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

function killWorker(workspace: TestWorkspace): number {
  const pid = rendezvous(workspace)?.pid as number;
  process.kill(pid, 'SIGKILL');
  return pid;
}

/** The client's session survives a kill of the worker. */
describe('when the worker is killed', () => {
  it('the session survives, and the next call works', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/echo');
    const killed = killWorker(workspace);
    await host.toolId('/one/echo');
    const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'still here' } });
    expect(answer).toMatchObject({ isError: false, text: 'ok\nstill here\n' });
    expect(rendezvous(workspace)?.pid).not.toBe(killed);
  });

  it('a read in flight is answered by its successor', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const worker = rendezvous(workspace)?.pid as number;
    process.kill(worker, 'SIGSTOP');
    const browse = host.call('tool_browse', { path: '/' });
    await new Promise((done) => setTimeout(done, 100));
    process.kill(worker, 'SIGKILL');
    expect(await browse).toMatchObject({ isError: false, text: expect.stringContaining('/one') });
  });

  it('a call that may have taken effect gets one answer, outcome unknown, and is never repeated', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 60_000, nonce: 'once' } });
    await until('the effect', () => readFileSync(effects, 'utf8').includes('once'));
    killWorker(workspace);
    const answer = await call;
    expect(answer.isError).toBe(true);
    expect(answer.text).toMatch(/^Error UPSTREAM_UNAVAILABLE: .*may have taken effect/);
    expect(answer.text).toContain('outcome: unknown');
    expect(answer.text).not.toContain('retryable');
    await host.toolId('/one/wait');
    expect(readFileSync(effects, 'utf8')).toBe('once\n');
    expect(host.lines.filter((line) => line.includes('may have taken effect'))).toHaveLength(1);
  });

  it('a client that asked for JSON gets the unknown outcome as JSON', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 60_000, nonce: 'once' }, render: 'json' });
    await until('the effect', () => readFileSync(effects, 'utf8').includes('once'));
    killWorker(workspace);
    const { isError, structured, text } = await call;
    expect(isError).toBe(true);
    expect(structured).toMatchObject({
      error: 'UPSTREAM_UNAVAILABLE',
      retryable: false,
      details: { outcome: 'unknown' },
    });
    expect(JSON.parse(text)).toEqual(structured);
  });

  it('a call that the worker had not started is run once by its successor, even if it must not be repeated', async () => {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.txt', '');
    workspace.configure({ one: servers.fixture('--effects', effects) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const worker = rendezvous(workspace)?.pid as number;
    process.kill(worker, 'SIGSTOP');
    const call = host.call('tool_execute', { tool_id: id, args: { ms: 0, nonce: 'once' } });
    await new Promise((done) => setTimeout(done, 100));
    process.kill(worker, 'SIGKILL');
    expect(await call).toMatchObject({ isError: false, text: 'ok\nwaited 0 ms\n' });
    expect(readFileSync(effects, 'utf8')).toBe('once\n');
  });

  it.each(SDK_CLIENTS)(
    'a call that three workers had not begun lets $name call again, and blames nothing',
    async (sdk) => {
      const workspace = testWorkspace();
      const [pids, effects] = [workspace.write('pids.txt', ''), workspace.write('effects.txt', '')];
      const held = join(workspace.folder, 'held');
      workspace.configure({
        slow: servers.fixture('--start-held-by', held, '--pid-file', pids, '--effects', effects),
      });
      const env = workspace.env as Record<string, string>;
      const command = { command: process.execPath, args: [WAYGATE, 'serve', '--workspace', workspace.folder], env };
      const client = await sdk.connect(command);
      onTestFinished(() => client.close());
      const [tool_id] = /slow:wait#[0-9a-f]{8}/.exec(await client.callTool('tool_browse', { path: '/slow' })) ?? [];
      const call = (nonce: string): Promise<string> =>
        client.callTool('tool_execute', { tool_id, args: { ms: 0, nonce } });
      // From now on the server never becomes ready: each worker gets the call, and none begins it.
      writeFileSync(held, '');
      killWorker(workspace);
      await client.callTool('tool_browse', { path: '/slow' });
      const pending = call('never');
      for (const starts of [2, 3, 4]) {
        await until(`start ${starts} of the server`, () => pidsIn(pids).length === starts);
        killWorker(workspace);
      }
      const answer = await pending;
      expect(answer).toMatch(
        /^Error UPSTREAM_UNAVAILABLE: Waygate's worker was replaced: connection_lost\. Nothing was sent\. Call again\./,
      );
      expect(answer).toContain('fault: replay/not_begun');
      expect(answer).toContain('retryable: the same call may succeed later');
      expect(answer).not.toMatch(/may have taken effect|Change the call/);
      rmSync(held);
      expect(await call('again')).toContain('waited 0 ms');
      expect(linesOf(effects)).toEqual(['again']);
    },
  );

  it('its successor ends the processes that it left behind, including a grandchild in its own process group', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({
      stubborn: servers.fixture('--pid-file', pids, '--grandchild', '--ignore-eof', '--ignore-term'),
    });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/stubborn/echo');
    const orphans = pidsIn(pids);
    expect(orphans).toHaveLength(2);
    killWorker(workspace);
    // The successor has a snapshot of the tools: a call starts the server, but only after the old process has ended.
    await until('an answer', async () => {
      const answer = await host.call('tool_execute', { tool_id: id, args: { text: 'again' } });
      return answer.text === 'ok\nagain\n';
    });
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(orphans.filter(isAlive)).toEqual([]);
    expect(await workersOf(workspace)).toHaveLength(1);
  });

  it('the rendezvous file of the dead worker is replaced', async () => {
    const workspace = testWorkspace({});
    const first = await HostProcess.connect(workspace);
    await first.request('tools/list');
    const stale = rendezvous(workspace);
    killWorker(workspace);
    first.child.kill('SIGKILL');
    const second = await HostProcess.connect(workspace);
    expect((await second.request('tools/list')).result).toHaveProperty('tools');
    expect(rendezvous(workspace)?.token).not.toBe(stale?.token);
  });
});

describe('a worker without clients', () => {
  it('exits after a while and ends its servers', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids, '--grandchild') });
    const host = await HostProcess.connect(workspace);
    await host.toolId('/one/echo');
    const worker = rendezvous(workspace)?.pid as number;
    host.end();
    await host.exited;
    expect(isAlive(worker)).toBe(true);
    await until('the worker to exit', () => !isAlive(worker));
    expect(pidsIn(pids).filter(isAlive)).toEqual([]);
    expect(rendezvous(workspace)).toBeUndefined();
    expect(readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8')).toContain('no client has been attached');
  });
});
