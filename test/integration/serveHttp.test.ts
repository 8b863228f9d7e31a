import { chmodSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous, stateFolder, status, waygate } from '../support/census.ts';
import { type RpcMessage, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { events, McpHttpClient, messages } from '../support/mcpHttp.ts';
import { servers, type TestWorkspace, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Covers `waygate serve --http` with a real host, worker, servers and connections. */

interface Gateway {
  workspace: TestWorkspace;
  process: HttpProcess;
  url: string;
}

async function gateway(servers: Record<string, unknown>, more: object = {}, args = ['--no-token']): Promise<Gateway> {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...more, servers }));
  workspace.approve();
  const process = HttpProcess.waygate(workspace, args);
  return { workspace, process, url: await process.url() };
}

const call = (name: string, args: object, more: object = {}) => ({ name, arguments: args, ...more });
const textOf = ({ result }: RpcMessage): string => (result?.content as { text: string }[] | undefined)?.[0]?.text ?? '';

async function toolReady(client: McpHttpClient, path: string): Promise<void> {
  await until(`a tool at ${path}`, async () => {
    const answer = await client.request('tools/call', call('tool_browse', { path, render: 'json' }));
    return JSON.stringify(answer.result?.structuredContent ?? '').includes('"kind":"tool"');
  });
}

describe('waygate serve --http', () => {
  it('prints only its URL and the path of its token file, and keeps the token', async () => {
    const workspace = testWorkspace({});
    const first = HttpProcess.waygate(workspace);
    const token = await first.token();
    expect(token).toMatch(/^[\w-]{43}$/);
    const file = await first.tokenFile();
    expect(dirname(file)).toBe(stateFolder(workspace));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const url = await first.url();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    expect((await new McpHttpClient(url).post({ id: 1, method: 'initialize', params: {} })).status).toBe(401);
    const client = await McpHttpClient.connect(url, {}, token);
    const { tools } = (await client.request('tools/list')).result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    expect(first.stdout).toBe('');
    expect(first.stderr).toBe(`waygate: serves ${url}\nwaygate: its bearer token is in ${file}\n`);
    expect(await HttpProcess.waygate(workspace).token()).toBe(token);
  });

  it('reads the token from --token-file, and requires none with --no-token', async () => {
    const workspace = testWorkspace({});
    const file = workspace.write('token.txt', 'a token-less line\n');
    chmodSync(file, 0o600);
    const refused = await waygate(workspace, ['serve', '--http', '--port', '0', '--token-file', file]);
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^waygate: the token file .* must hold one token of at least 32 [^\n]+\.\n$/),
    });
    const missing = await waygate(workspace, ['serve', '--http', '--token-file', `${file}.missing`]);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^waygate: the token file \S+\.missing does not exist\.\n$/),
    });
    const token = '9f2c81d07ab364e5f0183bc6d7e92a45';
    const refusal = async (text: string, mode = 0o600): Promise<string> => {
      workspace.write('token.txt', text);
      chmodSync(file, mode);
      return (await waygate(workspace, ['serve', '--http', '--port', '0', '--token-file', file])).stderr;
    };
    for (const guessable of [
      'a'.repeat(40),
      'ab'.repeat(20),
      '0123456789abcdefghijklmnopqrstuv',
      'my-Token1'.repeat(4),
    ]) {
      expect(await refusal(guessable), guessable).toMatch(/^waygate: the token in \S+ could be guessed; [^\n]+\.\n$/);
    }
    expect(await refusal(token.slice(1))).toContain('at least 32 visible');
    if (process.platform !== 'win32') {
      for (const [mode, verb] of [
        [0o644, 'read'],
        [0o640, 'read'],
        [0o602, 'write'],
      ] as const) {
        expect(await refusal(token, mode)).toMatch(
          new RegExp(`^waygate: the token file \\S+ is not used: other users may ${verb} it; [^\\n]+\\.\\n$`),
        );
      }
    }
    chmodSync(file, 0o600);
    const own = HttpProcess.waygate(workspace, ['--token-file', file]);
    const client = await McpHttpClient.connect(await own.url(), {}, token);
    expect(await client.request('ping')).toMatchObject({ result: {} });
    expect(own.stderr).not.toContain(token);
    const open = HttpProcess.waygate(workspace, ['--no-token']);
    expect(await (await McpHttpClient.connect(await open.url())).request('ping')).toMatchObject({ result: {} });
    expect(open.stderr).toContain('it requires no token');
  });

  it('reports that its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => taken.once('listening', done));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const answer = await waygate(testWorkspace({}), ['serve', '--http', '--port', String(port)]);
    expect(answer).toEqual({
      code: 1,
      stdout: '',
      stderr: `waygate: port ${port} is in use; choose another with --port, or any free port with --port 0.\n`,
    });
  });

  it('calls tools, and sends progress only on the stream of the call', async () => {
    const { url } = await gateway({ fixture: servers.conformance });
    const client = await McpHttpClient.connect(url);
    await toolReady(client, '/fixture');
    const listener = await client.get();
    const execute = call('tool_execute', { tool_id: 'fixture:test_tool_with_progress', args: {} });
    const exchanged = await client.exchange('tools/call', { ...execute, _meta: { progressToken: 'mine' } }, 'the call');
    const progress = exchanged.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map((message) => (message as { params?: object }).params)).toEqual(
      [0, 50, 100].map((at) => ({ progressToken: 'mine', progress: at, total: 100, message: `${at} of 100` })),
    );
    expect(textOf(exchanged.at(-1) as RpcMessage)).toContain('Progress completed');
    expect(JSON.stringify(exchanged)).not.toContain('waygateRelated');
    await client.delete();
    // Every stream announces changed lists; only the stream of the call has its progress.
    const received = await messages(listener);
    expect(received.filter(({ method }) => !method?.endsWith('/list_changed'))).toEqual([]);
  });

  it('asks for approval on the stream of the call', async () => {
    const policy = { rules: [{ action: 'require_approval', tool: 'test_simple_text' }] };
    const { url } = await gateway({ fixture: servers.conformance }, { policy });
    const client = await McpHttpClient.connect(url, { capabilities: { elicitation: { form: {} } } });
    await toolReady(client, '/fixture');
    const execute = call('tool_execute', { tool_id: 'fixture:test_simple_text', args: {} });
    const response = await client.post({ id: 'needs approval', method: 'tools/call', params: execute });
    const seen: RpcMessage[] = [];
    for await (const { data } of events(response)) {
      if (data === '') continue;
      const message = JSON.parse(data) as RpcMessage;
      seen.push(message);
      if (message.method === 'elicitation/create') {
        await client.post({ id: message.id, result: { action: 'accept', content: { remember: 'session' } } });
      }
    }
    expect(seen.map(({ method }) => method)).toEqual(['elicitation/create', undefined]);
    expect(textOf(seen[1] as RpcMessage)).toContain('This is a simple text response for testing.');
  });

  it('returns texts, errors, images, audio and embedded resources of tools', async () => {
    const { url } = await gateway({ fixture: servers.conformance });
    const client = await McpHttpClient.connect(url);
    await toolReady(client, '/fixture');
    const run = async (tool: string) => {
      const answer = await client.request('tools/call', call('tool_execute', { tool_id: `fixture:${tool}`, args: {} }));
      return answer.result as {
        content: { type: string; text?: string; data?: string; mimeType?: string }[];
        isError: boolean;
      };
    };
    expect(textOf({ result: await run('test_simple_text') })).toContain('This is a simple text response for testing.');
    expect(await run('test_error_handling')).toMatchObject({
      isError: true,
      content: [
        { type: 'text', text: expect.stringContaining('This tool intentionally returns an error for testing') },
      ],
    });
    const image = { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) };
    expect((await run('test_image_content')).content).toContainEqual(image);
    expect((await run('test_audio_content')).content).toContainEqual({
      type: 'audio',
      mimeType: 'audio/wav',
      data: expect.stringMatching(/^UklGR/),
    });
    expect((await run('test_embedded_resource')).content[0]?.text).toContain('This is an embedded resource content.');
    const { content } = await run('test_multiple_content_types');
    expect(content).toContainEqual(image);
    expect(content[0]?.text).toContain('Multiple content types test:');
    expect(content[0]?.text).toContain('"value"');
  });

  it('serves every client as a separate session over one worker, and removes a session that ends', async () => {
    const { workspace, url } = await gateway({ one: servers.fixture() });
    const clients = await Promise.all([1, 2, 3].map(() => McpHttpClient.connect(url)));
    await Promise.all(clients.map((client) => client.request('tools/list')));
    expect((await status(workspace)).sessions).toHaveLength(3);
    await clients[0]?.delete();
    await until('one to be gone', async () => (await status(workspace)).sessions.length === 2);
  });

  it('keeps its sessions if the worker is killed, and answers a running call on its own stream', async () => {
    const log = join(temporaryFolder('waygate-log-'), 'received.jsonl');
    const { workspace, url, process: host } = await gateway({ one: servers.fixture('--log', log) });
    const client = await McpHttpClient.connect(url);
    await toolReady(client, '/one');
    const listener = await client.get();
    const execute = call('tool_execute', { tool_id: 'one:wait', args: { ms: 60_000 } });
    const lost = await client.post({ id: 'lost', method: 'tools/call', params: execute });
    const worker = rendezvous(workspace)?.pid as number;
    await until('the call to run', () => readFileSync(log, 'utf8').includes('tools/call'));
    process.kill(worker, 'SIGKILL');
    const [answer] = (await messages(lost)).slice(-1);
    expect(answer).toMatchObject({ id: 'lost', result: { isError: true } });
    expect(textOf(answer as RpcMessage)).toContain('outcome: unknown');
    await toolReady(client, '/one');
    const echo = call('tool_execute', { tool_id: 'one:echo', args: { text: 'still here' } });
    expect(textOf(await client.request('tools/call', echo))).toContain('still here');
    expect(rendezvous(workspace)?.pid).not.toBe(worker);
    expect(host.child.exitCode).toBeNull();
    await client.delete();
    expect(await messages(listener)).toEqual([]);
  });

  it('finishes running calls before it exits on SIGTERM', async () => {
    const log = join(temporaryFolder('waygate-log-'), 'received.jsonl');
    const { url, process: host } = await gateway({ one: servers.fixture('--log', log) });
    const client = await McpHttpClient.connect(url);
    await toolReady(client, '/one');
    const execute = call('tool_execute', { tool_id: 'one:wait', args: { ms: 200 } });
    const running = await client.post({ id: 'last', method: 'tools/call', params: execute });
    await until('the call to run', () => readFileSync(log, 'utf8').includes('tools/call'));
    host.child.kill('SIGTERM');
    expect((await messages(running)).at(-1)).toMatchObject({
      id: 'last',
      result: { content: [{ text: expect.stringContaining('waited 200 ms') }] },
    });
    expect(await host.exited).toBe(0);
    expect(host.stdout).toBe('');
  });
});
