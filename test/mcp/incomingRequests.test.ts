import { type JSONRPCMessage, McpError } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { RpcError } from '../../src/errors/rpcError.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { type CallExtra, IncomingRequests } from '../../src/mcp/incomingRequests.ts';

const request = (id: number | string, method = 'tools/call', params = {}): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const cancelled = (requestId: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, reason: 'enough' },
});
const turn = () => new Promise((done) => setImmediate(done));

/** Returns requests whose answers are `answer`, with what they began and sent. */
function requests(answer: (extra: CallExtra) => Promise<object>) {
  const begun: CallExtra[] = [];
  const sent: JSONRPCMessage[] = [];
  const all = new IncomingRequests(
    async (_, extra) => {
      begun.push(extra);
      return (await answer(extra)) as Record<string, unknown>;
    },
    async (message) => void sent.push(message),
  );
  return { all, begun, sent };
}

describe('requests of a client', () => {
  it('are taken and answered; everything else is left to others', async () => {
    const { all, begun, sent } = requests(async () => ({ ok: true }));
    expect(all.take(request('a', 'tools/call', { _meta: { progressToken: 4 } }))).toBe(true);
    expect(all.take(request(2, 'unknown/method'))).toBe(true);
    expect(all.take({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBe(false);
    expect(all.take({ jsonrpc: '2.0', id: 1, result: {} })).toBe(false);
    await turn();
    expect(begun[0]).toMatchObject({ requestId: 'a', _meta: { progressToken: 4 } });
    expect(sent).toEqual([
      { jsonrpc: '2.0', id: 'a', result: { ok: true } },
      { jsonrpc: '2.0', id: 2, result: { ok: true } },
    ]);
  });

  it('do not begin if their cancellation came with them', async () => {
    const { all, sent } = requests(async ({ signal }) => {
      signal.throwIfAborted();
      throw new Error('the call has begun');
    });
    all.take(request(1));
    expect(all.take(cancelled(1))).toBe(true);
    await turn();
    expect(sent).toEqual([]);
  });

  it('are aborted by a cancellation or the end of the session, and then have no answer', async () => {
    const { promise, resolve } = deferred<object>();
    const { all, begun, sent } = requests(() => promise);
    all.take(request(1));
    all.take(request(2));
    await turn();
    expect(all.take(cancelled(7))).toBe(true);
    all.take(cancelled(1));
    expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    expect(begun[0]?.signal.reason).toBe('enough');
    all.close();
    expect(begun[1]?.signal.aborted).toBe(true);
    resolve({});
    await turn();
    expect(sent).toEqual([]);
  });

  it('are answered with the error that was thrown', async () => {
    const errors: unknown[] = [
      new McpError(-32601, 'Method not found: x'),
      new RpcError(-32602, 'no such tool', { tool: 'a' }),
      new Error('failed'),
      Object.assign(new Error('no code'), { code: 'ENOENT' }),
    ];
    const { all, sent } = requests(() => Promise.reject(errors.shift()));
    for (const id of [1, 2, 3, 4]) all.take(request(id));
    await turn();
    expect(sent.map((message) => 'error' in message && message.error)).toEqual([
      { code: -32601, message: 'MCP error -32601: Method not found: x' },
      { code: -32602, message: 'no such tool', data: { tool: 'a' } },
      { code: -32603, message: 'failed' },
      { code: -32603, message: 'no code' },
    ]);
  });
});
