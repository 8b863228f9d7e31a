import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HealthReport } from '../../src/control/healthContract.ts';
import { status, stopGateway, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { isAlive, pidsIn, type StreamClient, until } from '../support/hostProcess.ts';
import { servers, testWorkspace, WAYGATE } from '../support/workspace.ts';

const FAULT_SERVER = resolve('test/fixtures/faultServer.mjs');

/** Contents of results as real servers have sent them, with what a client reads. */
const ODD_RESULTS: readonly [nonce: string, content: string, shown: string][] = [
  ['a text that is an object', '[{"type":"text","text":{"answer":42}}]', '{"type":"text","text":{"answer":42}}'],
  ['a content that is a text', '"forty-two"', 'forty-two'],
  ['a content that is no list', '{"type":"text","text":["a"]}', '{"type":"text","text":["a"]}'],
  ['a part of an unknown type', '[{"type":"table","rows":[[1]]}]', '{"type":"table","rows":[[1]]}'],
  ['a part that is a text', '[{"type":"text","text":"first"},"second"]', 'first\nsecond'],
];

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

  it.each(['gateway', 'passthrough'] as const)(
    'whose results have a wrong form is understood in %s mode',
    async (mode) => {
      const workspace = testWorkspace();
      const script = {
        steps: ODD_RESULTS.map(([nonce, content]) => ({
          on: 'tools/call',
          nonce,
          do: [{ raw: `{"jsonrpc":"2.0","id":ID,"result":{"content":${content}}}` }],
        })),
      };
      const file = workspace.write('script.json', JSON.stringify(script));
      workspace.configure({ odd: { command: process.execPath, args: [FAULT_SERVER, '--script-file', file] } });
      const client = new Client({ name: 'sdk', version: '1.0.0' });
      const command = [WAYGATE, 'serve', '--workspace', workspace.folder, '--mode', mode];
      const env = workspace.env as Record<string, string>;
      await client.connect(new StdioClientTransport({ command: process.execPath, args: command, env }) as Transport);
      onTestFinished(() => client.close());
      const act = async (nonce: string): Promise<string> => {
        const params =
          mode === 'passthrough'
            ? { name: 'act', arguments: { nonce } }
            : { name: 'tool_execute', arguments: { tool_id: 'odd:act', args: { nonce } } };
        const { content, isError } = (await client.callTool(params)) as {
          content: { text?: string }[];
          isError?: true;
        };
        expect(isError).toBeFalsy();
        return content.map(({ text }) => text).join('\n');
      };
      for (const [nonce, , shown] of ODD_RESULTS) expect(await act(nonce)).toContain(shown);
      expect(await act('a sound result')).toContain('a sound result');
      const { stdout } = await waygate(workspace, ['health', '--json']);
      expect((JSON.parse(stdout) as HealthReport).servers[0]?.oddities).toEqual([
        { kind: 'bad_result', count: ODD_RESULTS.length, words: expect.any(String) },
      ]);
    },
  );

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
