import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import type { ConnectionServices } from '../../src/upstream/connection/connectionServices.ts';
import { CatalogSnapshots } from '../../src/upstream/listing/catalogSnapshots.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { connectStdio, stdioConfig } from '../support/connection.ts';
import { until } from '../support/hostProcess.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };

function connect(
  given: Partial<StdioServerConfig>,
  folder = temporaryFolder('wg-lists-'),
  services: Partial<ConnectionServices> = {},
) {
  const snapshots = new CatalogSnapshots(join(folder, 'catalogs'), () => undefined);
  const { connection, log } = connectStdio(given, new ChildJournal(folder), { snapshots, ...services });
  return { connection, log, folder };
}

/** Makes a server with a log of its requests, and counts them by method. */
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

describe('the lists of a server other than tools', () => {
  it('are requested with the tools, page by page, and known without the server from then on', async () => {
    const { connection, folder } = connect(servers.primitives('--many', '24', '--page', '10'));
    await connection.start();
    const { resources, resourceTemplates, prompts, tools } = connection.catalog;
    expect([tools.length, resources.length, resourceTemplates.length, prompts.length]).toEqual([5, 25, 1, 1]);
    // The items stay unchanged.
    expect(resources[0]).toMatchObject({ uri: 'file:///shared/readme.md', _meta: { from: 'fixture' } });
    await connection.stop();
    const next = connect(servers.primitives('--many', '24', '--page', '10'), folder).connection;
    expect(next.state).toBe('not_started');
    expect(next.catalog).toEqual(connection.catalog);
  });

  it('are not requested from a server that does not declare them', async () => {
    const { connection, asked } = await logged('--no-resources', '--no-prompts');
    expect(connection.state).toBe('ready');
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list']) expect(asked(method)).toBe(0);
  });

  it('are empty if the server declares them but does not know the method', async () => {
    const { connection, log } = await logged('--unknown', 'resources/templates/list', '--unknown', 'prompts/list');
    expect(connection.catalog).toMatchObject({ resources: [{ name: 'README' }], resourceTemplates: [], prompts: [] });
    expect(log).toEqual(['one: ready']);
  });

  it('affect nothing else if they fail', async () => {
    const { connection, log } = await logged('--fails', 'resources/list');
    expect(connection).toMatchObject({ state: 'ready', reason: undefined });
    expect(connection.catalog).toMatchObject({ resources: [], resourceTemplates: [{}], prompts: [{ name: 'greet' }] });
    expect(log).toContain(
      'one: resources/list: It answered with an error: the database is down. The previous list is kept.',
    );
  });

  it('do not delay readiness if they hang', async () => {
    const { connection } = await logged('--hangs', 'resources/list');
    expect(connection.state).toBe('ready');
    expect(connection.catalog).toMatchObject({ tools: { length: 5 }, resources: [], prompts: [{}] });
  });

  /** Makes a server with resources in pages of one; `second` is its answer to the second page. */
  async function inPages(second: string) {
    const answer = (members: string) => ({ raw: `{"jsonrpc":"2.0","id":ID,${members}}` });
    const capabilities = { tools: {}, resources: {} };
    const introduction = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'x', version: '1' } };
    const page = '"result":{"resources":[{"uri":"note:a","name":"a"}],"nextCursor":"next"}';
    const steps = [
      { on: 'initialize', do: [answer(`"result":${JSON.stringify(introduction)}`)] },
      { on: 'resources/list', nth: 1, do: [answer(page)] },
      { on: 'resources/list', do: [answer(second === 'again' ? page : second)] },
      { on: 'resources/templates/list', do: [answer('"result":{"resourceTemplates":[]}')] },
    ];
    const args = [resolve('test/fixtures/faultServer.mjs'), '--script', JSON.stringify({ steps })];
    const { connection, log, folder } = connect({ args });
    await connection.start();
    return { connection, log, nextWorker: () => connect({ args }, folder).connection };
  }

  it('carry a note if they were cut', async () => {
    const { connection } = await inPages('again');
    expect(connection).toMatchObject({ state: 'ready', catalog: { resources: { length: 2 } } });
    expect(connection.reason).toBe('Its list of resources was cut: it returned the same page again.');
    await connection.refresh();
    expect(connection.reason).toContain('was cut');
  });

  it('are kept and marked if they are partial, and the next worker requests them again', async () => {
    const { connection, log, nextWorker } = await inPages('"error":{"code":-32603,"message":"the database is down"}');
    expect(connection).toMatchObject({ state: 'ready', catalog: { tools: { length: 2 }, resources: { length: 1 } } });
    expect(connection.reason).toMatch(/^It could not list all its resources: .*the database is down\.$/);
    expect(log.join()).not.toContain('is kept');
    await connection.stop();
    expect(nextWorker().isKnown).toBe(false);
  });

  it('do not count as failed if the server ends meanwhile: its end is the reason', async () => {
    const { connection, log } = await logged('--hangs', 'resources/list');
    await expect(connection.call('crash', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    await until('its loss', () => log.some((line) => line.startsWith('one: lost: It exited unexpectedly (exit code')));
    expect(log.filter((line) => line.includes('resources/list'))).toEqual([]);
  });
});

describe('a first list in pages', () => {
  /** Makes a server with pages of two tools, by default three pages. */
  async function paged(steps: object[], pages: object = {}, services: Partial<ConnectionServices> = {}) {
    const folder = temporaryFolder('wg-pages-');
    const script = JSON.stringify({ steps, pages: { count: 3, size: 2, ...pages } });
    const args = [resolve('test/fixtures/faultServer.mjs'), '--script', script, '--pid-file', join(folder, 'pids')];
    const { connection, log } = connect({ args }, folder, services);
    await connection.start();
    return { connection, log, folder, args };
  }

  const answer = (members: string) => ({ raw: `{"jsonrpc":"2.0","id":ID,${members}}` });
  const refused = answer('"error":{"code":-32603,"message":"the database is down"}');

  it('is kept and marked if it is slow and has no end, and the server serves', async () => {
    const slow = { on: 'tools/list', do: [{ delay: 200 }, 'reply'] };
    // Longer than the limit of a start, which ends with the handshake.
    const limits = { listLimitMs: 8_200, startTimeoutMs: () => 8_000 };
    const { connection, log } = await paged([slow], { count: 'endless' }, limits);
    expect(connection.state).toBe('ready');
    expect(connection.reason).toBe('It could not list all its tools: Its pages take more than 8.2 s.');
    expect(log).toContain('one: It has started but has not listed all its tools within 4 s.');
    expect(connection.tools.length).toBeGreaterThan(0);
    expect(await connection.call('act', { nonce: 'a' }, WAIT)).toMatchObject({ content: [{ text: 'a' }] });
  });

  it.each([
    ['is refused', refused, /^It could not list all its tools: It answered with an error: the database is down\.$/],
    ['is invalid', answer('"result":{"tools":7}'), /^It could not list all its tools: .*has no list of tools/],
    ['is late', 'hang', /^It could not list all its tools: Its pages take more than 1\.5 s\.$/],
  ])(
    'of which one %s is kept up to there and marked, and whole from the next worker on',
    async (_what, act, reason) => {
      const step = { on: 'tools/list', nth: 3, life: 1, do: [act] };
      const { connection, folder, args } = await paged([step], {}, { listLimitMs: 1_500 });
      expect(connection).toMatchObject({ state: 'ready', reason: expect.stringMatching(reason) });
      expect(connection.tools).toHaveLength(4);
      await connection.stop();
      const next = connect({ args }, folder).connection;
      expect(next.isKnown).toBe(false);
      await next.start();
      expect(next).toMatchObject({ state: 'ready', reason: undefined });
      expect(next.tools).toHaveLength(6);
    },
  );

  it('fails the start if the server ends at a page', async () => {
    const { connection, log } = await paged([{ on: 'tools/list', nth: 3, life: 1, do: [{ exit: 3 }] }]);
    await until('its next start', () => connection.tools.length === 6);
    expect(connection.health.last_fault?.detail).toContain('exit code 3');
    // The catalog has not changed.
    expect(log.join()).not.toContain('its catalog has changed');
  });

  const announced = { on: 'tools/call', nth: 1, do: [{ flood: 'list_changed', count: 1 }, 'reply'] };

  it.each([
    ['is refused', refused, /^It could not list its tools: .*database is down\. The shown catalog \(6 tools\)/],
    ['is late', 'hang', /^It could not list its tools: Its pages take more than 2 s\. The shown catalog \(6 tools\)/],
  ])('is not replaced by a partial one if a page %s', async (_what, act, reason) => {
    const steps = [{ on: 'tools/list', nth: 6, do: [act] }, announced];
    const { connection, folder, args } = await paged(steps, {}, { listLimitMs: 2_000 });
    expect(connection.tools).toHaveLength(6);
    await connection.call('act', { nonce: 'a' }, WAIT);
    await until('the list that fails', () => connection.reason !== undefined);
    expect(connection.reason).toMatch(reason);
    expect(connection.tools).toHaveLength(6);
    await connection.stop();
    expect(connect({ args }, folder).connection.tools).toHaveLength(6);
  });

  it.each([
    ['stays if the new one is shorter', 5, 4, 'last good list'],
    ['is replaced if the new one is longer', 7, 6, 'tools (6 now)'],
  ])('that is partial and is listed again up to another page %s', async (_what, nth, shown, said) => {
    const steps = [3, nth].map((at) => ({ on: 'tools/list', nth: at, do: [refused] }));
    const { connection, log } = await paged([...steps, announced], { count: 4 });
    expect(connection.tools).toHaveLength(4);
    await connection.call('act', { nonce: 'a' }, WAIT);
    await until('the second list', () => log.join().includes(said));
    expect(connection.tools).toHaveLength(shown);
    expect(connection.reason).toContain('It could not list');
  });

  it('reports the limit of a page that never arrives', async () => {
    const script = JSON.stringify({ steps: [{ on: 'tools/list', do: ['hang'] }] });
    const config = stdioConfig({ args: [resolve('test/fixtures/faultServer.mjs'), '--script', script] });
    const events = { onLost: () => undefined, log: () => undefined, scrubSecrets: (text: string) => text };
    const link = new StdioLink(config, new ChildJournal(temporaryFolder('wg-link-')), events);
    onTestFinished(() => link.close());
    const client = await link.connect({}, 60_000);
    const error = await client.listAll('tools/list', 'tools', { timeoutMs: 200 }).catch((failure: unknown) => failure);
    expect((await link.explain(error)).message).toBe('It did not answer within 0.2 s.');
  });
});

describe('a list that changes', () => {
  it('is listed alone, a few times at most, whatever the number of announcements', async () => {
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

  it('stays unchanged while the server does not answer; the others continue', async () => {
    const { connection } = await logged();
    await connection.call('hang', { method: 'resources/list' }, WAIT);
    await connection.call('change', { list: 'resources', add: 'lost' }, WAIT);
    await connection.call('change', { list: 'prompts', add: 'found' }, WAIT);
    await until('the new prompt', () => connection.catalog.prompts.length === 2);
    expect(connection.catalog.resources).toHaveLength(1);
    expect(connection.catalog.tools).toHaveLength(5);
  });

  it('is listed again if it changes during a list', async () => {
    const { connection } = await logged();
    for (let i = 0; i < 5; i++) {
      await connection.call('change', { list: 'prompts', add: `p${i}` }, WAIT);
      await new Promise((done) => setTimeout(done, 150));
    }
    await until('all prompts', () => connection.catalog.prompts.length === 6);
  });
});
