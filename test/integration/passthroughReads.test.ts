import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateFolder, status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { type StreamClient, until } from '../support/hostProcess.ts';
import { linesOf, recordsOf } from '../support/lines.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Covers resources and prompts in passthrough mode (G5.10): their lists, policy, quota and telemetry. */

const MODE = ['--mode', 'passthrough'];
const README = 'file:///shared/readme.md';

function configured(blocks: object, entries: Record<string, unknown>): TestWorkspace {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...blocks, servers: entries }));
  workspace.approve();
  return workspace;
}

const read = (host: StreamClient, uri = README) => host.request('resources/read', { uri });
const greet = (host: StreamClient, name = 'greet') => host.request('prompts/get', { name });

describe('the lists of several servers', () => {
  function two(...flags: string[]) {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    const alpha = servers.primitives('--name', 'alpha', '--log', log, ...flags);
    workspace.configure({ alpha, beta: servers.primitives('--name', 'beta', '--uri', 'note://beta/first') });
    const asked = (method: string) => linesOf(log).filter((line) => line === method).length;
    return { workspace, asked };
  }
  const LISTS = [
    ['resources/list', 'resources', 'uri', README, 'note://beta/first'],
    [
      'resources/templates/list',
      'resourceTemplates',
      'uriTemplate',
      'log://alpha/{day}/{level}',
      'log://beta/{day}/{level}',
    ],
    ['prompts/list', 'prompts', 'name', 'alpha__greet', 'beta__greet'],
  ] as const;

  it('come from the catalog, without asking a server again', async () => {
    const { workspace, asked } = two();
    const host = await GatewaySession.connect(workspace, MODE);
    for (const [method, key, field, ...names] of LISTS) {
      for (let again = 0; again < 3; again++) {
        const listed = (await host.request(method)).result?.[key] as Record<string, string>[] | undefined;
        expect(listed?.map((item) => item[field])).toEqual(names);
      }
      expect(asked(method), method).toBe(1);
    }
    expect((await read(host)).result).toMatchObject({ contents: [{ text: `${README} of alpha` }] });
    expect((await read(host, 'log://beta/monday/error')).result).toMatchObject({ contents: [{ text: /of beta/ }] });
    expect((await read(host, 'nobody://x')).error).toMatchObject({ code: -32002, data: { uri: 'nobody://x' } });
  });

  it('have an address of its own for each of two resources with one URI', async () => {
    const workspace = testWorkspace();
    workspace.configure({
      alpha: servers.primitives('--name', 'alpha'),
      beta: servers.primitives('--name', 'beta'),
    });
    const host = await GatewaySession.connect(workspace, MODE);
    const { resources } = (await host.request('resources/list')).result as { resources: { uri: string }[] };
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual([`waygate://server/alpha/${README}`, `waygate://server/beta/${README}`]);
    for (const [i, name] of ['alpha', 'beta'].entries()) {
      const uri = uris[i] as string;
      expect((await read(host, uri)).result).toMatchObject({ contents: [{ uri, text: `${README} of ${name}` }] });
    }
  });

  it('need no running server', async () => {
    const { workspace, asked } = two();
    await GatewaySession.connect(workspace, MODE).then((host) => host.request('resources/list'));
    await stopGateway(workspace);
    const host = await GatewaySession.connect(workspace, MODE);
    const before = asked('initialize');
    for (const [method, key] of LISTS) expect((await host.request(method)).result?.[key]).toHaveLength(2);
    expect(asked('initialize')).toBe(before);
    expect((await status(workspace)).servers.map(({ pid }) => pid)).toEqual([undefined, undefined]);
  });

  it('are renewed when a server announces a change, and then announced to the client', async () => {
    const { workspace } = two();
    const host = await GatewaySession.connect(workspace, MODE);
    await host.request('tools/call', { name: 'alpha__change', arguments: { list: 'resources', add: 'fresh' } });
    await until('the new list', async () => {
      const listed = (await host.request('resources/list')).result?.resources as { uri: string }[] | undefined;
      return listed?.some(({ uri }) => uri === 'note://alpha/fresh');
    });
    await until('the news', () =>
      host.notifications.some(({ method }) => method === 'notifications/resources/list_changed'),
    );
  });

  it('come in pages', async () => {
    const { workspace } = two('--many', '600');
    const host = await GatewaySession.connect(workspace, MODE);
    const uris: string[] = [];
    let cursor: unknown;
    do {
      const { result } = await host.request('resources/list', cursor === undefined ? {} : { cursor });
      const listed = result?.resources as { uri: string }[] | undefined;
      uris.push(...(listed ?? []).map(({ uri }) => uri));
      cursor = result?.nextCursor;
    } while (cursor !== undefined);
    expect(new Set(uris).size).toBe(602);
    expect(uris).toHaveLength(602);
  });
});

describe.each([
  ['one server', { one: servers.primitives() }, 'greet'],
  ['several servers', { one: servers.primitives(), two: servers.fixture() }, 'one__greet'],
])('a read from %s', (_what, entries, prompt) => {
  const DENIES = { policy: { rules: [{ action: 'deny', metaTool: 'tool_view', reason: 'not today' }] } };

  it("is subject to the user's rules", async () => {
    const host = await GatewaySession.connect(configured(DENIES, entries), MODE);
    const ref = { type: 'ref/prompt', name: prompt };
    for (const { error } of [
      await read(host),
      await read(host, 'log://fixture/monday/error'),
      await greet(host, prompt),
      await host.request('resources/subscribe', { uri: README }),
      await host.request('completion/complete', { ref, argument: { name: 'who', value: 'a' } }),
      await host.request('completion/complete', {
        ref: { type: 'ref/resource', uri: 'log://fixture/{day}/{level}' },
        argument: { name: 'day', value: 'a' },
      }),
    ]) {
      expect(error).toMatchObject({ code: -32603, data: { error: 'POLICY_DENIED', retryable: false } });
      expect(error?.message).toContain('not today');
    }
    // An unlisted prompt does not bypass a rule.
    const unlisted = _what === 'one server' ? 'hidden' : 'one__hidden';
    expect((await greet(host, unlisted)).error).toMatchObject({ data: { error: 'POLICY_DENIED' } });
  });

  it('is matched to rules by name and server', async () => {
    const rules = [
      { action: 'deny', tool: 'greet' },
      { action: 'deny', server: 'two' },
    ];
    const host = await GatewaySession.connect(configured({ policy: { rules } }, entries), MODE);
    expect((await greet(host, prompt)).error).toMatchObject({ data: { error: 'POLICY_DENIED' } });
    expect((await read(host)).result).toMatchObject({ contents: [{ uri: README }] });
  });

  it('counts towards the quota, unless it is denied', async () => {
    const rateLimits = { tool_view: { maxCallsPerSession: 2 } };
    const workspace = configured(
      { rateLimits, ...{ policy: { rules: [{ action: 'deny', tool: 'README' }] } } },
      entries,
    );
    const host = await GatewaySession.connect(workspace, MODE);
    for (let i = 0; i < 3; i++) expect((await read(host)).error).toMatchObject({ data: { error: 'POLICY_DENIED' } });
    expect((await greet(host, prompt)).result).toBeDefined();
    expect((await read(host, 'log://fixture/monday/error')).result).toBeDefined();
    expect((await greet(host, prompt)).error).toMatchObject({ code: -32603, data: { error: 'RATE_LIMITED' } });
    // Another session has its own quota.
    expect((await greet(await GatewaySession.connect(workspace, MODE), prompt)).result).toBeDefined();
  });

  it('appears in telemetry by name, never by an address from a caller', async () => {
    const workspace = configured({}, entries);
    const host = await GatewaySession.connect(workspace, MODE);
    await read(host);
    await read(host, 'note://secret-place/missing');
    await greet(host, prompt);
    const events = () => recordsOf(join(stateFolder(workspace), 'events.jsonl'));
    // The read of the prompt came last. Several servers have no event of a read that none of them got.
    const reads = await until('the event of the prompt', () => {
      const found = events().filter(({ event }) => String(event).startsWith('read.'));
      return String(found.at(-1)?.tool_id).startsWith('prompt::') && found;
    });
    expect(reads[0]).toMatchObject({
      event: 'read.completed',
      tool_id: expect.stringMatching(/^resource::one:README#/),
    });
    expect(reads.at(-1)).toMatchObject({
      event: 'read.completed',
      tool_id: expect.stringMatching(/^prompt::one:greet#/),
    });
    if (_what === 'one server') expect(reads.map(({ event }) => event)).toContain('read.failed');
    expect(JSON.stringify(events())).not.toContain('secret-place');
    const { stdout } = await waygate(workspace, ['telemetry', '--json']);
    const { methods } = JSON.parse(stdout) as { methods: { method: string; request_count: number }[] };
    expect(methods.find(({ method }) => method === 'prompt_get')).toMatchObject({ request_count: 1 });
  });
});
