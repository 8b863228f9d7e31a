import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { CatalogSnapshots } from '../../src/upstream/catalogSnapshots.ts';
import { ChildJournal } from '../../src/upstream/childJournal.ts';
import { connectStdio } from '../support/connection.ts';
import { until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };

function connect(given: Partial<StdioServerConfig>, folder = temporaryFolder('wg-lists-')) {
  const snapshots = new CatalogSnapshots(join(folder, 'catalogs'), () => undefined);
  const { connection, log } = connectStdio(given, new ChildJournal(folder), { snapshots });
  return { connection, log, folder };
}

/** A server with a log of what it was asked; how often, by method. */
async function logged(...flags: string[]) {
  const file = join(temporaryFolder('wg-lists-log-'), 'methods.txt');
  const link = connect(servers.primitives('--log', file, ...flags));
  await link.connection.start();
  const asked = (method: string) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line === method).length;
  return { ...link, asked };
}

describe('what a server has beside its tools', () => {
  it('is listed with them, page by page, and known without it from then on', async () => {
    const { connection, folder } = connect(servers.primitives('--many', '24', '--page', '10'));
    await connection.start();
    const { resources, resourceTemplates, prompts, tools } = connection.catalog;
    expect([tools.length, resources.length, resourceTemplates.length, prompts.length]).toEqual([5, 25, 1, 1]);
    // As it came.
    expect(resources[0]).toMatchObject({ uri: 'file:///shared/readme.md', _meta: { from: 'fixture' } });
    await connection.stop();
    const next = connect(servers.primitives('--many', '24', '--page', '10'), folder).connection;
    expect(next.state).toBe('not_started');
    expect(next.catalog).toEqual(connection.catalog);
  });

  it('is not asked of a server that declares none', async () => {
    const { connection, asked } = await logged('--no-resources', '--no-prompts');
    expect(connection.state).toBe('ready');
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) expect(asked(method)).toBe(0);
  });

  it('is empty where the server declares it and does not know the method', async () => {
    const { connection, log } = await logged('--unknown', 'resources/templates/list', '--unknown', 'prompts/list');
    expect(connection.catalog).toMatchObject({ resources: [{ name: 'README' }], resourceTemplates: [], prompts: [] });
    expect(log).toEqual(['one: ready']);
  });

  it('costs the server nothing else where its list fails', async () => {
    const { connection, log } = await logged('--fails', 'resources/list');
    expect(connection).toMatchObject({ state: 'ready', reason: undefined });
    expect(connection.catalog).toMatchObject({ resources: [], resourceTemplates: [{}], prompts: [{ name: 'greet' }] });
    expect(log).toContain(
      'one: resources/list: It answered with an error: the database is down. What it listed before is kept.',
    );
  });

  it('does not keep the server from being ready where its list hangs', async () => {
    const { connection } = await logged('--hangs', 'resources/list');
    expect(connection.state).toBe('ready');
    expect(connection.catalog).toMatchObject({ tools: { length: 5 }, resources: [], prompts: [{}] });
  });

  it('is not told to have failed where the server ends while it lists: that is told as its end', async () => {
    const { connection, log } = await logged('--hangs', 'resources/list');
    await expect(connection.call('crash', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    await until('its loss', () => log.some((line) => line.startsWith('one: lost: It ended by itself (exit code')));
    expect(log.filter((line) => line.includes('resources/list'))).toEqual([]);
  });
});

describe('a list that changes', () => {
  it('is listed again alone, a few times however many changes are announced', async () => {
    const { connection, asked } = await logged();
    const before = connection.catalog;
    await connection.call('change', { list: 'resources', add: 'fresh', times: 500 }, WAIT);
    await until('the new resource', () => connection.catalog.resources.length === 2);
    expect(connection.catalog.tools).toBe(before.tools);
    expect(connection.catalog.prompts).toBe(before.prompts);
    expect(connection.catalog.resourceTemplates).toBe(before.resourceTemplates);
    expect([asked('tools/list'), asked('prompts/list')]).toEqual([1, 1]);
    expect(asked('resources/list')).toBeLessThanOrEqual(4);
  });

  it('stays as it was while the server does not answer, and the others go on', async () => {
    const { connection } = await logged();
    await connection.call('hang', { method: 'resources/list' }, WAIT);
    await connection.call('change', { list: 'resources', add: 'lost' }, WAIT);
    await connection.call('change', { list: 'prompts', add: 'found' }, WAIT);
    await until('the new prompt', () => connection.catalog.prompts.length === 2);
    expect(connection.catalog.resources).toHaveLength(1);
    expect(connection.catalog.tools).toHaveLength(5);
  });

  it('is listed once more where it changes while it is being listed', async () => {
    const { connection } = await logged();
    for (let i = 0; i < 5; i++) {
      await connection.call('change', { list: 'prompts', add: `p${i}` }, WAIT);
      await new Promise((done) => setTimeout(done, 150));
    }
    await until('all prompts', () => connection.catalog.prompts.length === 6);
  });
});
