import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GatewaySession } from '../support/gateway.ts';
import { type RpcMessage, type StreamClient, until, withoutFence } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { shared } from '../support/lifetime.ts';
import { events, McpHttpClient } from '../support/mcpHttp.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Covers requests of a server, which go to the session whose call is running and never to another (M6.1). */

const MODE = ['--mode', 'passthrough'];
const ELICITATION = { elicitation: { form: {}, url: {} } };
const ACCEPTED = { action: 'accept', content: { username: 'ada', email: 'ada@example.test' } };

const textOf = ({ result }: RpcMessage): string =>
  withoutFence((result?.content as { text: string }[] | undefined)?.[0]?.text ?? '');
const call = (host: StreamClient, name: string, args: object = {}, more: object = {}): Promise<RpcMessage> =>
  host.request('tools/call', { name, arguments: args, ...more });
const elicit = (host: StreamClient): Promise<RpcMessage> => call(host, 'test_elicitation', { message: 'Who are you?' });

/** Starts one gateway for all tests that leave no call running. */
async function started(entries: Record<string, unknown>): Promise<TestWorkspace> {
  const workspace = testWorkspace(entries);
  await GatewaySession.connect(workspace);
  return workspace;
}

const conformance = shared(() => started({ fixture: servers.conformance }));
const primitives = shared(() => started({ one: servers.primitives('--prompt', 'ask-first') }));

/**
 * Connects a client whose call keeps running. The gateway must be the test's own: the worker may learn that the client
 * has left only while the next test asks.
 */
async function waiting(workspace: TestWorkspace, capabilities: object = ELICITATION): Promise<StreamClient> {
  const host = await GatewaySession.connect(workspace, MODE, capabilities);
  void host.request('tools/call', { name: 'test_wait', arguments: {} }, 'waiting');
  await call(host, 'test_simple_text');
  return host;
}

describe('a request of a server', () => {
  it('reaches the client of the call, and the answer reaches the server', async () => {
    const host = await GatewaySession.connect(conformance(), MODE, ELICITATION);
    host.answer('elicitation/create', () => ACCEPTED);
    expect(textOf(await elicit(host))).toBe(
      `Elicitation completed: action=accept, content=${JSON.stringify(ACCEPTED.content)}`,
    );
    expect(host.asked).toEqual([
      expect.objectContaining({
        method: 'elicitation/create',
        params: expect.objectContaining({ mode: 'form', message: 'Server "fixture" asks: Who are you?' }),
      }),
    ]);
  });

  it('reaches the client of the call in gateway mode too', async () => {
    const host = await GatewaySession.connect(conformance(), [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    const id = await host.toolId('/fixture/test_elicitation');
    const answer = await host.call('tool_execute', { tool_id: id, args: { message: 'Who are you?' } });
    expect(answer.text).toContain('action=decline');
  });

  it.each([
    ['gateway', 'resources/read', { uri: 'ask://x' }, []],
    ['gateway', 'prompts/get', { name: 'ask-first' }, []],
    ['passthrough', 'resources/read', { uri: 'ask://x' }, MODE],
    ['passthrough', 'prompts/get', { name: 'ask-first' }, MODE],
  ])('reaches only the client that reads, in %s mode with %s', async (_mode, method, params, mode) => {
    const workspace = primitives();
    const idle = await GatewaySession.connect(workspace, mode, ELICITATION);
    await idle.request('resources/list');
    const host = await GatewaySession.connect(workspace, mode, ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    const { result } = await host.request(method, params);
    expect(JSON.stringify(result)).toContain('decline');
    expect(host.asked).toMatchObject([{ method: 'elicitation/create' }]);
    expect(idle.asked).toEqual([]);
  });

  it.each([
    ['resource_read', { resource_id: 'ask://x' }],
    ['prompt_get', { prompt_id: 'prompt::one:ask-first' }],
  ])('reaches the client whose model calls %s', async (tool, args) => {
    const workspace = primitives();
    const host = await GatewaySession.connect(workspace, [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    await until('the server', async () => ((await host.request('prompts/list')).result?.prompts as object[])?.length);
    const { structured } = await host.call('prompt_browse', { path: '/one/ask-first', render: 'json' });
    const [card] = (structured?.cards ?? []) as { id: string }[];
    const { text } = await host.call(tool, 'prompt_id' in args ? { prompt_id: card?.id, args: { who: 'ada' } } : args);
    expect(text).toContain('decline');
  });

  it('reaches only the session whose call is running', async () => {
    const workspace = conformance();
    const idle = await GatewaySession.connect(workspace, MODE, ELICITATION);
    await call(idle, 'test_simple_text');
    const host = await GatewaySession.connect(workspace, MODE, ELICITATION);
    host.answer('elicitation/create', () => ACCEPTED);
    expect(textOf(await elicit(host))).toContain('action=accept');
    expect(idle.asked).toEqual([]);
  });

  it('is refused if several sessions have running calls and its call is ambiguous', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const other = await waiting(workspace);
    const host = await GatewaySession.connect(workspace, MODE, ELICITATION);
    const { error } = await elicit(host);
    expect(error?.message).toMatch(/several clients have running calls at this server/);
    expect([...other.asked, ...host.asked]).toEqual([]);
    // Two calls of one session have the same client, so the request is unambiguous.
    other.answer('elicitation/create', () => ACCEPTED);
    expect(textOf(await elicit(other))).toContain('action=accept');
  });

  it('is matched to its session by its stream if the server is at a URL', async () => {
    const url = await HttpProcess.fixture().url();
    const workspace = testWorkspace({ fixture: { type: 'http', url } });
    const other = await waiting(workspace);
    const host = await GatewaySession.connect(workspace, MODE, ELICITATION);
    host.answer('elicitation/create', () => ACCEPTED);
    expect(textOf(await elicit(host))).toContain('action=accept');
    expect(other.asked).toEqual([]);
    await call(host, 'test_tool_with_logging');
    const logged = (one: StreamClient) =>
      one.notifications.filter(({ method }) => method === 'notifications/message').length;
    expect([logged(host), logged(other)]).toEqual([3, 0]);
  });

  it('is answered with an error if the client lacks the capability, and does not reach the client', async () => {
    const workspace = conformance();
    const without = await GatewaySession.connect(workspace, MODE);
    expect((await elicit(without)).error).toMatchObject({ code: -32601 });
    const formsOnly = await GatewaySession.connect(workspace, MODE, { elicitation: {} });
    expect((await call(formsOnly, 'test_url_elicitation')).error).toMatchObject({ code: -32602 });
    expect([...without.asked, ...formsOnly.asked]).toEqual([]);
  });

  it('is cancelled at the client if its call is cancelled', async () => {
    const host = await GatewaySession.connect(conformance(), MODE, ELICITATION);
    void host.request('tools/call', { name: 'test_elicitation', arguments: { message: 'Who?' } }, 'asking');
    const question = await until('the question', () => host.asked[0]);
    host.notify('notifications/cancelled', { requestId: 'asking' });
    const cancelled = await until('its end', () =>
      host.notifications.find(({ method }) => method === 'notifications/cancelled'),
    );
    expect(cancelled.params).toMatchObject({ requestId: question.id });
  });

  it('may wait for the user longer than the time limit of the call', async () => {
    const workspace = testWorkspace();
    const settings = { timeouts: { default: 5 }, servers: { fixture: servers.conformance } };
    workspace.write('.vscode/waygate.json', JSON.stringify(settings));
    workspace.approve();
    const host = await GatewaySession.connect(workspace, MODE, ELICITATION);
    await call(host, 'test_simple_text');
    const answer = elicit(host);
    const { id } = await until('the question', () => host.asked[0]);
    // The user answers only after a later call has missed the same time limit.
    expect(textOf(await call(host, 'test_wait'))).toMatch(/^Error UPSTREAM_TIMEOUT/);
    host.write(JSON.stringify({ jsonrpc: '2.0', id, result: ACCEPTED }));
    expect(textOf(await answer)).toContain('action=accept');
  });

  it('by URL reports its completion only to the session that received it', async () => {
    const workspace = conformance();
    const other = await GatewaySession.connect(workspace, MODE, ELICITATION);
    const host = await GatewaySession.connect(workspace, MODE, ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept' }));
    expect(textOf(await call(host, 'test_url_elicitation'))).toBe('URL elicitation: accept');
    const complete = (one: StreamClient) => one.notifications.filter(({ method }) => method?.endsWith('/complete'));
    const [completed] = await until('the completion', () => complete(host).length > 0 && complete(host));
    expect(completed?.params).toEqual({ elicitationId: host.asked[0]?.params?.elicitationId });
    expect(complete(other)).toEqual([]);
  });

  it('for sampling reaches the client if its entry allows that', async () => {
    const workspace = testWorkspace({ fixture: { ...servers.conformance, sampling: true } });
    const host = await GatewaySession.connect(workspace, MODE, { sampling: {} });
    host.answer('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'hello' },
      model: 'm',
    }));
    expect(textOf(await call(host, 'test_sampling', { prompt: 'Say hello' }))).toBe('LLM response: hello');
    const without = await GatewaySession.connect(workspace, MODE);
    expect((await call(without, 'test_sampling', { prompt: 'Say hello' })).error).toMatchObject({ code: -32601 });
  });

  it('has progress and cancellation translated to the token and the id of the receiver', async () => {
    const workspace = testWorkspace();
    const log = join(workspace.folder, 'messages');
    workspace.configure({ one: { ...servers.fixture('--wild', '--log', log), sampling: true } });
    const host = await GatewaySession.connect(workspace, MODE, { sampling: {} });
    const asks = (id: string, meta: object) => {
      const params = { messages: [], maxTokens: 1, _meta: meta };
      return { frame: JSON.stringify({ jsonrpc: '2.0', id, method: 'sampling/createMessage', params }) };
    };
    host.answer('sampling/createMessage', ({ _meta }) => {
      const { progressToken } = _meta as { progressToken: number };
      if (host.asked.length > 1) return new Promise<object>(() => undefined);
      host.notify('notifications/progress', { progressToken, progress: 1, message: 'thinking' });
      return { role: 'assistant', content: { type: 'text', text: 'x' }, model: 'm' };
    });
    void call(host, 'raw', asks('theirs-1', { progressToken: 'their token', traceparent: 't' }));
    const messages = () => readFileSync(log, 'utf8').split('\n');
    const has = (...parts: string[]) => messages().some((line) => parts.every((part) => line.includes(part)));
    await until('the answer', () => has('"id":"theirs-1"', '"result"'));
    expect(has('notifications/progress', '"progressToken":"their token"')).toBe(true);
    expect(has('thinking')).toBe(false);
    expect(host.asked[0]?.params?._meta).toEqual({ traceparent: 't', progressToken: expect.any(Number) });

    void call(host, 'raw', asks('theirs-2', { progressToken: 'other' }));
    const question = await until('the question', () => host.asked[1]);
    const cancels = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'theirs-2' } };
    void call(host, 'raw', { frame: JSON.stringify(cancels) });
    const cancelled = await until('its end', () =>
      host.notifications.find(({ method }) => method === 'notifications/cancelled'),
    );
    expect(cancelled.params).toMatchObject({ requestId: question.id });
  });

  it('for roots is answered by the client of the call, and never by another', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const own = [{ uri: 'file:///elsewhere', name: 'elsewhere' }];
    const host = await GatewaySession.connect(workspace, MODE, { roots: {} });
    host.answer('roots/list', () => ({ roots: own }));
    expect(textOf(await call(host, 'test_roots'))).toBe(JSON.stringify(own));
    const without = await GatewaySession.connect(workspace, MODE);
    expect(textOf(await call(without, 'test_roots'))).toBe('[]');
  });

  it('for roots has those of all clients while several have calls there', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const host = await GatewaySession.connect(workspace, MODE, { roots: {} });
    host.answer('roots/list', () => ({ roots: [{ uri: 'file:///a' }, { uri: 'file:///b' }] }));
    const other = await waiting(workspace, { roots: {} });
    other.answer('roots/list', () => ({ roots: [{ uri: 'file:///b' }, { uri: 'file:///c' }] }));
    expect(textOf(await call(host, 'test_roots')).match(/file:[/a-c]+/g)).toEqual([
      'file:///a',
      'file:///b',
      'file:///c',
    ]);
  });

  it('for roots is no capability of a client without roots, unless the configuration names them', async () => {
    const workspace = testWorkspace();
    const entry = { ...servers.conformance, roots: ['data', '$' + '{userHome}', 'file:///elsewhere'] };
    workspace.configure({ fixture: servers.conformance, named: entry });
    const host = await GatewaySession.connect(workspace);
    const run = async (path: string) =>
      (await host.call('tool_execute', { tool_id: await host.toolId(path), args: {} })).text;
    expect(await run('/fixture/test_roots')).toContain('this client has no roots');
    const named = await run('/named/test_roots');
    expect(named.match(/"uri": ?"[^"]+"/g)).toEqual([
      expect.stringContaining(pathToFileURL(join(workspace.folder, 'data')).href),
      expect.stringContaining(pathToFileURL(homedir()).href),
      expect.stringContaining('file:///elsewhere'),
    ]);
  });

  it("passes the client's own error to the server", async () => {
    const host = await GatewaySession.connect(conformance(), MODE, ELICITATION);
    const answer = elicit(host);
    const { id } = await until('the question', () => host.asked[0]);
    host.write(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message: 'User rejected it' } }));
    expect((await answer).error).toMatchObject({ code: -1, message: expect.stringContaining('User rejected it') });
  });
});

describe('a change of roots', () => {
  it('is forwarded to the running servers', async () => {
    const workspace = testWorkspace();
    const log = join(workspace.folder, 'messages');
    workspace.configure({ one: servers.fixture('--log', log) });
    const host = await GatewaySession.connect(workspace, [], { roots: { listChanged: true } });
    await host.toolId('/one/echo');
    host.notify('notifications/roots/list_changed');
    await until('the notification', () => readFileSync(log, 'utf8').includes('notifications/roots/list_changed'));
    const initialize = JSON.parse(readFileSync(log, 'utf8').split('\n')[0] as string) as RpcMessage;
    expect(initialize.params?.capabilities).toEqual({
      elicitation: { form: {}, url: {} },
      roots: { listChanged: true },
    });
  });
});

describe('a log message of a server', () => {
  const logged = (host: StreamClient) =>
    host.notifications.filter(({ method }) => method === 'notifications/message').map(({ params }) => params?.data);

  it('reaches only the session of its call, also in gateway mode', async () => {
    const workspace = conformance();
    const other = await GatewaySession.connect(workspace, MODE);
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/fixture/test_tool_with_logging');
    await host.call('tool_execute', { tool_id: id, args: {} });
    expect(logged(host)).toEqual(['Tool execution started', 'Tool processing data', 'Tool execution completed']);
    expect(logged(other)).toEqual([]);
  });

  it('is filtered by the level of each session', async () => {
    const workspace = conformance();
    const terse = await GatewaySession.connect(workspace, MODE);
    const host = await GatewaySession.connect(workspace, MODE);
    await call(terse, 'test_simple_text');
    expect((await terse.request('logging/setLevel', { level: 'error' })).result).toEqual({});
    await host.request('logging/setLevel', { level: 'debug' });
    await call(terse, 'test_tool_with_logging');
    await call(host, 'test_tool_with_logging');
    expect([logged(terse).length, logged(host).length]).toEqual([0, 3]);
    expect((await host.request('logging/setLevel', { level: 'loud' })).error).toMatchObject({ code: -32602 });
  });
});

describe('over HTTP', () => {
  it('a request of a server arrives on the stream of its call', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const url = await HttpProcess.waygate(workspace, ['--no-token', ...MODE]).url();
    const client = await McpHttpClient.connect(url, { capabilities: ELICITATION });
    const stream = await client.post({
      id: 'asking',
      method: 'tools/call',
      params: { name: 'test_elicitation', arguments: { message: 'Who?' } },
    });
    const seen: RpcMessage[] = [];
    for await (const { data } of events(stream)) {
      if (data === '') continue;
      const message = JSON.parse(data) as RpcMessage;
      seen.push(message);
      if (message.method === 'elicitation/create') await client.post({ id: message.id, result: ACCEPTED });
    }
    expect(seen.map(({ method, id }) => method ?? id)).toEqual(['elicitation/create', 'asking']);
  });
});
