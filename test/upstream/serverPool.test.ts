import { writeFileSync } from 'node:fs';
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
  const reconcile = (entries: Record<string, string>, more: Partial<StdioServerConfig> = {}): void =>
    servers.reconcile(
      Object.entries(entries).map(([name, suffix]) => {
        const args = [resolve('test/fixtures/server.mjs'), '--name-suffix', suffix];
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
  return { servers, seen, reconcile, connection, ready, held, names, letGo: () => writeFileSync(gate, '') };
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
