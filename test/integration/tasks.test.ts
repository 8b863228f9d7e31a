import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import {
  HostProcess,
  pidsIn,
  type RpcMessage,
  type StreamClient,
  until,
  withoutFence,
} from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { shared } from '../support/lifetime.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

/** Covers tools that a server runs only as tasks (MCP 2025-11-25), with real hosts, workers and servers. */

const PASSTHROUGH = ['--mode', 'passthrough'];
const ELICITATION = { elicitation: { form: {} } };

const textOf = ({ result }: RpcMessage): string =>
  withoutFence((result?.content as { text: string }[] | undefined)?.[0]?.text ?? '');
const call = (host: StreamClient, name: string, args: object = {}, more: object = {}): Promise<RpcMessage> =>
  host.request('tools/call', { name, arguments: args, ...more });

function configured(servers: Record<string, unknown>, more: object = {}): TestWorkspace {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ ...more, servers }));
  workspace.approve();
  return workspace;
}

describe.each([
  ['one server', { one: servers.tasks() }, ''],
  ['several servers', { one: servers.tasks(), two: servers.fixture() }, 'one__'],
])('in passthrough mode with %s', (_of, configured, prefix) => {
  const workspace = shared(async () => {
    const opened = testWorkspace(configured);
    await GatewaySession.connect(opened, PASSTHROUGH);
    return opened;
  });

  it('tasks are offered neither in the capabilities nor by a tool', async () => {
    const host = new GatewaySession(workspace(), PASSTHROUGH);
    const { result } = await host.initialize();
    expect(result?.capabilities).toHaveProperty('tools');
    expect(result?.capabilities).not.toHaveProperty('tasks');
    const { tools } = (await host.request('tools/list')).result as { tools: { name: string; execution?: object }[] };
    expect(tools.map(({ name }) => name)).toContain(`${prefix}work`);
    expect(JSON.stringify(tools)).not.toContain('taskSupport');
  });

  it('requests about tasks are refused with a sentence, and a call that asks for a task runs as a plain call', async () => {
    const host = await GatewaySession.connect(workspace(), PASSTHROUGH);
    for (const method of ['tasks/get', 'tasks/result', 'tasks/list', 'tasks/cancel']) {
      const { error } = await host.request(method, { taskId: 'task-1' });
      expect(error).toMatchObject({ code: -32601, message: expect.stringContaining('offers no tasks to clients') });
    }
    const task = { ttl: 1_000 };
    expect(textOf(await call(host, `${prefix}work`, { text: 'run to its end' }, { task }))).toBe('run to its end');
    expect(textOf(await call(host, `${prefix}may_work`, { text: 'x' }, { task }))).toBe('plainly x');
    expect(textOf(await call(host, `${prefix}plain`, { text: 'y' }, { task: 'no object' }))).toBe('plainly y');
  });

  it('a request of a task reaches its client without task metadata, and the answer reaches the task', async () => {
    const host = await GatewaySession.connect(workspace(), PASSTHROUGH, ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: {} }));
    expect(textOf(await call(host, `${prefix}ask`))).toMatch(/^accept \{"taskId":"task-\d"\}$/);
    expect(host.asked.map(({ params }) => params?._meta)).toEqual([undefined]);
  });
});

describe("the SDK's own client", () => {
  it('calls a tool that runs only as a task like any other, in passthrough mode', async () => {
    const { folder, env } = testWorkspace({ one: servers.tasks() });
    const client = new Client({ name: 'sdk', version: '1' }, { capabilities: {} });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [WAYGATE, 'serve', '--workspace', folder, ...PASSTHROUGH],
        env: env as Record<string, string>,
        stderr: 'ignore',
      }),
    );
    onTestFinished(() => client.close());
    await client.listTools();
    const { content } = await client.callTool({ name: 'work', arguments: { text: 'through' } });
    expect(content).toEqual([{ type: 'text', text: 'through' }]);
  });
});

describe('a message of a task', () => {
  it('reaches only the client whose call runs the task', async () => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const connect = async (name: string): Promise<StreamClient> => {
      const host = await GatewaySession.connect(workspace, PASSTHROUGH, ELICITATION);
      await host.request('logging/setLevel', { level: 'debug' });
      host.answer('elicitation/create', () => ({ action: 'accept', content: { name } }));
      return host;
    };
    const [first, second] = [await connect('1'), await connect('2')];
    const [one, two] = await Promise.all([call(first, 'ask'), call(second, 'ask', { late: true }), call(first, 'log')]);
    for (const [host, answer] of [
      [first, one],
      [second, two],
    ] as const) {
      const id = /task-\d/.exec(textOf(answer))?.[0];
      expect(textOf(answer)).toBe(`accept {"taskId":"${id}"}`);
      expect(host.asked.map(({ params }) => params?.message)).toEqual([`Server "one" asks: for ${id}`]);
    }
    const logged = (host: StreamClient) =>
      host.notifications.flatMap(({ method, params }) => (method === 'notifications/message' ? [params] : []));
    expect(logged(first)).toEqual([{ level: 'error', data: 'of the task' }]);
    expect(logged(second)).toEqual([]);
  });
});

describe('a tool that runs only as a task', () => {
  it.each(['gateway', 'transparent'])('is called like any other in %s mode', async (mode) => {
    const workspace = testWorkspace({ one: servers.tasks() });
    const host = await GatewaySession.connect(workspace, ['--mode', mode]);
    const other = await GatewaySession.connect(workspace);
    const id = await other.toolId('/one/work');
    const args = { tool_id: id, args: { ms: 300, text: 'through', status: 'half way' } };
    const answer = await host.request('tools/call', {
      name: 'tool_execute',
      arguments: args,
      _meta: { progressToken: 'mine' },
      task: {},
    });
    expect(textOf(answer)).toBe('ok\nthrough\n');
    const progress = host.notifications
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => params);
    expect(progress.map((params) => params?.message)).toContain('half way');
    expect(progress.map((params) => params?.progress)).toEqual(
      [...progress.keys()].map((i) => i + (progress[0]?.progress as number)),
    );
    const plain = await host.call('tool_execute', {
      tool_id: await other.toolId('/one/may_work'),
      args: { text: 'x' },
    });
    expect(plain.text).toBe('ok\nplainly x\n');
    const { text } = await host.call('tool_execute', { tool_id: await other.toolId('/one/tasks'), args: {} });
    expect(text).toContain('task-1');
    expect(text).not.toContain('task-2');
    expect(host.notifications.filter(({ method }) => method?.startsWith('notifications/tasks'))).toEqual([]);
  });

  it('reports its status as progress, and is polled no more often than its server asks for', async () => {
    const host = await GatewaySession.connect(testWorkspace({ one: servers.tasks('--poll', '400') }));
    const [work, tasks] = [await host.toolId('/one/work'), await host.toolId('/one/tasks')];
    await host.call('tool_execute', { tool_id: tasks, args: {} });
    const began = performance.now();
    await host.request('tools/call', {
      name: 'tool_execute',
      arguments: { tool_id: work, args: { status: 'nearly', ms: 900 } },
      _meta: { progressToken: 'mine' },
    });
    const polls = Math.ceil((performance.now() - began) / 400);
    const progress = host.notifications.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params?.message)).toContain('nearly');
    const { text } = await host.call('tool_execute', { tool_id: tasks, args: {} });
    const asked = Number(/"tasks\/get":(\d+)/.exec(text)?.[1]);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(polls);
  });

  it('sends its requests to the client without task metadata', async () => {
    const host = await GatewaySession.connect(testWorkspace({ one: servers.tasks() }), [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: {} }));
    const id = await host.toolId('/one/ask');
    for (const late of [false, true]) {
      const { text } = await host.call('tool_execute', { tool_id: id, args: { late } });
      expect(text).toMatch(/^ok\naccept \{"taskId":"task-\d"\}\n$/);
    }
    expect(host.asked).toHaveLength(2);
    expect(host.asked.map(({ params }) => params?._meta)).toEqual([undefined, undefined]);
  });

  it('reports errors and timeouts like any other, and cancels the task on a timeout or a cancellation', async () => {
    const workspace = configured({ one: servers.tasks() }, { timeouts: { default: 2 } });
    const host = await GatewaySession.connect(workspace);
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

  it.each(['gateway', 'transparent'])(
    'is never started twice, whatever the configuration says, in %s mode',
    async (mode) => {
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
    },
  );

  it('keeps its server from being idle, and reports the loss of that server', async () => {
    const workspace = testWorkspace();
    const [pids, begins] = [workspace.write('pids', ''), workspace.write('begins', '')];
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ servers: { one: servers.tasks('--pid-file', pids, '--begins', begins) }, idleMinutes: 0.002 }),
    );
    workspace.approve();
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/work');
    const { text } = await host.call('tool_execute', { tool_id: id, args: { ms: 1_000, text: 'undisturbed' } });
    expect(text).toBe('ok\nundisturbed\n');
    const lost = host.call('tool_execute', { tool_id: id, args: { ms: 60_000, nonce: 'lost' } });
    await until('the task', () => readFileSync(begins, 'utf8').includes('lost'));
    process.kill(pidsIn(pids).at(-1) as number, 'SIGKILL');
    expect((await lost).text).toMatch(/^Error UPSTREAM_UNAVAILABLE: one .*may have taken effect/);
  });

  it('runs on a server at a URL', async () => {
    const host = await GatewaySession.connect(
      testWorkspace({ one: { type: 'http', url: await HttpProcess.tasks().url() } }),
    );
    const id = await host.toolId('/one/work');
    const { text } = await host.call('tool_execute', { tool_id: id, args: { ms: 120, text: 'from afar' } });
    expect(text).toBe('ok\nfrom afar\n');
  });

  it('runs on a published server, with its request to the client and its result', async () => {
    const host = await GatewaySession.connect(testWorkspace({ everything: servers.everything }), [], ELICITATION);
    host.answer('elicitation/create', () => ({ action: 'accept', content: { interpretation: 'current' } }));
    const id = await host.toolId('/everything/simulate-research-query');
    const { text } = await host.call('tool_execute', { tool_id: id, args: { topic: 'doors', ambiguous: true } });
    expect(text).toContain('doors (current)');
  });
});
