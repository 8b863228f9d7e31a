import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { ServerPool } from '../../src/upstream/connection/serverPool.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { stdioConfig } from '../support/connection.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

const ENDLESS = { timeoutMs: 60_000 };

function pool() {
  const folder = temporaryFolder('wg-pool-');
  const gate = join(folder, 'go');
  const journal = new ChildJournal(folder);
  onTestFinished(() => journal.close());
  /** Names of the servers at each change. */
  const seen: string[][] = [];
  const servers: ServerPool = new ServerPool(
    { openLink: async (config, events) => new StdioLink(config as StdioServerConfig, journal, events) },
    {
      onChange: () => seen.push(servers.connections.map(({ config }) => config.name)),
      log: () => undefined,
      scrubSecrets: (text) => text,
    },
  );
  onTestFinished(() => servers.stop());
  /** Applies entries by name; the value changes the start of the server. */
  const reconcile = (
    entries: Record<string, string>,
    more: Partial<StdioServerConfig> = {},
    flags: string[] = [],
  ): void =>
    servers.reconcile(
      Object.entries(entries).map(([name, suffix]) => {
        const args = [resolve('test/fixtures/server.mjs'), '--name-suffix', suffix, ...flags];
        return { config: stdioConfig({ name, args, ...more }), startedWith: suffix };
      }),
    );
  const connection = (name: string) => {
    const found = servers.get(name);
    if (!found) throw new Error(`There is no ${name}.`);
    return found;
  };
  const ready = (name: string) => until(name, () => connection(name).state === 'ready');
  const held = (name: string, tool: string) => connection(name).call(tool, { until: gate }, ENDLESS);
  const names = (name: string) => connection(name).tools.map((tool) => (tool as { name: string }).name);
  return {
    servers,
    seen,
    reconcile,
    connection,
    ready,
    held,
    names,
    folder,
    gate,
    letGo: () => writeFileSync(gate, ''),
  };
}

describe('the servers of an edited configuration', () => {
  it('keep their process if their start is the same, and adopt the rest of their entry', async () => {
    const { seen, reconcile, connection, ready, names } = pool();
    reconcile({ one: '_a' });
    await ready('one');
    const { pid } = connection('one');
    const before = connection('one');
    seen.length = 0;
    reconcile({ two: '_a', one: '_a' }, { tools: { include: ['echo*'], exclude: [] } });
    expect(new Set(seen.map(String))).toEqual(new Set(['two,one']));
    expect(connection('one')).toBe(before);
    expect(connection('one').pid).toBe(pid);
    expect(names('one')).toEqual(['echo_a']);
  });

  it('restart after their calls if their start has changed, show their tools meanwhile, and make new calls wait', async () => {
    const { servers, reconcile, connection, ready, held, names, letGo } = pool();
    reconcile({ one: '_a' });
    await ready('one');
    const before = connection('one');
    const call = held('one', 'wait_a');
    // Edit twice: the configuration in between never runs.
    for (const suffix of ['_b', '_c']) reconcile({ one: suffix });
    expect(servers.connections).toHaveLength(1);
    expect(connection('one')).toMatchObject({
      state: 'starting',
      reason: expect.stringContaining('after its current calls'),
    });
    expect(names('one')).toContain('wait_a');
    const waiting = connection('one').call('echo_c', { text: 'x' }, ENDLESS);
    letGo();
    expect(await call).toMatchObject({ content: [{ text: 'waited until it was let go' }] });
    expect(await waiting).toMatchObject({ content: [{ text: 'x' }] });
    expect(before.state).toBe('stopped');
    expect(names('one')).toContain('wait_c');
    expect(names('one')).not.toContain('wait_a');
  });

  it('wait for the calls of their last connection if they were removed and are back', async () => {
    const { reconcile, connection, ready, held, letGo } = pool();
    reconcile({ one: '_a' });
    await ready('one');
    const before = connection('one');
    const call = held('one', 'wait_a');
    reconcile({});
    reconcile({ one: '_a' });
    const waiting = connection('one').call('echo_a', { text: 'x' }, ENDLESS);
    expect([before.state, connection('one').state]).toEqual(['ready', 'starting']);
    letGo();
    await call;
    expect(await waiting).toMatchObject({ content: [{ text: 'x' }] });
    expect(before.state).toBe('stopped');
  });

  it('replace a server whose start hangs at once, and send the calls that waited for it to the new one', async () => {
    const { reconcile, connection, folder } = pool();
    const holder = join(folder, 'held');
    writeFileSync(holder, '');
    reconcile({ one: '_a', gone: '_a' }, {}, ['--start-held-by', holder]);
    const [before, gone] = [connection('one'), connection('gone')];
    const waiting = before.call('echo_c', { text: 'x' }, ENDLESS);
    const excluded = before.call('wait_a', {}, ENDLESS).catch((error: Error) => error);
    const removed = gone.call('echo_a', { text: 'x' }, ENDLESS).catch((error: Error) => error);
    await until('the start', () => before.pid !== undefined);
    // Edit twice: the calls go to the newest entry.
    for (const suffix of ['_b', '_c']) {
      reconcile({ one: suffix }, { tools: { include: [], exclude: ['wait*'] } });
    }
    expect(await waiting).toMatchObject({ content: [{ text: 'x' }] });
    expect(before.state).toBe('stopped');
    expect(await excluded).toMatchObject({ message: expect.stringContaining('excludes this tool') });
    expect(await removed).toMatchObject({
      name: 'NotDispatchedError',
      message: 'its entry was removed from the configuration before it had started',
    });
  });

  it('are not started again under an earlier entry if they crash during their last calls', async () => {
    const { reconcile, connection, ready, folder, gate } = pool();
    const pids = join(folder, 'pids');
    reconcile({ one: '_a' }, {}, ['--pid-file', pids]);
    await ready('one');
    const before = connection('one');
    const replayable = { ...ENDLESS, contract: 'convergent' } as const;
    const lost = before.call('wait_a', { until: gate }, replayable).catch((error: Error) => error);
    const first = before.pid as number;
    reconcile({ one: '_b' }, {}, ['--pid-file', pids]);
    process.kill(first, 'SIGKILL');
    expect(await lost).toBeInstanceOf(Error);
    await ready('one');
    expect(before.state).toBe('stopped');
    expect(readFileSync(pids, 'utf8').trim().split('\n').map(Number)).toEqual([first, connection('one').pid]);
  });

  it('are listed again without waiting for the calls of a changed or removed one', async () => {
    const { servers, reconcile, connection, ready, held, letGo } = pool();
    reconcile({ one: '_a', two: '_a', gone: '_a' });
    await Promise.all(['one', 'two', 'gone'].map(ready));
    const calls = ['one', 'gone'].map((name) => held(name, 'wait_a'));
    reconcile({ one: '_b', two: '_a' });
    await Promise.all(servers.connections.map((one) => servers.refresh(one)));
    expect([connection('one').state, connection('two').state]).toEqual(['starting', 'ready']);
    letGo();
    await Promise.all(calls);
    await ready('one');
  });

  it('announce nothing about lists and resources once they are replaced', async () => {
    const { reconcile, connection, ready, held, letGo } = pool();
    reconcile({ one: '_a' });
    const heard: string[] = [];
    const before = connection('one');
    // Notifications about the same subject would be merged.
    const round = (n: number) => [`list${n}/list_changed`, 'resources/updated', 'message'];
    for (const name of new Set([1, 2].flatMap(round))) {
      before.onNotification(`notifications/${name}`, ({ uri }) => heard.push(`${uri} ${name}`));
    }
    await ready('one');
    const call = held('one', 'wait_a');
    const announce = (n: number) => {
      const notes = round(n).map((name) => ({ method: `notifications/${name}`, params: { uri: `file:///${n}` } }));
      const frames = [...notes, { id: 'ID', result: { content: [] } }];
      const frame = frames.map((one) => JSON.stringify({ jsonrpc: '2.0', ...one }).replace('"ID"', 'ID')).join('\n');
      return before.call('raw_a', { frame }, ENDLESS);
    };
    await announce(1);
    expect(heard.splice(0)).toEqual(round(1).map((name) => `file:///1 ${name}`));
    reconcile({ one: '_b' });
    await announce(2);
    expect(heard).toEqual(['file:///2 message']);
    letGo();
    await call;
  });

  it('end after their calls if they are removed, or at the latest with the pool', async () => {
    const { servers, reconcile, connection, ready, held, letGo } = pool();
    reconcile({ one: '_a', two: '_a' });
    await Promise.all(['one', 'two'].map(ready));
    const [one, two] = [connection('one'), connection('two')];
    const call = held('one', 'wait_a');
    const lost = held('two', 'wait_a').catch((error: Error) => error);
    reconcile({});
    expect(servers.connections).toEqual([]);
    expect([one.state, two.state]).toEqual(['ready', 'ready']);
    letGo();
    expect(await call).toMatchObject({ content: [{ text: 'waited until it was let go' }] });
    await until('its end', () => one.state === 'stopped');
    await servers.stop();
    expect(two.state).toBe('stopped');
    await lost;
  });
});
