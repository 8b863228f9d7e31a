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
import { rendezvous, status, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, type RpcMessage, until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

/** Tasks of servers (MCP 2025-11-25): real hosts, workers and servers, our own client and the SDK's. */

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
  ((await host.request('tasks/list')).result as { tasks: Task[] }).tasks.map(({ taskId }) => taskId);
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
    const workspace = testWorkspace({ one: servers.tasks() });
    const host = await HostProcess.connect(workspace, MODE);
    const work = { until: workspace.gate, text: 'worked', nonce: 'n' };
    const { result } = await call(host, 'work', work, { task: { ttl: 30_000 } });
    expect(result).toMatchObject({ _meta: { 'example/begun': 'n' } });
    const task = result?.task as Task;
    expect(task).toMatchObject({ taskId: 'task-1', status: 'working', ttl: 30_000, pollInterval: 50 });
    expect((await ask(host, 'tasks/get', task.taskId)).result).toMatchObject({ taskId: 'task-1', status: 'working' });
    workspace.letGo();
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
    const one = servers.tasks('--begins', begins);
    workspace.configure({ one });
    const settings = { servers: { one }, replay: { default: 'convergent' }, cache: { enabled: true } };
    workspace.write('.vscode/waygate.json', JSON.stringify(settings));
    const host = await HostProcess.connect(workspace, MODE);
    // Two equal ones at once are two.
    const equal = { nonce: 'a', begin_until: workspace.gate };
    const beginning = Promise.all([begin(host, 'work', equal), begin(host, 'work', equal)]);
    await until('both calls', () => existsSync(begins) && readFileSync(begins, 'utf8') === 'a\na\n');
    workspace.letGo();
    const both = await beginning;
    expect(both.map(({ taskId }) => taskId).sort()).toEqual(['task-1', 'task-2']);
    const never = { begin_until: `${workspace.gate} never` };
    const lost = call(host, 'work', { nonce: 'b', ...never }, { task: {} });
    await until('the call to be on its way', () => readFileSync(begins, 'utf8').includes('b'));
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    const { error } = await lost;
    expect(error?.message).toMatch(/may have taken effect/);
    expect(error?.data).toMatchObject({ retryable: false, details: { outcome: 'unknown' } });
    await begin(host, 'work', { nonce: 'c' });
    const broken = call(host, 'work', { nonce: 'd', ...never }, { task: {} });
    await until('the call to be on its way', () => readFileSync(begins, 'utf8').includes('d'));
    process.kill((await status(workspace)).servers[0]?.pid as number, 'SIGKILL');
    expect((await broken).error?.message).toMatch(/may have taken effect/);
    await begin(host, 'work', { nonce: 'e' });
    expect(readFileSync(begins, 'utf8')).toBe('a\na\nb\nc\nd\ne\n');
  });
});

describe('a task belongs to the session that has begun it', () => {
  it('to another one it is as unknown as any: asked for, cancelled or listed', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const [owner, other] = [await HostProcess.connect(workspace, MODE), await HostProcess.connect(workspace, MODE)];
    const { taskId } = await begin(owner, 'work', { ms: 500 });
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      const { error } = await ask(other, method, taskId);
      expect(error, method).toEqual({ code: -32602, message: `Task not found: ${taskId}` });
      const unknown = (await ask(other, method, 'task-77')).error;
      expect(unknown, method).toEqual({ ...error, message: error?.message.replace(taskId, 'task-77') });
    }
    expect(await listed(other)).toEqual([]);
    expect(await listed(owner)).toEqual([taskId]);
    expect(textOf(await ask(owner, 'tasks/result', taskId))).toBe('done');
    await call(other, 'tasks');
    expect(statuses(owner)).toEqual([`${taskId} completed`]);
    expect(statuses(other)).toEqual([]);
    // Nobody but the owner has made the server do anything.
    expect((await atServer(owner)).counts).toMatchObject({ 'tasks/result': 1 });
    expect((await atServer(owner)).counts).not.toHaveProperty('tasks/cancel');
  });

  it('the questions and logs of its server reach that one alone, whoever else has calls or tasks under way', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const connect = async (name: string): Promise<HostProcess> => {
      const host = await HostProcess.connect(workspace, MODE, ELICITATION);
      await host.request('logging/setLevel', { level: 'debug' });
      host.answer('elicitation/create', () => ({ action: 'accept', content: { name } }));
      return host;
    };
    const [first, second, third] = [await connect('1'), await connect('2'), await connect('3')];
    // It asks as soon as it has answered, before anybody can know the task; and as the result is fetched.
    const tasks = await Promise.all([
      begin(first, 'ask'),
      begin(second, 'ask', { late: true }),
      begin(third, 'work', { ms: 60_000 }),
    ]);
    const [asked, late] = tasks.map(({ taskId }) => taskId) as [string, string];
    void ask(third, 'tasks/result', tasks[2].taskId);
    // The server hears who answers by the name of its task alone.
    for (const [host, id] of [
      [first, asked],
      [second, late],
    ] as const) {
      const { result } = await ask(host, 'tasks/result', id);
      expect(textOf({ result: result as Record<string, unknown> })).toBe(`accept ${JSON.stringify({ taskId: id })}`);
      expect(host.asked.map(({ params }) => params)).toMatchObject([
        { message: `for ${id}`, _meta: { [RELATED]: { taskId: id } } },
      ]);
    }
    expect(third.asked).toEqual([]);
    const { taskId } = await begin(first, 'log');
    await ask(first, 'tasks/result', taskId);
    const logs = [first, second, third].map((host) => host.told.filter(({ method }) => method?.endsWith('/message')));
    expect(logs.map(({ length }) => length)).toEqual([1, 0, 0]);
    expect(logs[0]?.[0]?.params).toMatchObject({ _meta: { [RELATED]: { taskId } } });
  });

  it('and asks nobody any more when that has gone: it is cancelled', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const [owner, other] = [
      await HostProcess.connect(workspace, MODE, ELICITATION),
      await HostProcess.connect(workspace, MODE, ELICITATION),
    ];
    const { taskId } = await begin(owner, 'ask', { late: true });
    const done = await begin(owner, 'work');
    await ask(owner, 'tasks/result', done.taskId);
    owner.child.kill('SIGKILL');
    await until('the cancellation', async () => {
      const { tasks } = await atServer(other);
      return tasks.find((task) => task.taskId === taskId)?.status === 'cancelled';
    });
    expect((await atServer(other)).counts).toMatchObject({ 'tasks/cancel': 1 });
    expect(other.asked).toEqual([]);
    expect((await ask(other, 'tasks/get', taskId)).error).toMatchObject({ code: -32602 });
  });

  it('and is cancelled too where that gives up the call that begins it: it never learns the id', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const host = await HostProcess.connect(workspace, MODE);
    const params = { name: 'work', arguments: { ms: 60_000, begin_until: workspace.gate }, task: {} };
    void host.request('tools/call', params, 'begin');
    await until('the call', async () => ((await atServer(host)).counts['tools/call'] as number) >= 2);
    host.notify('notifications/cancelled', { requestId: 'begin' });
    // Behind it: by this answer it is known.
    await atServer(host);
    workspace.letGo();
    await until('the cancellation', async () => (await atServer(host)).tasks[0]?.status === 'cancelled');
    expect(await listed(host)).toEqual([]);
    expect(host.lines.some((line) => line.includes('"id":"begin"'))).toBe(false);
  });

  it('and nobody can claim it: what a host tells a worker no client can say', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const [owner, thief] = [await HostProcess.connect(workspace, MODE), await HostProcess.connect(workspace, MODE)];
    const { taskId } = await begin(owner, 'work', { ms: 60_000 });
    const held = { id: taskId, server: 'one', serverTaskId: taskId, toolId: '', upstreamName: '', ttl: null, since: 0 };
    thief.notify('notifications/waygate/tasks', { tasks: [held] });
    expect((await ask(thief, 'tasks/get', taskId)).error?.message).toBe(`Task not found: ${taskId}`);
    expect((await thief.request('notifications/waygate/tasks', { tasks: [held] })).error).toMatchObject({
      code: -32601,
    });
    expect((await ask(owner, 'tasks/get', taskId)).result).toMatchObject({ status: 'working' });
  });
});

describe('tasks of several servers', () => {
  const several = () =>
    testWorkspace({ one: servers.tasks(), two: servers.tasks('--no-list'), three: servers.fixture() });

  it('with the same ids are kept apart, both ways', async () => {
    const host = new HostProcess(several(), MODE);
    const { result } = await host.initialize({ capabilities: ELICITATION });
    expect(result?.capabilities).toMatchObject({ tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } });
    host.answer('elicitation/create', ({ _meta }) => ({ action: 'accept', content: {}, _meta: _meta as object }));
    const one = await begin(host, 'one__work', { text: 'first' });
    const two = await begin(host, 'two__ask');
    expect([one, two].map(({ taskId }) => taskId)).toEqual(['one__task-1', 'two__task-1']);
    const answers = [await ask(host, 'tasks/result', one.taskId), await ask(host, 'tasks/result', two.taskId)];
    // The server is answered under its own name of the task.
    expect(answers.map(textOf)).toEqual(['first', 'accept {"taskId":"task-1"}']);
    expect(answers.map(({ result }) => (result as { _meta: Record<string, unknown> })._meta[RELATED])).toEqual([
      { taskId: 'one__task-1' },
      { taskId: 'two__task-1' },
    ]);
    expect(host.asked[0]?.params?._meta).toEqual({ [RELATED]: { taskId: 'two__task-1' } });
    expect(await listed(host)).toEqual(['one__task-1', 'two__task-1']);
    expect(statuses(host)).toContain('one__task-1 completed');
    expect((await ask(host, 'tasks/get', 'two__task-1')).result).toMatchObject({ taskId: 'two__task-1' });
    expect((await ask(host, 'tasks/get', 'task-1')).error).toMatchObject({ code: -32602 });
  });

  it('are told apart also where one namespace begins like another’s names', async () => {
    const host = await HostProcess.connect(
      testWorkspace({ a: servers.tasks('--id', 'b__1'), a__b: servers.tasks('--id', '1') }),
      MODE,
    );
    const tools = ((await host.request('tools/list')).result as { tools: { name: string }[] }).tools.map(
      ({ name }) => name,
    );
    const ids = [];
    for (const name of tools.filter((one) => one.endsWith('__work'))) {
      ids.push((await begin(host, name, { text: name })).taskId);
    }
    expect(ids).toEqual(['a__b__1', 'a__b__1_']);
    const texts = await Promise.all(ids.map(async (id) => textOf(await ask(host, 'tasks/result', id))));
    expect(texts).toEqual(tools.filter((one) => one.endsWith('__work')));
    expect(await listed(host)).toEqual(ids);
  });

  it('are not promised of a tool whose server has none', async () => {
    const workspace = testWorkspace({ one: servers.tasks(), other: servers.fixture('--task-support') });
    const host = await HostProcess.connect(workspace, MODE);
    const { tools } = (await host.request('tools/list')).result as { tools: { name: string; execution?: object }[] };
    expect(tools.find(({ name }) => name === 'one__work')?.execution).toEqual({ taskSupport: 'required' });
    expect(tools.find(({ name }) => name === 'other__echo')?.execution).toEqual({});
    const { error } = await call(host, 'other__echo', { text: 'x' }, { task: {} });
    expect(error).toEqual({ code: -32601, message: 'Tool echo cannot be called as a task.' });
    expect(textOf(await call(host, 'other__echo', { text: 'x' }))).toBe('x');
  });
});

describe('a task whose server has ended', () => {
  const LOST = {
    code: -32602,
    message:
      'Task task-1 is lost: one, which ran it, has ended or does not know it any more. It may have taken effect: check before you call its tool again.',
  };

  it('is lost, says so to every question, and starts nothing anew', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids', '');
    workspace.configure({ one: servers.tasks('--pid-file', pids) });
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    const waiting = ask(host, 'tasks/result', taskId);
    await until('the question', async () => (await atServer(host)).counts['tasks/result'] === 1);
    process.kill(pidsIn(pids).at(-1) as number, 'SIGKILL');
    expect((await waiting).error).toEqual(LOST);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect((await ask(host, method, taskId)).error, method).toEqual(LOST);
    }
    expect(await listed(host)).toEqual([]);
    // Whoever comes after it is not asked about what it cannot know.
    expect(Object.keys((await atServer(host)).counts).filter((method) => method.startsWith('tasks/'))).toEqual([]);
    // The next start counts from one again: its task has the name, and the old one is gone for good.
    expect(await begin(host, 'work', { text: 'anew' })).toMatchObject({ taskId: 'task-1' });
    expect(textOf(await ask(host, 'tasks/result', 'task-1'))).toBe('anew');
    expect(pidsIn(pids)).toHaveLength(2);
  });

  it('is lost also where it ends as it is asked for its list, and its successor is not asked again', async () => {
    const workspace = testWorkspace({ one: servers.tasks('--ends-at-list') });
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    expect(await listed(host)).toEqual([]);
    expect((await ask(host, 'tasks/get', taskId)).error).toEqual(LOST);
    expect(Object.keys((await atServer(host)).counts).filter((method) => method.startsWith('tasks/'))).toEqual([]);
  });

  it('is lost with its worker, and the session still knows that it was its own', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const [owner, other] = [await HostProcess.connect(workspace, MODE), await HostProcess.connect(workspace, MODE)];
    const { taskId } = await begin(owner, 'work', { ms: 60_000 });
    const waiting = ask(owner, 'tasks/result', taskId);
    await until('the question', async () => (await atServer(owner)).counts['tasks/result'] === 1);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    expect((await waiting).error).toEqual(LOST);
    expect((await ask(owner, 'tasks/get', taskId)).error).toEqual(LOST);
    expect((await ask(other, 'tasks/get', taskId)).error?.message).toBe(`Task not found: ${taskId}`);
  });

  it('is not lost with its worker where the server is at a URL: that goes on', async () => {
    const url = await HttpProcess.tasks().url();
    const workspace = testWorkspace({ one: { type: 'http', url } });
    const [owner, other] = [await HostProcess.connect(workspace, MODE), await HostProcess.connect(workspace, MODE)];
    const { taskId } = await begin(owner, 'work', { until: workspace.gate, text: 'survived' });
    const waiting = ask(owner, 'tasks/result', taskId);
    await until('the question', async () => (await atServer(owner)).counts['tasks/result'] === 1);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await until('another worker', async () => (await workersOf(workspace)).length === 1 && rendezvous(workspace));
    workspace.letGo();
    expect(textOf(await waiting)).toBe('survived');
    expect((await ask(owner, 'tasks/get', taskId)).result).toMatchObject({ taskId, status: 'completed' });
    expect(await listed(owner)).toEqual([taskId]);
    expect((await ask(other, 'tasks/get', taskId)).error?.message).toBe(`Task not found: ${taskId}`);
  });
});

describe('a task whose server at a URL was started anew', () => {
  it('is lost where that knows nothing of it, and does not become the one that has its name now', async () => {
    const first = HttpProcess.tasks();
    const url = await first.url();
    const workspace = testWorkspace({ one: { type: 'http', url } });
    const [owner, other] = [await HostProcess.connect(workspace, MODE), await HostProcess.connect(workspace, MODE)];
    const { taskId } = await begin(owner, 'work', { ms: 60_000 });
    const unknown = await begin(owner, 'work', { ms: 60_000 });
    first.child.kill('SIGKILL');
    await first.exited;
    const again = HttpProcess.tasks('--port', new URL(url).port);
    await again.url();
    // Its successor begins with the other session's task, before the owner comes.
    owner.child.kill('SIGSTOP');
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    await other.request('tools/list');
    expect(await begin(other, 'work', { text: 'the other’s' })).toMatchObject({ taskId });
    owner.child.kill('SIGCONT');
    for (const id of [taskId, unknown.taskId]) {
      expect((await ask(owner, 'tasks/get', id)).error?.message).toMatch(new RegExp(`^Task ${id} is lost`));
    }
    expect(textOf(await ask(other, 'tasks/result', taskId))).toBe('the other’s');
  });
});

describe('a worker that gives way', () => {
  it('finishes the tasks it has, and hosts ask it about them', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    workspace.env.WAYGATE_DRAIN_MS = '60000';
    const host = await HostProcess.connect(workspace, MODE);
    const held = { until: workspace.gate };
    const task = await begin(host, 'work', { ...held, text: 'finished', status: 'at work' });
    const waiting = begin(host, 'work', { ...held, text: 'asked before' });
    const before = rendezvous(workspace)?.pid as number;
    const early = ask(host, 'tasks/result', (await waiting).taskId);
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    await until('the session to move', () => rendezvous(workspace)?.pid !== before);
    expect((await ask(host, 'tasks/get', task.taskId)).result).toMatchObject({ statusMessage: 'at work' });
    // New ones are begun by the new worker meanwhile; its server counts from one.
    const { error } = await ask(host, 'tasks/cancel', 'task-9');
    expect(error?.message).toBe('Task not found: task-9');
    expect(isAlive(before)).toBe(true);
    workspace.letGo();
    expect(textOf(await ask(host, 'tasks/result', task.taskId))).toBe('finished');
    expect(textOf(await early)).toBe('asked before');
    await until('it to leave', () => !isAlive(before));
    expect((await ask(host, 'tasks/get', task.taskId)).error?.message).toMatch(/^Task task-1 is lost/);
  });

  it('leaves to the next one those of a server at a URL: they go on, and nothing of them is cancelled', async () => {
    const url = await HttpProcess.tasks().url();
    const workspace = testWorkspace({ one: { type: 'http', url } });
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    const before = rendezvous(workspace)?.pid as number;
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    await until('it to leave', () => !isAlive(before));
    expect((await ask(host, 'tasks/get', taskId)).result).toMatchObject({ taskId, status: 'working' });
    // Nor when the person stops the gateway: the session is not over.
    expect((await waygate(workspace, ['stop'])).code).toBe(0);
    expect((await ask(host, 'tasks/get', taskId)).result).toMatchObject({ taskId, status: 'working' });
    expect((await atServer(host)).counts).not.toHaveProperty('tasks/cancel');
  });

  it('does so within its limit: then they are lost, whoever waits is told', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    workspace.env.WAYGATE_DRAIN_MS = '600';
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    const waiting = ask(host, 'tasks/result', taskId);
    await until('the question', async () => (await atServer(host)).counts['tasks/result'] === 1);
    expect((await waygate(workspace, ['reload'])).code).toBe(0);
    expect((await waiting).error?.message).toMatch(/^Task task-1 is lost: one, which ran it/);
    expect(textOf(await call(host, 'may_work', { text: 'x' }))).toBe('plainly x');
  });
});

describe('a server with tasks', () => {
  const IDLE = { idleMinutes: 0.005 };

  it('is not stopped as idle before their results have been fetched', async () => {
    const workspace = configured({ one: servers.tasks() }, IDLE);
    const host = await HostProcess.connect(workspace, MODE);
    const { taskId } = await begin(host, 'work', { ms: 200 });
    await new Promise((done) => setTimeout(done, 1_500));
    expect((await status(workspace)).servers).toMatchObject([{ state: 'ready' }]);
    expect(textOf(await ask(host, 'tasks/result', taskId))).toBe('done');
    await until('the idle stop', async () => (await status(workspace)).servers[0]?.state === 'not_started');
    expect((await ask(host, 'tasks/get', taskId)).error?.message).toMatch(/is lost/);
  });

  it('nor before they are cancelled, or as old as the server said that they get', async () => {
    const workspace = configured({ one: servers.tasks('--ttl', '5000') }, IDLE);
    const host = await HostProcess.connect(workspace, MODE);
    const cancelled = await begin(host, 'work', { ms: 60_000 });
    await ask(host, 'tasks/cancel', cancelled.taskId);
    const { taskId } = await begin(host, 'work', { ms: 60_000 });
    await new Promise((done) => setTimeout(done, 900));
    expect((await status(workspace)).servers).toMatchObject([{ state: 'ready' }]);
    await until('the idle stop', async () => (await status(workspace)).servers[0]?.state === 'not_started');
    // Forgotten, like its server forgets it: not lost.
    expect((await ask(host, 'tasks/get', taskId)).error?.message).toBe(`Task not found: ${taskId}`);
  });

  it('begins no more of them for one session than are remembered', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks() }), MODE);
    const all = Array.from({ length: 256 }, () => begin(host, 'may_work'));
    const ids = (await Promise.all(all)).map(({ taskId }) => taskId);
    const { error } = await call(host, 'may_work', {}, { task: {} });
    expect(error?.message).toMatch(/^Error RATE_LIMITED: .*256 tasks/);
    expect((await atServer(host)).tasks).toHaveLength(256);
    // What has been fetched makes room.
    await ask(host, 'tasks/result', ids[7]);
    expect(await begin(host, 'may_work')).toHaveProperty('taskId');
    expect(await listed(host)).not.toContain(ids[7]);
    expect(await listed(host)).toHaveLength(256);
  });
});

describe('the SDK’s own client and a server from npm', () => {
  for (const [name, transport] of [
    ['stdio', (workspace: TestWorkspace) => Promise.resolve(overStdio(workspace))],
    ['http', overHttp],
  ] as const) {
    it(`runs a task to its end over ${name}, with a question in the middle`, async () => {
      const client = await sdkClient(await transport(testWorkspace({ everything: servers.everything })), ELICITATION);
      client.setRequestHandler(ElicitRequestSchema, () => ({
        action: 'accept',
        content: { interpretation: 'technical' },
      }));
      const told: string[] = [];
      client.setNotificationHandler(TaskStatusNotificationSchema, ({ params }) => void told.push(params.status));
      await client.listTools();
      const seen: string[] = [];
      const stream = client.experimental.tasks.callToolStream(
        { name: 'simulate-research-query', arguments: { topic: 'gateways', ambiguous: true } },
        CallToolResultSchema,
        { task: { ttl: 60_000 } },
      );
      let text = '';
      for await (const message of stream) {
        seen.push(message.type === 'taskStatus' ? message.task.status : message.type);
        if (message.type === 'error') throw message.error;
        if (message.type === 'result') text = JSON.stringify(message.result.content);
      }
      expect(seen).toEqual(expect.arrayContaining(['taskCreated', 'working', 'input_required', 'result']));
      expect(text).toContain('gateways (technical)');
      expect(told).toEqual(expect.arrayContaining(['completed']));
      expect((await client.experimental.tasks.listTasks()).tasks).toMatchObject([{ status: 'completed' }]);
    });
  }
});

describe('in gateway and transparent mode', () => {
  it.each(['gateway', 'transparent'])('a tool that must be a task is called like any other (%s)', async (mode) => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const host = await HostProcess.connect(workspace, ['--mode', mode]);
    const other = await HostProcess.connect(workspace);
    const id = await other.toolId('/one/work');
    const args = { tool_id: id, args: { ms: 300, text: 'through', status: 'half way' } };
    const answer = await host.request('tools/call', {
      name: 'tool_execute',
      arguments: args,
      _meta: { progressToken: 'mine' },
      task: {},
    });
    expect(textOf(answer)).toBe('ok\nthrough\n');
    const told = host.told.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params);
    expect(told.map((params) => params?.message)).toContain('half way');
    expect(told.map((params) => params?.progress)).toEqual(
      [...told.keys()].map((i) => i + (told[0]?.progress as number)),
    );
    const plain = await host.call('tool_execute', {
      tool_id: await other.toolId('/one/may_work'),
      args: { text: 'x' },
    });
    expect(plain.text).toBe('ok\nplainly x\n');
    const { text } = await host.call('tool_execute', { tool_id: await other.toolId('/one/tasks'), args: {} });
    expect(text).toContain('task-1');
    expect(text).not.toContain('task-2');
    expect(host.told.filter(({ method }) => method?.startsWith('notifications/tasks'))).toEqual([]);
  });

  it('its progress is heard as the server tells it, and its server asked no more often than it likes', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks('--poll', '400') }));
    const [work, tasks] = [await host.toolId('/one/work'), await host.toolId('/one/tasks')];
    await host.call('tool_execute', { tool_id: tasks, args: {} });
    const began = performance.now();
    await host.request('tools/call', {
      name: 'tool_execute',
      arguments: { tool_id: work, args: { progress: 3, status: 'nearly', ms: 900 } },
      _meta: { progressToken: 'mine' },
    });
    const polls = Math.ceil((performance.now() - began) / 400);
    const told = host.told.filter(({ method }) => method === 'notifications/progress');
    expect(told.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: 'mine', progress, total: 3 })),
    );
    const { text } = await host.call('tool_execute', { tool_id: tasks, args: {} });
    const asked = Number(/"tasks\/get":(\d+)/.exec(text)?.[1]);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(polls);
  });

  it('its questions reach the client, which hears nothing of a task', async () => {
    const host = await HostProcess.connect(testWorkspace({ one: servers.tasks() }), [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: {} }));
    const id = await host.toolId('/one/ask');
    for (const late of [false, true]) {
      const { text } = await host.call('tool_execute', { tool_id: id, args: { late } });
      expect(text).toMatch(/^ok\naccept \{"taskId":"task-\d"\}\n$/);
    }
    expect(host.asked).toHaveLength(2);
    expect(host.asked.map(({ params }) => params?._meta)).toEqual([undefined, undefined]);
  });

  it('its errors, its deadline and the client’s cancellation are told as for any other, and end the task', async () => {
    const workspace = configured({ one: servers.tasks() }, { timeouts: { default: 4 } });
    const host = await HostProcess.connect(workspace);
    const [work, tasks] = [await host.toolId('/one/work'), await host.toolId('/one/tasks')];
    const execute = (args: object) => host.call('tool_execute', { tool_id: work, args });
    const there = async () => {
      const { text } = await host.call('tool_execute', { tool_id: tasks, args: {} });
      return [...text.matchAll(/"status":"(\w+)"/g)].map(([, status]) => status);
    };
    expect((await execute({ fail: true, text: 'no good' })).text).toContain('no good');
    expect((await execute({ fail: 'rpc' })).text).toMatch(/^Error UPSTREAM_ERROR: .*it went wrong/);
    expect((await execute({ ms: 60_000 })).text).toMatch(/^Error UPSTREAM_TIMEOUT: .*may have taken effect/);
    await until('the cancellation', async () => (await there())[2] === 'cancelled');
    void host.request(
      'tools/call',
      { name: 'tool_execute', arguments: { tool_id: work, args: { ms: 60_000 } } },
      'gone',
    );
    await until('the task', async () => (await there()).length === 4);
    host.notify('notifications/cancelled', { requestId: 'gone' });
    await until('the cancellation', async () => (await there())[3] === 'cancelled');
  });

  it.each(['gateway', 'transparent'])('it is never begun twice, whatever the person says of it (%s)', async (mode) => {
    const workspace = testWorkspace();
    const [pids, begins] = [workspace.write('pids', ''), workspace.write('begins', '')];
    const one = servers.tasks('--pid-file', pids, '--begins', begins);
    const settings = { servers: { one }, replay: { default: 'convergent' } };
    workspace.write('.vscode/waygate.json', JSON.stringify(settings));
    workspace.approve();
    const id = await (await HostProcess.connect(workspace)).toolId('/one/work');
    const host = await HostProcess.connect(workspace, ['--mode', mode]);
    const execute = (args: object, more: object = {}) => host.call('tool_execute', { tool_id: id, args, ...more });
    const lost = async (args: { nonce: string }, pid: () => number | undefined): Promise<void> => {
      const call = execute(args);
      await until('the call to be on its way', () => readFileSync(begins, 'utf8').includes(args.nonce));
      process.kill(pid() as number, 'SIGKILL');
      expect((await call).text).toMatch(/^Error UPSTREAM_UNAVAILABLE: .*may have taken effect/);
    };
    const never = { begin_until: `${workspace.gate} never` };
    await lost({ nonce: 'a', ...never }, () => pidsIn(pids).at(-1));
    await lost({ nonce: 'b', ...never }, () => rendezvous(workspace)?.pid);
    expect((await execute({ nonce: 'c' })).isError).toBe(false);
    expect(readFileSync(begins, 'utf8')).toBe('a\nb\nc\n');
    const { structured } = await execute({}, { dry_run: true, render: 'json' });
    expect(structured).toMatchObject({ replay: 'never_replay' });
  });

  it('its server is not idle meanwhile, and the loss of that is told as such', async () => {
    const workspace = testWorkspace();
    const [pids, begins] = [workspace.write('pids', ''), workspace.write('begins', '')];
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ servers: { one: servers.tasks('--pid-file', pids, '--begins', begins) }, idleMinutes: 0.002 }),
    );
    workspace.approve();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/one/work');
    const { text } = await host.call('tool_execute', { tool_id: id, args: { ms: 1_000, text: 'undisturbed' } });
    expect(text).toBe('ok\nundisturbed\n');
    const lost = host.call('tool_execute', { tool_id: id, args: { ms: 60_000, nonce: 'lost' } });
    await until('the task', () => readFileSync(begins, 'utf8').includes('lost'));
    process.kill(pidsIn(pids).at(-1) as number, 'SIGKILL');
    expect((await lost).text).toMatch(/^Error UPSTREAM_UNAVAILABLE: one .*may have taken effect/);
  });

  it('a server from npm: the question, the result', async () => {
    const host = await HostProcess.connect(testWorkspace({ everything: servers.everything }), [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: { interpretation: 'current' } }));
    const id = await host.toolId('/everything/simulate-research-query');
    const { text } = await host.call('tool_execute', { tool_id: id, args: { topic: 'doors', ambiguous: true } });
    expect(text).toContain('doors (current)');
  });
});
