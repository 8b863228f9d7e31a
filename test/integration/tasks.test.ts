import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  TaskStatusNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous, status, waygate } from '../support/census.ts';
import { HostProcess, isAlive, type RpcMessage, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

/** Tasks of servers (D.2, 2025-11-25, Tasks): real hosts, workers and servers, our own client and the SDK's. */

const MODE = ['--mode', 'passthrough'];
const RELATED = 'io.modelcontextprotocol/related-task';
const ELICITATION = { elicitation: { form: {} } };

interface Task {
  taskId: string;
  status: string;
  statusMessage?: string;
  ttl: number | null;
}

const textOf = ({ result }: RpcMessage): string => (result?.content as { text: string }[] | undefined)?.[0]?.text ?? '';
const call = (host: HostProcess, name: string, args: object = {}, more: object = {}): Promise<RpcMessage> =>
  host.request('tools/call', { name, arguments: args, ...more });
const ask = (host: HostProcess, method: string, taskId: unknown, more: object = {}): Promise<RpcMessage> =>
  host.request(method, { taskId, ...more });
const listed = async (host: HostProcess): Promise<string[]> =>
  ((await host.request('tasks/list')).result?.tasks as Task[]).map(({ taskId }) => taskId);
const statuses = (host: HostProcess): string[] =>
  host.told.flatMap(({ method, params }) =>
    method === 'notifications/tasks/status' ? [`${params?.taskId} ${params?.status}`] : [],
  );

async function begin(host: HostProcess, name: string, args: object = {}, more: object = {}): Promise<Task> {
  const { result, error } = await call(host, name, args, { task: { ttl: 60_000 }, ...more });
  if (!result?.task) throw new Error(`no task: ${JSON.stringify(error ?? result)}`);
  return result.task as Task;
}

function configured(servers: Record<string, unknown>, more: object = {}): TestWorkspace {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...more, servers }));
  workspace.approve();
  return workspace;
}

/** What the server itself says of its tasks. */
async function atServer(host: HostProcess, name = 'tasks'): Promise<{ tasks: Task[]; counts: Record<string, number> }> {
  return JSON.parse(textOf(await call(host, name)));
}

async function sdkClient(transport: Transport, capabilities: object = {}): Promise<Client> {
  const client = new Client({ name: 'sdk', version: '1' }, { capabilities });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

function overStdio({ folder, env }: TestWorkspace): Transport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [WAYGATE, 'serve', '--workspace', folder, ...MODE],
    env: env as Record<string, string>,
    stderr: 'ignore',
  });
}

async function overHttp(workspace: TestWorkspace): Promise<Transport> {
  const served = HttpProcess.waygate(workspace, ['--no-token', ...MODE]);
  return new StreamableHTTPClientTransport(new URL(await served.url())) as Transport;
}

describe('tasks of one server', () => {
  it('are declared as the server declares them, and its tools keep what they say of them', async () => {
    const host = new HostProcess(testWorkspace({ one: servers.tasks() }), MODE);
    const { result } = await host.initialize();
    expect(result?.capabilities).toMatchObject({
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    });
    const { tools } = (await host.request('tools/list')).result as { tools: { name: string; execution?: object }[] };
    expect(Object.fromEntries(tools.map(({ name, execution }) => [name, execution]))).toMatchObject({
      work: { taskSupport: 'required' },
      may_work: { taskSupport: 'optional' },
      plain: { taskSupport: 'forbidden' },
      tasks: undefined,
    });
  });

  it('are not declared where the server has none, and mean nothing there', async () => {
    const host = new HostProcess(testWorkspace({ one: servers.fixture() }), MODE);
    expect((await host.initialize()).result?.capabilities).not.toHaveProperty('tasks');
    // A receiver without the capability takes the request for a plain one.
    expect(textOf(await call(host, 'echo', { text: 'hi' }, { task: {} }))).toBe('hi');
    expect((await host.request('tasks/list')).error).toMatchObject({ code: -32601 });
  });

  it('begin, are asked about, end and give their result, with everything that the server says of them', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks() }), MODE);
    const { result } = await call(host, 'work', { ms: 300, text: 'worked', nonce: 'n' }, { task: { ttl: 30_000 } });
    expect(result).toMatchObject({ _meta: { 'example/begun': 'n' } });
    const task = result?.task as Task;
    expect(task).toMatchObject({ taskId: 'task-1', status: 'working', ttl: 30_000, pollInterval: 50 });
    expect((await ask(host, 'tasks/get', task.taskId)).result).toMatchObject({ taskId: 'task-1', status: 'working' });
    const related = { [RELATED]: { taskId: 'task-1' } };
    const fetched = await ask(host, 'tasks/result', task.taskId, { _meta: { ...related, 'a/b': 1 } });
    expect(fetched.result).toEqual({
      content: [{ type: 'text', text: 'worked' }],
      _meta: { ...related, 'example/seen': { ...related, 'a/b': 1 } },
    });
    expect((await ask(host, 'tasks/get', task.taskId)).result).toMatchObject({ status: 'completed' });
    // Behind the answer that names the task.
    expect(statuses(host)).toEqual(['task-1 completed']);
    expect(await listed(host)).toEqual(['task-1']);
  });

  it('are cancelled at the server, and what it refuses comes back as it said it', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks() }), MODE);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    expect((await ask(host, 'tasks/cancel', taskId)).result).toMatchObject({ taskId, status: 'cancelled' });
    expect((await atServer(host)).tasks).toMatchObject([{ status: 'cancelled' }]);
    expect((await ask(host, 'tasks/cancel', taskId)).error).toMatchObject({ code: -32602, message: 'it is cancelled' });
    const failed = await begin(host, 'work', { fail: 'rpc' });
    expect((await ask(host, 'tasks/result', failed.taskId)).error).toMatchObject({ code: -32050 });
    expect((await call(host, 'plain', {}, { task: {} })).error).toMatchObject({
      code: -32601,
      message: 'not as a task',
    });
    // Called plainly it is the server's to refuse.
    expect((await call(host, 'work')).error).toMatchObject({ code: -32601 });
  });

  it('tell their progress until they end, under the token of the call that began them', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks() }), MODE);
    const { taskId } = await begin(host, 'work', { progress: 3 }, { _meta: { progressToken: 'mine' } });
    await ask(host, 'tasks/result', taskId);
    const progress = host.told.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: 'mine', progress, total: 3 })),
    );
  });

  it('keep policy, quota and approval in the way of the call that begins one', async () => {
    const policy = {
      default: 'allow',
      rules: [
        { action: 'deny', tool: 'work', reason: 'not today' },
        { action: 'require_approval', tool: 'ask' },
      ],
    };
    const rateLimits = { tool_execute: { maxCallsPerSession: 2 } };
    const workspace = configured({ one: servers.tasks() }, { policy, rateLimits });
    const host = await HostProcess.connect(workspace, MODE, ELICITATION);
    // No result of a tool is an answer to who waits for a task.
    expect((await call(host, 'work', {}, { task: {} })).error).toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Error POLICY_DENIED.*not today/s),
    });
    host.answer('elicitation/create', () => ({ action: 'decline' }));
    expect((await call(host, 'ask', {}, { task: {} })).error?.message).toMatch(/^Error AUTH_REQUIRED|^Error POLICY/);
    expect((await begin(host, 'may_work')).taskId).toBe('task-1');
    await begin(host, 'may_work');
    expect((await call(host, 'may_work', {}, { task: {} })).error?.message).toMatch(/^Error RATE_LIMITED/);
    expect((await ask(host, 'tasks/result', 'task-2')).result).toHaveProperty('content');
  });

  it('show a long result as its digest where results are firewalled', async () => {
    const workspace = configured({ one: servers.tasks() }, { passthrough: { firewall: true } });
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { lines: 1_000 });
    const { result } = await ask(host, 'tasks/result', taskId);
    const digest = textOf({ result: result as Record<string, unknown> });
    expect(digest.length).toBeLessThan(8_000);
    expect(result?._meta).toMatchObject({ [RELATED]: { taskId } });
    const handle = /text:[^\s"',;)]+/.exec(digest)?.[0].replace(/[.]$/, '') as string;
    const more = await call(host, 'tool_view', { handle, selector: { type: 'lines', start: 900, end: 901 } });
    expect(textOf(more)).toContain('line 900 ');
  });

  it('are never begun twice, nor taken from a cache, whatever the person says of the tool', async () => {
    const workspace = testWorkspace();
    const begins = join(workspace.folder, 'begins');
    const one = servers.tasks('--begins', begins, '--slow-begin', '700');
    workspace.configure({ one });
    const settings = { servers: { one }, replay: { default: 'convergent' }, cache: { enabled: true } };
    workspace.write('.vscode/waygate.json', JSON.stringify(settings));
    const host = await HostProcess.connect(workspace, MODE);
    // Two equal ones at once are two.
    const both = await Promise.all([begin(host, 'work', { nonce: 'a' }), begin(host, 'work', { nonce: 'a' })]);
    expect(both.map(({ taskId }) => taskId)).toEqual(['task-1', 'task-2']);
    const lost = call(host, 'work', { nonce: 'b', ms: 60_000 }, { task: {} });
    await until('the call to be on its way', () => readFileSync(begins, 'utf8').includes('b'));
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    expect((await lost).error?.message).toMatch(/may have taken effect/);
    await begin(host, 'work', { nonce: 'c' });
    expect(readFileSync(begins, 'utf8')).toBe('a\na\nb\nc\n');
  });
});
