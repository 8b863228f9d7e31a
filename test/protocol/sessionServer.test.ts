import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SessionMemory } from '../../src/protocol/movingSession.ts';
import { serveSession } from '../../src/protocol/sessionServer.ts';
import type { SurfaceCall } from '../../src/protocol/sessionSurface.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** A session over a real socket, whose one tool does what the test has it do. */
async function session(
  tool: (call: SurfaceCall) => void,
  memory?: SessionMemory,
): Promise<{ lines: string[]; say(message: object): void; call(id: string): void }> {
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
    ...(memory ? { memory } : {}),
  });
  onTestFinished(() => {
    client.destroy();
    listener.close();
  });
  const lines: string[] = [];
  createInterface({ input: client }).on('line', (line) => void lines.push(line));
  const say = (message: object): void => {
    client.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  return { lines, say, call: (id) => say({ id, method: 'tools/call', params: { name: 'one' } }) };
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

  it('is what it remembers of a session: of a call before its answer, of a list behind it', async () => {
    let changed = (): void => undefined;
    const given: unknown[] = [];
    const memory: SessionMemory = {
      take: () => 'one call',
      watch: (_conversation, onChange) => {
        changed = onChange;
      },
      give: (_conversation, value, age) => void given.push([value, age]),
      list: (kind) => (kind === 'tools' ? 'mark' : undefined),
      settled: () => Promise.resolve(),
    };
    const { lines, say, call } = await session(() => changed(), memory);
    say({ method: 'notifications/waygate/kept', params: { kept: [['session', 'so far', 2]] } });
    call('seven');
    await until('the answer', () => lines.length === 2);
    say({ id: 'eight', method: 'tools/list' });
    await until('the list', () => lines.length === 4);
    expect(given).toEqual([['so far', 2]]);
    const said = lines.map((line) => JSON.parse(line) as { id?: string; method?: string; params?: object });
    expect(said.map(({ id, method }) => id ?? method)).toEqual([
      'notifications/waygate/keep',
      'seven',
      'eight',
      'notifications/waygate/keep',
    ]);
    expect(said[0]?.params).toEqual({ key: 'session', value: 'one call' });
    expect(said[3]?.params).toEqual({ key: 'list:tools/list', value: 'mark' });
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
