import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { until } from '../support/hostProcess.ts';
import { HttpProcess } from '../support/httpProcess.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

/** Runs third-party clients against the shipped gateway, over stdio and over HTTP with a token. */

const WAYS = ['stdio', 'http'] as const;
type Way = (typeof WAYS)[number];

function workspaceOf(): TestWorkspace {
  const workspace = testWorkspace();
  const policy = { rules: [{ action: 'require_approval', tool: 'test_image_content' }] };
  const text = JSON.stringify({ policy, servers: { fixture: servers.conformance, held: servers.fixture() } });
  workspace.write('.vscode/waygate.json', text);
  workspace.approve();
  return workspace;
}

describe.each(WAYS)("the SDK's own client over %s", (way: Way) => {
  async function transportTo(workspace: TestWorkspace): Promise<Transport> {
    if (way === 'stdio') {
      const env = workspace.env as Record<string, string>;
      const args = [WAYGATE, 'serve', '--workspace', workspace.folder];
      return new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' });
    }
    const gateway = HttpProcess.waygate(workspace);
    const headers = { authorization: `Bearer ${await gateway.token()}` };
    // The SDK's types do not support `exactOptionalPropertyTypes`.
    return new StreamableHTTPClientTransport(new URL(await gateway.url()), { requestInit: { headers } }) as Transport;
  }

  async function connected(workspace: TestWorkspace): Promise<Client> {
    const client = new Client({ name: 'sdk', version: '1' }, { capabilities: { elicitation: { form: {} } } });
    const transport = await transportTo(workspace);
    onTestFinished(() => client.close());
    await client.connect(transport);
    for (const path of ['/fixture', '/held']) {
      await until(`the tools of ${path}`, async () => {
        const found = await client.callTool({ name: 'tool_browse', arguments: { path, render: 'json' } });
        return JSON.stringify(found.structuredContent ?? {}).includes('"kind":"tool"');
      });
    }
    return client;
  }

  const execute = (tool: string) => ({ name: 'tool_execute', arguments: { tool_id: `fixture:${tool}`, args: {} } });
  const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';

  it('lists and calls tools, receives progress, and is asked for approval', async () => {
    const workspace = workspaceOf();
    const client = await connected(workspace);
    expect(client.getServerVersion()).toMatchObject({ name: 'waygate' });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('tool_'))).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
    expect(await client.ping()).toEqual({});
    expect(textOf(await client.callTool(execute('test_simple_text')))).toContain('a simple text response');
    const received: number[] = [];
    // The SDK's client drops progress that it reads together with the answer, so the call ends after its progress.
    const onprogress = ({ progress }: { progress: number }) => {
      received.push(progress);
      workspace.letGo();
    };
    const held = { tool_id: 'held:wait', args: { until: workspace.gate } };
    await client.callTool({ name: 'tool_execute', arguments: held }, undefined, { onprogress });
    expect(received).toEqual([1]);
    const questions: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      questions.push(params.message);
      return { action: 'accept', content: { remember: 'session' } };
    });
    expect(await client.callTool(execute('test_image_content'))).toMatchObject({
      content: [{ type: 'text' }, { type: 'image' }],
    });
    expect(questions).toEqual([expect.stringContaining('test_image_content')]);
  });

  it('survives the loss of a worker', async () => {
    const workspace = workspaceOf();
    const client = await connected(workspace);
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    const answer = await until('an answer', async () => {
      const text = textOf(await client.callTool(execute('test_simple_text')));
      return text.includes('a simple text response') && text;
    });
    expect(answer).toMatch(/^ok · data from \S+\n/);
  });

  it('cancels a call', async () => {
    const client = await connected(workspaceOf());
    const abort = new AbortController();
    const onprogress = () => abort.abort(new Error('enough'));
    const waiting = client.callTool(execute('test_wait'), undefined, { signal: abort.signal, onprogress });
    await expect(waiting).rejects.toThrow('enough');
    await until('the cancellation to arrive', async () =>
      textOf(await client.callTool(execute('test_cancelled_count'))).includes('1'),
    );
  });
});

describe.each(WAYS)("the MCP Inspector's command line over %s", (way: Way) => {
  const INSPECTOR = resolve('node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js');

  async function inspect(args: readonly string[]): Promise<Record<string, unknown>> {
    const workspace = workspaceOf();
    const target = way === 'stdio' ? stdioTarget(workspace) : await httpTarget(workspace);
    const [subject, options] = target;
    const output = await new Promise<string>((done, fail) => {
      const all = [INSPECTOR, ...subject, ...args, ...options];
      execFile(process.execPath, all, { env: { ...workspace.env, HOME: workspace.folder } }, (error, stdout, stderr) =>
        error ? fail(new Error(`${stdout}${stderr}`, { cause: error })) : done(stdout),
      );
    });
    return JSON.parse(output) as Record<string, unknown>;
  }

  const stdioTarget = (workspace: TestWorkspace): [string[], string[]] => [
    [process.execPath, WAYGATE, 'serve', `--workspace=${workspace.folder}`],
    [],
  ];

  async function httpTarget(workspace: TestWorkspace): Promise<[string[], string[]]> {
    const gateway = HttpProcess.waygate(workspace);
    const header = `Authorization: Bearer ${await gateway.token()}`;
    return [[await gateway.url()], ['--transport', 'http', '--header', header]];
  }

  it('lists the three tools', async () => {
    const { tools } = (await inspect(['--method', 'tools/list'])) as { tools: { name: string }[] };
    // The tools for resources and prompts are listed too if the fixture is already up.
    const names = tools.map(({ name }) => name).filter((name) => name.startsWith('tool_'));
    expect(names).toEqual(['tool_browse', 'tool_execute', 'tool_view']);
  });

  it('calls a tool', async () => {
    const call = ['--method', 'tools/call', '--tool-name', 'tool_browse', '--tool-arg', 'path=/'];
    expect(await inspect(call)).toMatchObject({
      content: [{ type: 'text', text: expect.stringContaining('fixture') }],
    });
  });
});
