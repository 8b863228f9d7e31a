import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type SurfaceCall, serveSession } from '../../src/protocol/sessionServer.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** A session over a real socket, whose one tool does what the test has it do. */
async function session(tool: (call: SurfaceCall) => void): Promise<{ lines: string[]; call(id: string): void }> {
  const path = join(temporaryFolder('wg-session-'), 's');
  const listener = createServer().listen(path);
  await once(listener, 'listening');
  const accepted = once(listener, 'connection');
  const client = connect(path);
  const [socket] = (await accepted) as [Socket];
  serveSession(socket, {
    serverInfo: { name: 'x', title: 'X', version: '1' },
    capabilities: { tools: {}, logging: {} },
    instructions: '',
    listTools: () => [],
    callTool: async (_name, _args, call) => {
      tool(call);
      return { content: [] };
    },
  });
  onTestFinished(() => {
    client.destroy();
    listener.close();
  });
  const lines: string[] = [];
  createInterface({ input: client }).on('line', (line) => void lines.push(line));
  const call = (id: string): void => {
    client.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'one' } })}\n`);
  };
  return { lines, call };
}

describe('what a worker tells its host alone', () => {
  it('names the contract of a call before the call is answered', async () => {
    const { lines, call } = await session((one) => one.contract?.('convergent'));
    call('seven');
    await until('the answer', () => lines.length === 2);
    expect(JSON.parse(lines[0] as string)).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/waygate/contract',
      params: { id: 'seven', contract: 'convergent' },
    });
    expect(JSON.parse(lines[1] as string)).toMatchObject({ id: 'seven', result: { content: [] } });
  });

  it('is not for a server to say', async () => {
    const { lines, call } = await session(({ peer }) => {
      peer?.notify('notifications/waygate/stopped');
      peer?.notify('notifications/message', { level: 'info', data: 'hello' });
    });
    call('seven');
    await until('the answer', () => lines.some((line) => line.includes('"result"')));
    const said = lines.map((line) => (JSON.parse(line) as { method?: string }).method);
    expect(said.filter(Boolean)).toEqual(['notifications/message']);
  });
});
