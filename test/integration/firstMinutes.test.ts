import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startHeld, status } from '../support/census.ts';
import { HostProcess, until, withoutIdNote } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Server that answers `initialize` after three seconds. */
const slow = () => servers.fixture('--start-delay', '3000');
/** Server that answers nothing. */
const hangs = () => servers.fixture('--never-read');

const isListed = ({ toolCount }: { toolCount: number }): boolean => toolCount > 0;

async function seconds<T>(work: Promise<T>): Promise<[T, number]> {
  const began = performance.now();
  return [await work, (performance.now() - began) / 1_000];
}

describe('the first tool_browse of a workspace whose servers were never listed', () => {
  it('finds the tool of a server that takes three seconds to start', async () => {
    const host = await HostProcess.connect(testWorkspace({ tiny: slow() }));
    const { text } = await host.call('tool_browse', { query: 'say back the text' });
    expect(text.split('\n')[0]).toMatch(/^\d tools? for this query, best first/);
    expect(text).toContain('tiny:echo');
  });

  it('shows all namespaces at the root, and the paths of a server that is starting', async () => {
    const workspace = testWorkspace({ one: slow(), two: servers.fixture() });
    const connect = () => HostProcess.connect(workspace);
    const [host, other, third] = [await connect(), await connect(), await connect()];
    const [root, path, server] = await Promise.all([
      host.call('tool_browse', { path: '/' }),
      other.call('tool_browse', { path: '/one/echo' }),
      third.call('tool_browse', { path: '/one' }),
    ]);
    expect(root.text).toContain('/: 2 entries');
    expect(server).toMatchObject({ isError: false, text: expect.stringContaining('one:echo') });
    expect(path).toMatchObject({ isError: false, text: expect.stringContaining('one:echo') });
  });

  it('does not wait for a server that hangs where it has a good hit, and else waits for it once', async () => {
    const workspace = testWorkspace({ good: servers.fixture(), stuck: hangs() });
    const host = await HostProcess.connect(workspace);
    const [good, goodSeconds] = await seconds(host.call('tool_browse', { query: 'say back the text' }));
    expect(good.text).toContain('good:echo');
    expect(goodSeconds).toBeLessThan(9);
    const query = 'pagerduty incident escalation';
    const [first, firstSeconds] = await seconds(host.call('tool_browse', { query }));
    expect(first.text.split('\n')[0]).toBe('1 of 2 servers is still starting; 6 tools so far.');
    expect(first.text).not.toContain('Ask for one capability');
    expect(firstSeconds).toBeGreaterThan(5);
    const [again, againSeconds] = await seconds(host.call('tool_browse', { query, render: 'json' }));
    expect(againSeconds).toBeLessThan(5);
    expect(again.structured).toMatchObject({ complete: false, retry_after: 5, problems: [] });
  });

  it('ends its wait at a cancellation and at the end of the session', async () => {
    const workspace = testWorkspace({ stuck: hangs() });
    const [host, other] = [await HostProcess.connect(workspace), await HostProcess.connect(workspace)];
    const params = { name: 'tool_browse', arguments: { query: 'anything' } };
    void host.request('tools/call', params, 'wait');
    void other.request('tools/call', params, 'wait');
    // A worker that starts has no report yet.
    const inPhase = async (searched: string) =>
      (await status(workspace)).recentCalls?.filter(({ phase }) => phase === searched).length ?? 0;
    await until('both calls', async () => (await inPhase('running')) === 2);
    const began = performance.now();
    host.notify('notifications/cancelled', { requestId: 'wait' });
    other.end();
    await other.exited;
    await until('the end of both calls', async () => (await inPhase('done')) === 2);
    expect((performance.now() - began) / 1_000).toBeLessThan(5);
  });
});

describe('render: json', () => {
  it('holds the problems of the configuration', async () => {
    const workspace = testWorkspace();
    writeFileSync(workspace.configFile, '{"servers": {"odd": {"command": "x", "unknownKey": 1}, "broken": {}}}');
    const host = await HostProcess.connect(workspace);
    const { structured } = await host.call('tool_browse', { path: '/', render: 'json' });
    expect(structured).toMatchObject({
      complete: true,
      problems: expect.arrayContaining([
        { message: expect.stringContaining('broken'), file: workspace.configFile, line: 1 },
      ]),
    });
  });
});

describe('a call for a server that is starting for the first time', () => {
  it('waits for its tools with tool_execute, tool_view and tool_hydrate', async () => {
    const workspace = testWorkspace({ tiny: slow() });
    const [host, transparent] = [
      await HostProcess.connect(workspace),
      await HostProcess.connect(workspace, ['--mode', 'transparent']),
    ];
    const echo = { tool_id: 'tiny:echo', args: { text: 'hi' } };
    const [run, schema, hydrated, direct] = await Promise.all([
      host.call('tool_execute', echo),
      host.call('tool_view', { handle: 'schema:tiny:echo', selector: {} }),
      transparent.call('tool_hydrate', { tool_id: 'tiny__echo' }),
      transparent.call('tiny__echo', { text: 'hi' }),
    ]);
    expect(withoutIdNote(run).text).toBe('ok\nhi\n');
    expect(hydrated.text).toContain('"text"');
    expect(direct.text).toContain('hi');
    // A schema needs the whole id; the error names it, which needs the list.
    expect(schema.text).toMatch(/tiny:echo[@#]/);
  });

  it('waits in passthrough mode', async () => {
    const host = new HostProcess(testWorkspace({ tiny: slow(), other: servers.fixture() }), ['--mode', 'passthrough']);
    await host.initialize();
    expect((await host.call('tiny__echo', { text: 'hi' })).text).toBe('hi');
  });
});

describe.each(['passthrough', 'transparent'])('%s mode with a server that hangs at its start', (mode) => {
  it('waits once and briefly, lists what is there, and announces the rest', async () => {
    const workspace = testWorkspace();
    delete workspace.env.WAYGATE_LIST_MS;
    const held = startHeld(workspace);
    workspace.configure({ good: servers.fixture(), stuck: servers.fixture('--tools', '7', ...held.flags) });
    // The worker runs, and the good server is listed, before anything is measured.
    const before = await HostProcess.connect(workspace);
    await until('the good server', async () => (await status(workspace)).servers.find(isListed));
    const [first, second] = [
      new HostProcess(workspace, ['--mode', mode]),
      new HostProcess(workspace, ['--mode', mode]),
    ];
    const waits: number[] = [];
    for (const host of [first, second]) {
      waits.push((await seconds(host.initialize()))[1]);
      const [{ result }, wait] = await seconds(host.request('tools/list'));
      waits.push(wait);
      expect(JSON.stringify(result)).toContain('good');
      expect(JSON.stringify(result)).not.toContain('stuck');
    }
    before.end();
    await before.exited;
    // One of four requests waits, for two seconds, which `liveCatalog.test.ts` measures with a clock of its own.
    const [longest = 0, ...others] = waits.toSorted((a, b) => b - a);
    expect(longest).toBeGreaterThan(1.5);
    expect(others.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(longest);
    const heard = first.notifications.length;
    await held.letGo(2);
    await until('the announcement', () =>
      first.notifications.slice(heard).some(({ method }) => method === 'notifications/tools/list_changed'),
    );
    expect(JSON.stringify((await first.request('tools/list')).result)).toContain('stuck');
  });
});
