import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { status } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('ten servers with a slow one', () => {
  it('answer without the slow one, report that it is starting, and include it as soon as it is up', async () => {
    const quick = Array.from({ length: 9 }, (_, i) => [`quick-${i}`, servers.fixture()] as const);
    const workspace = testWorkspace();
    const held = workspace.write('held', '');
    workspace.configure({ slow: servers.fixture('--start-held-by', held), ...Object.fromEntries(quick) });
    const host = new GatewaySession(workspace);
    // An answer that arrives while the slow server is held did not wait for it. No clock proves that better.
    expect((await host.initialize()).result).toHaveProperty('serverInfo');
    expect((await host.request('tools/list')).result?.tools).toHaveLength(3);
    expect((await host.call('tool_browse', { path: '/' })).text).toMatch(/Still starting: slow/);
    const ids = await Promise.all(quick.map(([name]) => host.toolId(`/${name}/echo`)));
    const answers = await Promise.all(
      ids.map((id, i) => host.call('tool_execute', { tool_id: id, args: { text: `hi ${i}` } })),
    );
    expect(answers.map(({ text }) => text)).toEqual(ids.map((_, i) => `ok\nhi ${i}\n`));
    const found = await host.call('tool_browse', { query: 'say back a text' });
    expect(found.text).toMatch(/quick-\d:echo/);
    expect(found.text).toContain('Still starting: slow (browse again shortly).');
    expect((await status(workspace)).servers[0]).toMatchObject({ name: 'slow', state: 'starting' });
    rmSync(held);
    const late = await host.toolId('/slow/echo');
    expect(await host.call('tool_execute', { tool_id: late, args: { text: 'late' } })).toMatchObject({
      text: 'ok\nlate\n',
    });
    expect((await host.call('tool_browse', { path: '/' })).text).not.toContain('starting');
  });
});

describe('several clients of one workspace', () => {
  it('share one process per server, and keep their calls separate', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids) });
    const hosts = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)] as const;
    const [id] = await Promise.all(hosts.map((host) => host.toolId('/one/echo')));
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        hosts[i % 2 ? 1 : 0].call('tool_execute', { tool_id: id as string, args: { text: `call ${i}` } }),
      ),
    );
    expect(answers.map(({ text }) => text)).toEqual(answers.map((_, i) => `ok\ncall ${i}\n`));
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(pids, 'utf8').trim().split('\n')).toHaveLength(1);
    // Killing a client during its call does not affect the other client.
    const wait = await hosts[0].toolId('/one/wait');
    const call = hosts[0].call('tool_execute', { tool_id: wait, args: { ms: 300 } });
    void hosts[1].request('tools/call', { name: 'tool_execute', arguments: { tool_id: wait, args: { ms: 60_000 } } });
    hosts[1].child.kill('SIGKILL');
    expect((await call).text).toBe('ok\nwaited 300 ms\n');
    await until('one session', async () => (await status(workspace)).sessions.length === 1);
  });

  it('have their calls cancelled at the server if they cancel or disappear', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.fixture('--log', log) });
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/wait');
    const { readFileSync } = await import('node:fs');
    const seen = (what: string): number => readFileSync(log, 'utf8').split(what).length - 1;
    const ask = (target: StreamClient, key: string) =>
      void target.request(
        'tools/call',
        { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 60_000 } } },
        key,
      );
    ask(host, 'a');
    await until('the call', () => seen('"tools/call"') === 1);
    host.notify('notifications/cancelled', { requestId: 'a' });
    await until('its end', () => seen('notifications/cancelled') === 1);
    const other = await HostProcess.connect(workspace);
    ask(other, 'b');
    await until('the second call', () => seen('"tools/call"') === 2);
    other.child.kill('SIGKILL');
    await until('its end', () => seen('notifications/cancelled') === 2);
    // A cancelled request has no answer, and its id is free again.
    expect((await host.request('ping', {}, 'a')).result).toEqual({});
    expect(host.lines.filter((line) => line.includes('"id":"a"'))).toHaveLength(1);
  });
});
