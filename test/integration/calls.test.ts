import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GatewaySession } from '../support/gateway.ts';
import { type RpcMessage, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Covers the messages that accompany a call: progress to the client, cancellation to the server. */
describe('a call', () => {
  it('reports progress only if the client sent a progress token, and under that token', async () => {
    const host = await GatewaySession.connect(testWorkspace({ one: servers.fixture() }));
    const id = await host.toolId('/one/wait');
    const call = { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 100 } } };
    const [asked, quiet] = await Promise.all([
      host.request('tools/call', { ...call, _meta: { progressToken: 'mine' } }),
      host.request('tools/call', call),
    ]);
    expect([asked, quiet].map((answer) => answer.result?.isError ?? false)).toEqual([false, false]);
    const messages = host.lines.map((line) => JSON.parse(line) as RpcMessage & { params?: unknown });
    expect(messages.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params)).toEqual([
      { progressToken: 'mine', progress: 1, total: 2, message: 'half way' },
    ]);
  });

  it('is cancelled at its server if the client cancels it, and gets no answer', async () => {
    const workspace = testWorkspace();
    const log = workspace.write('received.jsonl', '');
    workspace.configure({ one: servers.fixture('--log', log) });
    const host = await GatewaySession.connect(workspace);
    const id = await host.toolId('/one/wait');
    void host.request('tools/call', { name: 'tool_execute', arguments: { tool_id: id, args: { ms: 60_000 } } }, 'long');
    const received = (method: string) => readFileSync(log, 'utf8').includes(`"method":"${method}"`);
    await until('the call at the server', () => received('tools/call'));
    host.notify('notifications/cancelled', { requestId: 'long', reason: 'changed my mind' });
    await until('the cancellation at the server', () => received('notifications/cancelled'));
    await host.request('tools/list');
    expect(host.lines.filter((line) => line.includes('"long"'))).toEqual([]);
  });
});
