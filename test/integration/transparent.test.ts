import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { TelemetryReport } from '../../src/control/healthContract.ts';
import { status, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { type RpcMessage, type StreamClient, until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Covers transparent mode with real processes: the whole list without schemas, and calls of listed tools (G5.5). */

const MODE = ['--mode', 'transparent'];
interface Listed {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
}
const toolsOf = async (host: StreamClient): Promise<Listed[]> =>
  (await host.request('tools/list')).result?.tools as Listed[];

describe('the transparent mode', () => {
  const listed = shared(async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    await toolsOf(await GatewaySession.connect(workspace, MODE));
    return workspace;
  });

  it('answers initialize before there is a worker', async () => {
    const host = new GatewaySession(testWorkspace({ slow: servers.fixture('--start-delay', '600000') }), MODE);
    const { result } = await host.initialize();
    expect(result?.instructions).toContain('tool_hydrate');
    expect(result?.capabilities).toEqual({ tools: { listChanged: true }, logging: {} });
  });

  it('lists every tool without its schema, under a name that strict clients accept, and the tools to use them', async () => {
    const workspace = testWorkspace({ 'My Files': servers.filesystem('/tmp'), one: servers.fixture() });
    const tools = await toolsOf(await GatewaySession.connect(workspace, MODE));
    const own = tools.slice(-3);
    expect(own.map(({ name }) => name)).toEqual(['tool_hydrate', 'tool_execute', 'tool_view']);
    const stripped = tools.slice(0, -3);
    expect(stripped.map(({ name }) => name)).toEqual(expect.arrayContaining(['my-files__read_text_file', 'one__echo']));
    for (const tool of stripped) {
      expect(Object.keys(tool)).toEqual(['name', 'description', 'inputSchema']);
      expect(tool.inputSchema).toEqual({ type: 'object' });
      expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    }
    const long = stripped.find(({ name }) => name === 'my-files__read_text_file');
    expect(long?.description.length).toBeLessThan(300);
    expect(long?.description).toMatch(/[.…]$/);
  });

  it('shows a schema and runs a tool by its listed name, its tool_id, or its URL-encoded tool_id', async () => {
    const host = await GatewaySession.connect(listed(), MODE);
    const shown = await host.call('tool_hydrate', { tool_id: 'one__echo', render: 'json' });
    const id = shown.structured?.tool_id as string;
    expect(shown.structured).toEqual({
      tool_id: expect.stringMatching(/^one:echo#[0-9a-f]{8}$/),
      args_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      examples: [],
      constraints: {},
    });
    expect((await host.call('tool_hydrate', { tool_id: id })).text).toContain('"required":["text"]');
    for (const name of ['one__echo', id, encodeURIComponent(id)]) {
      const answer = await host.call('tool_execute', { tool_id: name, args: { text: `by ${name}` } });
      expect(answer.text).toContain(`by ${name}`);
    }
    const wrong = await host.call('tool_execute', { tool_id: 'one__echo', args: {} });
    expect(wrong).toMatchObject({ isError: true, text: expect.stringMatching(/^Error ARGS_INVALID/) });
    expect((await host.call('tool_hydrate', { tool_id: 'one__ech' })).text).toMatch(/^Error HYDRATE_FAILED/);
  });

  it('runs a listed tool that is called directly, and refers to tool_execute if the tool is unknown', async () => {
    const host = await GatewaySession.connect(listed(), MODE);
    expect((await host.call('one__echo', { text: 'directly' })).text).toContain('directly');
    expect((await host.call('one__nothing', {})).text).toMatch(/^Error ARGS_INVALID.*tool_execute/s);
  });

  it("passes all arguments of a direct call to the tool, and counts the call by the tool's id", async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await GatewaySession.connect(workspace, MODE);
    await toolsOf(host);
    const answer = await host.call('one__echo', { text: 'hi', render: 'json', query: 'c4nary' });
    expect(answer).toMatchObject({ isError: false, text: 'ok\nhi\n', structured: undefined });
    expect((await host.call('one__echo', { query: 'c4nary' })).isError).toBe(true);
    const { recentCalls } = await status(workspace);
    const ofEcho = { metaTool: 'tool_execute', subject: expect.stringMatching(/^one[:.]echo/) };
    expect(recentCalls).toMatchObject([{ ...ofEcho, errorCode: 'ARGS_INVALID' }, ofEcho]);
    const { tools, methods } = JSON.parse(
      (await waygate(workspace, ['telemetry', '--json'])).stdout,
    ) as TelemetryReport;
    expect(tools).toMatchObject([{ tool_id: expect.stringMatching(/^one:echo#/), success_count: 1, error_count: 1 }]);
    expect(methods.map(({ method }) => method)).not.toContain('(unknown)');
  });

  it('shows a long result as a digest, and more of it with tool_view', async () => {
    const host = await GatewaySession.connect(listed(), MODE);
    const { text } = await host.call('tool_execute', { tool_id: 'one__large', args: { lines: 1_000 } });
    expect(text.length).toBeLessThan(8_000);
    const handle = /text:[^\s"',;)]+/.exec(text)?.[0].replace(/[.]$/, '') as string;
    const more = await host.call('tool_view', { handle, selector: { type: 'lines', start: 900, end: 901 } });
    expect(more.text).toContain('line 900: ');
  });

  it('announces a changed list', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await GatewaySession.connect(workspace, MODE);
    await toolsOf(host);
    workspace.configure({ one: servers.fixture(), two: servers.fixture() });
    const changed = (message: RpcMessage): boolean => message.method === 'notifications/tools/list_changed';
    await until('the news', () => host.notifications.some(changed));
    await until('the new tools', async () => (await toolsOf(host)).some(({ name }) => name === 'two__echo'));
  });

  it('can be set in the configuration', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const settings = { mode: 'transparent', servers: { one: servers.fixture() } };
    writeFileSync(workspace.configFile, JSON.stringify(settings));
    const names = (await toolsOf(await GatewaySession.connect(workspace))).map(({ name }) => name);
    expect(names).toContain('tool_hydrate');
  });
});
