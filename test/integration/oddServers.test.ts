import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { isAlive, pidsIn, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Reproduces misbehaviour of real servers through the whole product (M7.5). */
describe('a server', () => {
  it('with 400 tools in one page, all without a schema type, has all of them listed and callable', async () => {
    const workspace = testWorkspace({ many: servers.fixture('--tools', '400', '--no-schema-type') });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/many/tool_399');
    expect((await status(workspace)).servers[0]?.toolCount).toBe(400);
    expect((await host.call('tool_execute', { tool_id: id, args: { any: 1 } })).text).toBe('ok\ncalled tool_399\n');
  });

  it('that prints other text to stdout still works, and the client sees none of that text', async () => {
    const workspace = testWorkspace({ noisy: servers.fixture('--banner', '--garbage', '500') });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/noisy/echo');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    expect(host.lines.filter((line) => line.includes('Welcome') || line.includes('not a message'))).toEqual([]);
  });

  it('that starts slowly still answers the call that started it', async () => {
    const workspace = testWorkspace({ slow: servers.fixture('--start-delay', '1000') });
    await waygate(workspace, ['catalog']);
    await stopGateway(workspace);
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/slow/echo');
    expect((await status(workspace)).servers[0]?.state).toBe('not_started');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
  });

  it('whose tool names change at every start is called by its current names', async () => {
    const workspace = testWorkspace();
    workspace.configureChanging({ fickle: servers.fixture('--new-names') });
    const host = await GatewaySession.connect(workspace);
    const before = await until('its tools', async () => echoOf(await browse(host, '/fickle')));
    const { pid } = await until('its process', async () => (await status(workspace)).servers[0]);
    process.kill(pid as number, 'SIGKILL');
    const after = await until('its new names', async () => {
      // The new process does not know this tool, and its answer does not matter here.
      await host.call('tool_execute', { tool_id: before, args: { text: 'hi' } });
      const id = echoOf(await browse(host, '/fickle'));
      return id === before ? undefined : id;
    });
    expect((await host.call('tool_execute', { tool_id: after, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    expect((await host.call('tool_execute', { tool_id: before, args: { text: 'hi' } })).text).toMatch(
      /^Error HYDRATE_FAILED/,
    );
  });

  it('that sends an unknown request gets an error for it, and keeps serving', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('received.jsonl', '');
    workspace.configure({ chatty: servers.fixture('--asks', 'log', '--log', log) });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/chatty/echo');
    expect((await host.call('tool_execute', { tool_id: id, args: { text: 'hi' } })).text).toBe('ok\nhi\n');
    const answer = readFileSync(log, 'utf8')
      .split('\n')
      .find((line) => line.includes('"asked"'));
    expect(JSON.parse(answer ?? '{}')).toMatchObject({ id: 'asked', error: { code: -32601 } });
  });

  it('that ignores the end of its input and SIGTERM still ends with the gateway', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ stubborn: servers.fixture('--pid-file', pids, '--ignore-eof', '--ignore-term') });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/stubborn/echo');
    await stopGateway(workspace);
    const [pid] = pidsIn(pids);
    await until('its end', () => !isAlive(pid as number));
  });
});

async function browse(host: StreamClient, path: string): Promise<string> {
  return (await host.call('tool_browse', { path })).text;
}

const echoOf = (text: string): string | undefined => /\] (fickle:echo\S+) \(tool\)/.exec(text)?.[1];
