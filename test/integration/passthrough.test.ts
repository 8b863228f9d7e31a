import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous, status } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { HostProcess, type RpcMessage, type StreamClient, until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

/** Covers passthrough mode (G5.10) with real processes and a client that writes its own messages. */

const MODE = ['--mode', 'passthrough'];

function configured(servers: Record<string, unknown>, more: object = {}): TestWorkspace {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...more, servers }));
  workspace.approve();
  return workspace;
}

const textOf = ({ result }: RpcMessage): string => (result?.content as { text: string }[] | undefined)?.[0]?.text ?? '';
const call = (host: StreamClient, name: string, args?: object, more: object = {}): Promise<RpcMessage> =>
  host.request('tools/call', { name, ...(args ? { arguments: args } : {}), ...more });

/** Returns the server's own answer, without a gateway between. */
async function direct(method: string): Promise<Record<string, unknown>> {
  const { command, args } = servers.conformance;
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'direct', version: '1' } };
  for (const message of [
    { id: 0, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 1, method },
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line) as RpcMessage;
    if (id === (method === 'initialize' ? 0 : 1) && result) return result;
  }
  throw new Error('it did not answer');
}

/** Opens a gateway for the tests that leave it and its server as they were. */
const conformance = shared(async () => {
  const workspace = testWorkspace({ fixture: servers.conformance });
  await GatewaySession.connect(workspace, MODE);
  return workspace;
});
const fixture = shared(async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  await GatewaySession.connect(workspace, MODE);
  return workspace;
});

describe('passthrough with one server', () => {
  it("masks secrets in results if the user's own file wants that always, whatever the workspace says", async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ mode: 'passthrough', passthrough: { firewall: false } }));
    // The token goes to the server and comes back.
    const trust = { egress: 'off' };
    const own = { servers: { one: servers.fixture() }, artifacts: { maskSecrets: 'always' }, trust };
    writeFileSync(workspace.userConfigFile, JSON.stringify(own));
    const host = new GatewaySession(workspace, MODE);
    await host.initialize();
    const token = `ghp_${'aB3dE6gH9j'.repeat(4).slice(0, 36)}`;
    const text = textOf(await call(host, 'echo', { text: `token ${token}` }));
    expect([text.includes('token'), text.includes(token)]).toEqual([true, false]);
  });

  it("has the server's capabilities and instructions, and returns its lists byte for byte", async () => {
    const host = new GatewaySession(conformance(), MODE);
    const { result } = await host.initialize();
    const own = await direct('initialize');
    expect(result).toMatchObject({ protocolVersion: '2025-11-25', serverInfo: { name: 'waygate' } });
    expect(result?.capabilities).toEqual(own.capabilities);
    expect(result?.instructions).toBe(own.instructions);
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      const answer = await host.request(method);
      expect(JSON.stringify(answer.result), method).toBe(JSON.stringify(await direct(method)));
    }
  });

  it("lists a malformed tool in a form that the SDK's client accepts", async () => {
    const workspace = testWorkspace({ fixture: servers.fixture('--odd-items') });
    const { env, folder } = workspace;
    const client = new Client({ name: 'sdk', version: '1' });
    onTestFinished(() => client.close());
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [WAYGATE, 'serve', '--workspace', folder, ...MODE],
        env: env as Record<string, string>,
        stderr: 'ignore',
      }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['odd', 'echo', 'wait', 'large', 'picture', 'fails', 'crash']);
    expect(tools[0]).toEqual({ name: 'odd', inputSchema: { type: 'object' } });
  });

  it('answers initialize as soon as the server is known, and a ping before', async () => {
    const host = new GatewaySession(testWorkspace({ slow: servers.fixture('--start-delay', '1500') }), MODE);
    const introduced = host.initialize();
    const first = await Promise.race([introduced.then(() => 'initialize'), host.request('ping').then(() => 'ping')]);
    expect(first).toBe('ping');
    expect((await introduced).result?.capabilities).toEqual({ tools: { listChanged: true } });
  });

  it('calls tools by their own names, also without arguments', async () => {
    const host = await GatewaySession.connect(conformance(), MODE);
    const answer = await call(host, 'test_simple_text');
    expect(answer.result).toEqual({
      content: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    });
  });

  it('forwards JSON-RPC errors of the server', async () => {
    const host = await GatewaySession.connect(conformance(), MODE);
    expect((await call(host, 'nothing_of_the_kind')).error).toMatchObject({ code: -32602 });
    const required = (await call(host, 'test_url_elicitation_required')).error;
    expect(required).toMatchObject({ code: -32042, data: { elicitations: [{ mode: 'url' }] } });
    const missing = (await host.request('resources/read', { uri: 'test://nowhere' })).error;
    expect(missing).toMatchObject({ code: -32002, data: { uri: 'test://nowhere' } });
    expect((await host.request('server/discover')).error).toMatchObject({ code: -32601 });
  });

  it('rewrites progress tokens in both directions', async () => {
    const host = await GatewaySession.connect(conformance(), MODE);
    const answer = await call(host, 'test_tool_with_progress', {}, { _meta: { progressToken: 'mine' } });
    const progress = host.notifications.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => [params?.progressToken, params?.progress])).toEqual([
      ['mine', 0],
      ['mine', 50],
      ['mine', 100],
    ]);
    expect(textOf(answer)).toMatch(/^Progress completed for token \d+$/);
  });

  it("keeps _meta and trace context in both directions, except for the client's progress token", async () => {
    const host = await GatewaySession.connect(conformance(), MODE);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const { result } = await call(
      host,
      'test_echo_meta',
      {},
      { _meta: { traceparent, progressToken: 'mine', 'a/b': 1 } },
    );
    expect(result?._meta).toMatchObject({ echoed: { traceparent, 'a/b': 1 } });
    expect(JSON.stringify(result)).not.toContain('mine');
  });

  it('forwards a cancellation to the server, and does not answer the call', async () => {
    const host = await GatewaySession.connect(testWorkspace({ fixture: servers.conformance }), MODE);
    void host.request('tools/call', { name: 'test_wait' }, 'waiting');
    // The server reads this call after the first one, so the first one runs when this is answered.
    await call(host, 'test_simple_text');
    host.notify('notifications/cancelled', { requestId: 'waiting', reason: 'enough' });
    await until('the cancellation', async () => textOf(await call(host, 'test_cancelled_count')) === '1');
    expect(host.lines.some((line) => line.includes('"id":"waiting"'))).toBe(false);
  });

  it('announces changed lists to all clients, and a changed resource only to its subscribers', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const [subscriber, other] = [
      await GatewaySession.connect(workspace, MODE),
      await GatewaySession.connect(workspace, MODE),
    ];
    const uri = 'test://watched-resource';
    expect((await subscriber.request('resources/subscribe', { uri })).result).toEqual({});
    await call(other, 'test_trigger_changes');
    const updated = (host: StreamClient) => host.notifications.filter(({ method }) => method?.endsWith('/updated'));
    const changed = (host: StreamClient) =>
      host.notifications.filter(({ method }) => method?.endsWith('/list_changed'));
    await until('the changes', () => updated(subscriber).length === 1 && changed(other).length >= 2);
    expect(updated(subscriber)[0]?.params).toEqual({ uri });
    expect(updated(other)).toEqual([]);
    await subscriber.request('resources/unsubscribe', { uri });
    expect(textOf(await call(other, 'test_trigger_changes'))).toBe('told of changes; subscribed: nothing');
  });

  it('applies the policy', async () => {
    const policy = { default: 'allow', rules: [{ action: 'deny', tool: 'test_simple_text', reason: 'not today' }] };
    const host = await GatewaySession.connect(configured({ fixture: servers.conformance }, { policy }), MODE);
    const denied = await call(host, 'test_simple_text');
    expect(denied.result).toMatchObject({ isError: true });
    expect(textOf(denied)).toMatch(/^Error POLICY_DENIED.*not today/s);
    expect((await call(host, 'test_image_content')).result).not.toHaveProperty('isError');
  });

  it('applies the quota', async () => {
    const rateLimits = { tool_execute: { maxCallsPerSession: 1 } };
    const host = await GatewaySession.connect(configured({ fixture: servers.conformance }, { rateLimits }), MODE);
    expect((await call(host, 'test_simple_text')).result).not.toHaveProperty('isError');
    expect(textOf(await call(host, 'test_simple_text'))).toMatch(/^Error RATE_LIMITED/);
  });

  it('forwards long results unchanged, or as digests if the firewall is on', async () => {
    const plain = await GatewaySession.connect(fixture(), MODE);
    expect(textOf(await call(plain, 'large', { lines: 1_000 }))).toHaveLength(
      Array.from({ length: 1_000 }, (_, i) => `line ${i}: ${'x'.repeat(60)}`).join('\n').length,
    );
    const workspace = configured({ one: servers.fixture() }, { passthrough: { firewall: true } });
    const walled = await GatewaySession.connect(workspace, MODE);
    const names = ((await walled.request('tools/list')).result as { tools: { name: string }[] }).tools.map(
      ({ name }) => name,
    );
    expect(names).toContain('tool_view');
    const digest = textOf(await call(walled, 'large', { lines: 1_000 }));
    expect(digest.length).toBeLessThan(8_000);
    const handle = /text:[^\s"',;)]+/.exec(digest)?.[0].replace(/[.]$/, '') as string;
    const more = await call(walled, 'tool_view', { handle, selector: { type: 'lines', start: 900, end: 901 } });
    expect(textOf(more)).toContain('line 900: ');
    // Short results are still forwarded unchanged.
    expect((await call(walled, 'echo', { text: 'hi' })).result).toEqual({ content: [{ type: 'text', text: 'hi' }] });
  });

  it('reports why a server is unavailable', async () => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture() } }));
    const host = new GatewaySession(workspace, MODE);
    const { result } = await host.initialize();
    expect(result?.instructions).toMatch(/^Needs approval: one/);
    expect((await host.request('tools/list')).result).toEqual({ tools: [] });
    expect((await call(host, 'echo', { text: 'x' })).error).toMatchObject({
      code: -32602,
      message: expect.stringMatching(
        /^Unknown tool: echo\. Needs approval: one \(ask the user: waygate approve one\)\.(?!\.)/,
      ),
    });
  });

  it('announces a list at most once a second, however often it changes', async () => {
    const host = await GatewaySession.connect(testWorkspace({ one: servers.fixture('--wild') }), MODE);
    const frame = '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}';
    const announced = () =>
      host.notifications.filter(({ method }) => method === 'notifications/prompts/list_changed').length;
    const began = performance.now();
    for (let i = 0; i < 15; i++) {
      void call(host, 'raw', { frame: Array(50).fill(frame).join('\n') });
      await call(host, 'wait', { ms: 100 });
    }
    await until('the announcement', () => announced() > 0);
    expect(announced()).toBeLessThanOrEqual(1 + (performance.now() - began) / 1_000);
  });

  it('reports a fault on the way to the server as a result', async () => {
    const host = await GatewaySession.connect(testWorkspace({ one: servers.fixture() }), MODE);
    const crashed = await call(host, 'crash');
    expect(crashed.result).toMatchObject({ isError: true });
    expect(textOf(crashed)).toMatch(/^Error UPSTREAM_UNAVAILABLE/);
    // The next call restarts the server.
    expect(textOf(await call(host, 'echo', { text: 'again' }))).toBe('again');
  });

  it('keeps working if the server is killed during a call', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const host = await GatewaySession.connect(workspace, MODE);
    await call(host, 'test_simple_text');
    const [server] = (await status(workspace)).servers;
    const waiting = call(host, 'test_wait');
    await call(host, 'test_simple_text');
    process.kill(server?.pid as number, 'SIGKILL');
    expect(textOf(await waiting)).toMatch(/^Error UPSTREAM_UNAVAILABLE.*may have taken effect/s);
    expect(textOf(await call(host, 'test_simple_text'))).toBe('This is a simple text response for testing.');
  });

  it('survives the loss of its worker, with the subscriptions and the log level of the client', async () => {
    const workspace = testWorkspace({ fixture: servers.conformance });
    const host = await HostProcess.connect(workspace, MODE);
    const uri = 'test://watched-resource';
    await host.request('resources/subscribe', { uri });
    await host.request('logging/setLevel', { level: 'error' });
    // A refused level changes nothing.
    expect((await host.request('logging/setLevel', { level: 'loud' })).error).toMatchObject({ code: -32602 });
    const waiting = call(host, 'test_wait');
    await call(host, 'test_simple_text');
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    expect(textOf(await waiting)).toMatch(/outcome: unknown/);
    expect((await host.request('tools/list')).result?.tools).toHaveLength(23);
    await call(host, 'test_tool_with_logging');
    await until('the subscription', async () => {
      await call(host, 'test_trigger_changes');
      return host.notifications.some(({ method }) => method === 'notifications/resources/updated');
    });
    expect(host.notifications.filter(({ method }) => method === 'notifications/message')).toEqual([]);
  });

  it('does not repeat a call because of its name', async () => {
    // A server's tool may have the name of a gateway tool that is repeated after the loss of a worker.
    const workspace = testWorkspace();
    const effects = join(workspace.folder, 'effects');
    workspace.configure({ one: servers.fixture('--waits-as', 'tool_browse', '--effects', effects) });
    const host = await HostProcess.connect(workspace, MODE);
    const waiting = call(host, 'tool_browse', { ms: 60_000, nonce: 'once' });
    await until('the effect', () => existsSync(effects));
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    expect(textOf(await waiting)).toMatch(/outcome: unknown/);
    expect(textOf(await call(host, 'echo', { text: 'x' }))).toBe('x');
    expect(readFileSync(effects, 'utf8')).toBe('once\n');
  });

  it('repeats a call if the configuration allows it', async () => {
    const workspace = testWorkspace();
    const effects = join(workspace.folder, 'effects');
    const one = servers.fixture('--effects', effects);
    workspace.configure({ one });
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one }, replay: { default: 'convergent' } }));
    const host = await HostProcess.connect(workspace, MODE);
    const waiting = call(host, 'wait', { until: workspace.gate, nonce: 'again' });
    await until('the effect', () => existsSync(effects));
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await until('the repetition', () => readFileSync(effects, 'utf8') === 'again\nagain\n');
    workspace.letGo();
    expect(textOf(await waiting)).toBe('waited until it was let go');
    expect(readFileSync(effects, 'utf8')).toBe('again\nagain\n');
  });
});

describe('passthrough with several servers', () => {
  it('prefixes names of tools and prompts with the server, and finds the server of a resource', async () => {
    const workspace = testWorkspace({ 'my server': servers.conformance, two: servers.fixture() });
    const host = new GatewaySession(workspace, MODE);
    const { result } = await host.initialize();
    expect(result?.instructions).toBe('# my-server__*\nA server of the tests; it has one of everything.');
    const names = async (method: string, key: string) =>
      ((await host.request(method)).result as Record<string, { name: string }[]>)[key]?.map(({ name }) => name);
    const tools = await names('tools/list', 'tools');
    expect(tools).toContain('my-server__test_simple_text');
    expect(tools).toContain('two__echo');
    expect(textOf(await call(host, 'two__echo', { text: 'here' }))).toBe('here');
    expect(textOf(await call(host, 'my-server__test_error_handling'))).toContain('intentionally');
    expect(await names('prompts/list', 'prompts')).toContain('my-server__test_simple_prompt');
    const prompt = await host.request('prompts/get', { name: 'my-server__test_simple_prompt' });
    expect(JSON.stringify(prompt.result)).toContain('This is a simple prompt for testing.');
    const read = async (uri: string) => JSON.stringify((await host.request('resources/read', { uri })).result);
    expect(await read('test://static-text')).toContain('static text resource');
    expect(await read('test://template/7/data')).toContain('Data for ID: 7');
    expect((await host.request('resources/read', { uri: 'other://x' })).error).toMatchObject({ code: -32002 });
    const completed = await host.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'my-server__test_prompt_with_arguments' },
      argument: { name: 'arg1', value: 'par' },
    });
    expect(completed.result).toMatchObject({ completion: { values: ['paris', 'park', 'party'] } });
  });
});

describe('the mode', () => {
  it('comes from the configuration, or from the command line', async () => {
    const workspace = configured({ one: servers.fixture() }, { mode: 'passthrough' });
    const names = async (host: StreamClient) =>
      ((await host.request('tools/list')).result as { tools: { name: string }[] }).tools.map(({ name }) => name);
    expect(await names(await GatewaySession.connect(workspace))).toContain('echo');
    // The modes share a worker.
    expect(await names(await GatewaySession.connect(workspace, ['--mode', 'gateway']))).toContain('tool_browse');
    expect((await status(workspace)).sessions).toHaveLength(2);
  });
});
