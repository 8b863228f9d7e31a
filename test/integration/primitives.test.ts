import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rendezvous, startHeld } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

type Json = Record<string, unknown>;

async function result(host: StreamClient, method: string, params: Json = {}): Promise<Json> {
  const { result, error } = await host.request(method, params);
  if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

/** Resources of the gateway itself, which these tests leave out. */
const OWN = new Set<unknown>(['waygate://health', 'waygate://telemetry']);

async function listed<T = Json>(host: StreamClient, method: string, key: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: unknown;
  do {
    const page = await result(host, method, cursor === undefined ? {} : { cursor });
    items.push(...(page[key] as T[]).filter((item) => !OWN.has((item as Json).uri)));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

/** Repeats the list until it has `count` items, because servers may still be starting. */
const whenListed = (host: StreamClient, method: string, key: string, count: number) =>
  until(`${count} of ${method}`, async () => {
    const items = await listed(host, method, key);
    return items.length >= count ? items : undefined;
  });

const heard = (host: StreamClient, method: string): Json[] =>
  host.lines
    .map((line) => JSON.parse(line) as { method?: string; params?: Json })
    .filter((message) => message.method === method)
    .map(({ params = {} }) => params);

const idOf = (text: string, part: string): string =>
  text.match(new RegExp(`(?:resource|prompt)::\\S*${part}\\S*`))?.[0] ?? 'none';

describe('a real server with resources and prompts', () => {
  it('has tools of its own for a client that does not show them itself, which an edit takes away', async () => {
    const workspace = testWorkspace({ everything: servers.everything });
    const plain = await HostProcess.connect(workspace);
    await whenListed(plain, 'resources/list', 'resources', 7);
    const editor = new HostProcess(workspace);
    await editor.initialize({ clientInfo: { name: 'Visual Studio Code', version: '1.139.1' } });
    const count = async (host: StreamClient) => (await listed(host, 'tools/list', 'tools')).length;
    expect([await count(plain), await count(editor)]).toEqual([7, 3]);

    const before = heard(plain, 'notifications/tools/list_changed').length;
    writeFileSync(workspace.userConfigFile, JSON.stringify({ primitives: 'off' }));
    await until('the edit', async () => (await count(plain)) === 3);
    expect(await count(editor)).toBe(3);
    await until('the news', () => heard(plain, 'notifications/tools/list_changed').length > before);
  });

  it('is browsed and read with tools by the model, and with the methods of MCP by the client', async () => {
    const workspace = testWorkspace({ everything: servers.everything });
    const host = await GatewaySession.connect(workspace);
    await whenListed(host, 'resources/list', 'resources', 7);
    const names = (await listed<{ name: string }>(host, 'tools/list', 'tools')).map(({ name }) => name);
    expect(names).toEqual([
      'tool_browse',
      'tool_execute',
      'tool_view',
      'resource_browse',
      'resource_read',
      'prompt_browse',
      'prompt_get',
    ]);
    const found = await host.call('resource_browse', { query: 'structure' });
    const read = await host.call('resource_read', { resource_id: idOf(found.text, 'structure') });
    // The text is too long for an answer, so this is a digest.
    expect(read.text).toMatch(/^ok\nText, /);
    const handle = read.text.match(/text:resource::\S+?:[0-9a-f]{16}/)?.[0] as string;
    const more = await host.call('tool_view', { handle, selector: { type: 'lines', start: 0, end: 1 } });
    expect(more.text).toContain('# Everything Server');

    const templates = await host.call('resource_browse', { query: 'dynamic text resource template' });
    const template = idOf(templates.text, 'Dynamic_Text');
    expect(templates.text).toContain('demo://resource/dynamic/text/{resourceId}');
    expect((await host.call('resource_read', { resource_id: template })).text).toMatch(
      /^Error ARGS_INVALID: This is a template: replace resourceId/,
    );
    const filled = await host.call('resource_read', { resource_id: 'demo://resource/dynamic/text/7' });
    expect(filled.text).toContain('Resource 7: This is a plaintext resource');

    const prompts = await host.call('prompt_browse', { path: '/everything' });
    const prompt = idOf(prompts.text, 'args-prompt');
    expect((await host.call('tool_view', { handle: `schema:${prompt}`, selector: {} })).text).toContain(
      '- city: string (required)',
    );
    expect((await host.call('prompt_get', { prompt_id: prompt, args: {} })).text).toMatch(/^Error ARGS_INVALID.*city/);
    const got = await host.call('prompt_get', { prompt_id: prompt, args: { city: 'Ulm', state: 'BW' } });
    expect(got.text).toMatch(/^ok\n\[user\] What's weather in Ulm, BW\?/);

    const first = (await listed<{ uri: string; name: string }>(host, 'resources/list', 'resources'))[0];
    const { contents } = await result(host, 'resources/read', { uri: first?.uri });
    expect(contents).toMatchObject([{ uri: first?.uri, text: expect.any(String) }]);
    expect(await result(host, 'prompts/get', { name: 'simple-prompt' })).toMatchObject({
      messages: [{ role: 'user' }],
    });
    const completion = await result(host, 'completion/complete', {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'E' },
    });
    expect(completion).toMatchObject({ completion: { values: ['Engineering'] } });
    const ofTemplate = await result(host, 'completion/complete', {
      ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      argument: { name: 'resourceId', value: '3' },
    });
    expect(ofTemplate).toMatchObject({ completion: { values: ['3'] } });
  });
});

describe('a gateway without resources and prompts', () => {
  it('has only its three tools, lists no items of servers, and announces the first ones', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/one/echo');
    expect(await listed(host, 'tools/list', 'tools')).toHaveLength(3);
    expect(await listed(host, 'resources/list', 'resources')).toEqual([]);
    expect((await result(host, 'resources/list')).resources).toMatchObject([...OWN].map((uri) => ({ uri })));
    expect(await result(host, 'resources/read', { uri: 'waygate://health' })).toMatchObject({
      contents: [{ uri: 'waygate://health', mimeType: 'text/plain', text: expect.stringContaining('one') }],
    });
    expect(await result(host, 'resources/templates/list')).toEqual({ resourceTemplates: [] });
    expect(await result(host, 'prompts/list')).toEqual({ prompts: [] });
    workspace.configure({ one: servers.fixture(), two: servers.primitives() });
    for (const kind of ['tools', 'resources', 'prompts']) {
      await until(`news of ${kind}`, () => heard(host, `notifications/${kind}/list_changed`).length > 0);
    }
    expect(await listed(host, 'tools/list', 'tools')).toHaveLength(7);
  });
});

describe('two servers with the same resource address and prompt name', () => {
  it('keep both under prefixed names, and each read reaches the right server', async () => {
    const workspace = testWorkspace({
      alpha: servers.primitives('--name', 'alpha'),
      beta: servers.primitives('--name', 'beta'),
    });
    const host = await GatewaySession.connect(workspace);
    const resources = await whenListed(host, 'resources/list', 'resources', 2);
    expect(resources.map(({ uri, _meta }) => [uri, _meta])).toEqual([
      ['waygate://server/alpha/file:///shared/readme.md', { from: 'alpha' }],
      ['waygate://server/beta/file:///shared/readme.md', { from: 'beta' }],
    ]);
    const uri = 'waygate://server/beta/file:///shared/readme.md';
    expect(await result(host, 'resources/read', { uri })).toEqual({
      contents: [{ uri, mimeType: 'text/plain', text: 'file:///shared/readme.md of beta' }],
      _meta: { from: 'beta' },
    });
    const { error } = await host.request('resources/read', { uri: 'file:///shared/readme.md' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(uri) });
    const prompts = await whenListed(host, 'prompts/list', 'prompts', 2);
    expect(prompts.map(({ name }) => name)).toEqual(['alpha.greet', 'beta.greet']);
    const got = await result(host, 'prompts/get', { name: 'beta.greet', arguments: { who: 'Ada' } });
    expect(got).toMatchObject({ messages: [{ content: { text: 'greet: greet Ada, plain, says beta' } }] });
    const { text } = await host.call('resource_browse', { query: 'how it is built and deployed' });
    const read = await host.call('resource_read', { resource_id: idOf(text, 'alpha:README') });
    expect(read.text).toBe('ok\nfile:///shared/readme.md of alpha\n');
  });

  it('are asked for an unlisted resource if a result of theirs links to it', async () => {
    const workspace = testWorkspace({
      alpha: servers.primitives('--name', 'alpha'),
      beta: servers.primitives('--name', 'beta'),
    });
    const host = await GatewaySession.connect(workspace);
    // While only one server is up, the address would match the template of that server.
    await whenListed(host, 'resources/list', 'resources', 2);
    const id = await host.toolId('/beta/link');
    const uri = 'record://7';
    expect((await host.request('resources/read', { uri })).error).toMatchObject({ code: -32002 });
    await host.call('tool_execute', { tool_id: id, args: { uri } });
    expect(await result(host, 'resources/read', { uri })).toMatchObject({ contents: [{ text: 'record://7 of beta' }] });
    // The server's own error is passed on unchanged.
    await host.call('tool_execute', { tool_id: id, args: { uri: 'record://missing' } });
    const { error } = await host.request('resources/read', { uri: 'record://missing' });
    expect(error).toMatchObject({ code: -32002, message: 'Resource not found' });
  });
});

describe('a subscription', () => {
  it('sends one update per change to its sessions only, until it ends', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.primitives('--log', log) });
    const asked = (line: string) =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((one) => one === line).length;
    const uri = 'file:///shared/readme.md';
    const [first, second, third] = [
      await HostProcess.connect(workspace),
      await HostProcess.connect(workspace),
      await HostProcess.connect(workspace),
    ];
    const touch = await first.toolId('/one/touch');
    await result(first, 'resources/subscribe', { uri });
    await result(second, 'resources/subscribe', { uri });
    expect(asked(`resources/subscribe ${uri}`)).toBe(1);
    await third.call('tool_execute', { tool_id: touch, args: { uri } });
    for (const host of [first, second]) {
      await until('the update', () => heard(host, 'notifications/resources/updated').length === 1);
      expect(heard(host, 'notifications/resources/updated')).toEqual([{ uri }]);
    }
    await result(second, 'resources/unsubscribe', { uri });
    expect(asked(`resources/unsubscribe ${uri}`)).toBe(0);
    await third.call('tool_execute', { tool_id: touch, args: { uri } });
    await until('the second update', () => heard(first, 'notifications/resources/updated').length === 2);
    expect(heard(second, 'notifications/resources/updated')).toHaveLength(1);
    expect(heard(third, 'notifications/resources/updated')).toHaveLength(0);
    first.end();
    await first.exited;
    await until('the end of the last', () => asked(`resources/unsubscribe ${uri}`) === 1);
  });

  it('is renewed after a restart of the server, and sends an update for what may have been missed', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('log.txt', '');
    workspace.configure({ one: servers.primitives('--log', log) });
    const host = await GatewaySession.connect(workspace);
    const uri = 'file:///shared/readme.md';
    const crash = await host.toolId('/one/crash');
    const touch = await host.toolId('/one/touch');
    await result(host, 'resources/subscribe', { uri });
    await host.call('tool_execute', { tool_id: crash, args: {} });
    await host.call('tool_execute', { tool_id: touch, args: { uri: 'note://other' } });
    await until('the second subscription', () => readFileSync(log, 'utf8').split('resources/subscribe').length === 3);
    await until('the update', () => heard(host, 'notifications/resources/updated').length === 1);
    expect(heard(host, 'notifications/resources/updated')).toEqual([{ uri }]);
  });

  it('survives the loss of the worker', async () => {
    const workspace = testWorkspace({ one: servers.primitives() });
    const host = await HostProcess.connect(workspace);
    const uri = 'file:///shared/readme.md';
    const touch = await host.toolId('/one/touch');
    await result(host, 'resources/subscribe', { uri });
    await result(host, 'resources/subscribe', { uri: 'note://ended' });
    await result(host, 'resources/unsubscribe', { uri: 'note://ended' });
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await until('the update of the new worker', () => heard(host, 'notifications/resources/updated').length === 1);
    await host.call('tool_execute', { tool_id: touch, args: { uri } });
    await until('the update', () => heard(host, 'notifications/resources/updated').length === 2);
    await host.call('tool_execute', { tool_id: touch, args: { uri: 'note://ended' } });
    await host.call('tool_execute', { tool_id: touch, args: { uri } });
    await until('the next update', () => heard(host, 'notifications/resources/updated').length === 3);
    expect(heard(host, 'notifications/resources/updated')).toEqual([{ uri }, { uri }, { uri }]);
    // Answers to the host's own requests do not reach the client.
    expect(host.lines.filter((line) => line.includes(':subscribe:'))).toEqual([]);
  });

  it('is refused if the server does not support it', async () => {
    const workspace = testWorkspace({ one: servers.primitives('--no-subscribe') });
    const host = await GatewaySession.connect(workspace);
    await whenListed(host, 'resources/list', 'resources', 1);
    const { error } = await host.request('resources/subscribe', { uri: 'file:///shared/readme.md' });
    expect(error).toEqual({ code: -32601, message: 'one does not support subscriptions to resources.' });
  });
});

describe('lists that change', () => {
  it('are announced to every session twice at most, however many changes a server announces', async () => {
    const workspace = testWorkspace();
    const { flags, letGo } = startHeld(workspace);
    workspace.configure({ one: servers.primitives(...flags) });
    const hosts = [await GatewaySession.connect(workspace), await GatewaySession.connect(workspace)];
    await letGo(2);
    const [host] = hosts as [GatewaySession];
    await whenListed(host, 'resources/list', 'resources', 1);
    const change = await host.toolId('/one/change');
    const news = (one: StreamClient) => heard(one, 'notifications/resources/list_changed').length;
    await until('the first news', () => hosts.every((one) => news(one) > 0));
    const before = hosts.map(news);
    await host.call('tool_execute', { tool_id: change, args: { list: 'resources', add: 'fresh', times: 500 } });
    await whenListed(host, 'resources/list', 'resources', 2);
    for (const [i, one] of hosts.entries()) {
      const announced = () => news(one) - (before[i] as number);
      await until('the news', () => announced() > 0);
      expect(announced()).toBeLessThanOrEqual(2);
    }
  });

  it('are served in their last known version while a server does not answer', async () => {
    const workspace = testWorkspace();
    workspace.configureChanging({ one: servers.primitives() });
    const host = await GatewaySession.connect(workspace);
    await whenListed(host, 'resources/list', 'resources', 1);
    const [hang, change] = [await host.toolId('/one/hang'), await host.toolId('/one/change')];
    await host.call('tool_execute', { tool_id: hang, args: { method: 'resources/list' } });
    await host.call('tool_execute', { tool_id: change, args: { list: 'resources', add: 'lost' } });
    await host.call('tool_execute', { tool_id: change, args: { list: 'prompts', add: 'found' } });
    await whenListed(host, 'prompts/list', 'prompts', 2);
    expect(await listed(host, 'resources/list', 'resources')).toHaveLength(1);
    expect((await host.call('resource_browse', { path: '/' })).text).toContain('/one');
  });
});

describe('a server that has never run', () => {
  it('delays requests for items that it may have until it is up', async () => {
    const workspace = testWorkspace({ one: servers.primitives('--start-delay', '700') });
    const host = await GatewaySession.connect(workspace);
    const [read, got, prompts, model] = await Promise.all([
      result(host, 'resources/read', { uri: 'file:///shared/readme.md' }),
      result(host, 'prompts/get', { name: 'greet' }),
      result(host, 'prompts/list'),
      host.call('resource_read', { resource_id: 'log://fixture/monday/error' }),
    ]);
    expect(read).toMatchObject({ contents: [{}] });
    expect(got).toMatchObject({ messages: [{}] });
    expect(prompts).toMatchObject({ prompts: [{ name: 'greet' }] });
    expect(model.text).toBe('ok\nlog://fixture/monday/error of fixture\n');
  });

  it('does not prevent the lists of other servers if it hangs', async () => {
    const workspace = testWorkspace({
      hangs: servers.primitives('--start-delay', '60000'),
      one: servers.primitives('--prompt', 'mine'),
    });
    const host = await GatewaySession.connect(workspace);
    // A list waits a few seconds for the hanging server. The other one may need as long to start.
    expect(await whenListed(host, 'prompts/list', 'prompts', 1)).toMatchObject([{ name: 'mine' }]);
  });
});

describe('a workspace with a known catalog', () => {
  it('lists resources and prompts without starting servers, and starts the server of a read', async () => {
    const workspace = testWorkspace({ one: servers.primitives() });
    const first = await HostProcess.connect(workspace);
    await whenListed(first, 'resources/list', 'resources', 1);
    await whenListed(first, 'prompts/list', 'prompts', 1);
    const pid = rendezvous(workspace)?.pid;
    first.end();
    await first.exited;
    await until('the worker to leave', () => rendezvous(workspace) === undefined);
    const host = await HostProcess.connect(workspace);
    expect(await listed(host, 'resources/list', 'resources')).toHaveLength(1);
    expect(await listed(host, 'tools/list', 'tools')).toHaveLength(7);
    expect(rendezvous(workspace)?.pid).not.toBe(pid);
    const read = await result(host, 'resources/read', { uri: 'log://fixture/monday/error' });
    expect(read).toMatchObject({ contents: [{ text: 'log://fixture/monday/error of fixture' }] });
  });
});
