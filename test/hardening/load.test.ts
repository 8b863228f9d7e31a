import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rendezvous, status, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('under load', () => {
  it('fifty hosts that start in the same instant share one worker and one server', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids) });
    const hosts = Array.from({ length: 50 }, () => new HostProcess(workspace));
    await Promise.all(hosts.map((host) => host.initialize()));
    const answers = await Promise.all(hosts.map((host) => host.request('tools/list')));
    expect(answers.filter((answer) => !Array.isArray(answer.result?.tools))).toEqual([]);
    await until('one worker alone', async () => (await workersOf(workspace)).length === 1);
    await hosts[0]?.toolId('/one/echo');
    expect((await status(workspace)).sessions).toHaveLength(50);
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
    for (const host of hosts) host.end();
    expect(await Promise.all(hosts.map((host) => host.exited))).toEqual(hosts.map(() => 0));
  });

  it('ten thousand requests at once each get one answer', async () => {
    const workspace = testWorkspace({});
    const host = await HostProcess.connect(workspace);
    const answers = await Promise.all(Array.from({ length: 10_000 }, () => host.call('tool_browse', { path: '/' })));
    expect(answers.filter((answer) => answer.isError)).toEqual([]);
    // The first line answers initialize.
    expect(host.lines).toHaveLength(10_001);
  });

  it('a client that stops reading delays no other client and gets everything later', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const [slow, other] = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)];
    const id = await slow.toolId('/one/large');
    slow.child.stdout.pause();
    const calls = Array.from({ length: 2_000 }, () => slow.call('tool_execute', { tool_id: id, args: { lines: 50 } }));
    for (let i = 0; i < 20; i++) {
      expect((await other.call('tool_execute', { tool_id: id, args: { lines: 1 } })).text).toContain('line 0');
    }
    slow.child.stdout.resume();
    expect((await Promise.all(calls)).filter(({ text }) => !text.includes('line 49'))).toEqual([]);
  });

  it('messages of fifty megabytes fail alone, in both directions', async () => {
    const workspace = testWorkspace({ one: servers.fixture('--wild') });
    const host = await HostProcess.connect(workspace);
    const [bytes, echo] = [await host.toolId('/one/bytes'), await host.toolId('/one/echo')];
    const worker = rendezvous(workspace)?.pid;
    const large = await host.call('tool_execute', { tool_id: bytes, args: { n: 50_000_000 } });
    expect(large).toMatchObject({ isError: true, text: expect.stringContaining('beyond the limit of 16777216') });
    const huge = await host.request('tools/call', {
      name: 'tool_execute',
      arguments: { tool_id: echo, args: { text: 'z'.repeat(50_000_000) } },
    });
    expect(huge.error).toMatchObject({ code: -32600, message: expect.stringContaining('limit is 16 MiB') });
    const whole = await host.call('tool_execute', { tool_id: echo, args: { text: 'z'.repeat(10_000_000) } });
    expect(whole).toMatchObject({ isError: false, text: expect.stringContaining('more characters') });
    expect(rendezvous(workspace)?.pid).toBe(worker);
  });

  it('a server that floods, sends invalid data and hangs affects neither the others nor the worker', async () => {
    const workspace = testWorkspace({
      good: servers.fixture(),
      noisy: servers.fixture(
        '--wild',
        '--odd-items',
        '--deep-schema',
        '--stderr-flood',
        '5000000',
        '--garbage',
        '20000',
        '--storm',
        '20000',
      ),
      deaf: servers.fixture('--never-read'),
      many: servers.fixture('--tools', '400', '--no-schema-type'),
    });
    const host = await HostProcess.connect(workspace);
    const [good, raw, deep] = await Promise.all(
      ['/good/echo', '/noisy/raw', '/noisy/deep'].map((path) => host.toolId(path)),
    );
    const worker = rendezvous(workspace)?.pid as number;
    const hanging = host.call('tool_execute', { tool_id: raw as string, args: { frame: '{"partial":' } });
    for (const render of ['porcelain', 'json']) {
      // Any outcome will do, but the call must end.
      await host.call('tool_execute', { tool_id: deep as string, args: {}, render });
      for (const args of [
        { path: '/' },
        { path: '/noisy' },
        { path: '/many' },
        { query: 'number of many', top_k: 50 },
      ]) {
        const { text, isError } = await host.call('tool_browse', { ...args, render });
        expect(isError).toBe(false);
        expect(text.length).toBeLessThan(8_000);
      }
    }
    expect(await host.call('tool_execute', { tool_id: good as string, args: { text: 'fine' } })).toMatchObject({
      text: 'ok\nfine\n',
    });
    expect((await status(workspace)).servers.find(({ name }) => name === 'many')).toMatchObject({ toolCount: 400 });
    expect(isAlive(worker)).toBe(true);
    expect(rendezvous(workspace)?.pid).toBe(worker);
    host.child.kill('SIGKILL');
    await Promise.race([hanging.catch(() => undefined), host.exited]);
  });
});
