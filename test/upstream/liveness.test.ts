import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StdioUpstream } from '../../src/mcp/wire/stdioUpstream.ts';
import { UpstreamClient, UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { ranOutOfTime, showsLife } from '../../src/upstream/connection/liveness.ts';

/** Connects a client to a server that answers `ping` as given. */
async function connected(onPing: (id: number, say: (message: object | string) => void) => void) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (message: object | string): void => {
    input.write(typeof message === 'string' ? message : `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const { id, method, params } = JSON.parse(line);
      if (method === 'ping') onPing(id, say);
      if (method !== 'initialize') continue;
      const serverInfo = { name: 'x', version: '1' };
      say({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
    }
  });
  const client = new UpstreamClient();
  await client.connect(new StdioUpstream({ input, output }), { onClose: () => undefined }, 5_000);
  return { client, input };
}

describe('a server that missed a deadline', () => {
  it.each<[string, (id: number, say: (message: object | string) => void) => void, boolean]>([
    ['answers', (id, say) => say({ id, result: {} }), true],
    ['does not know ping', (id, say) => say({ id, error: { code: -32601, message: 'no' } }), true],
    ['sends something else', (_id, say) => say({ method: 'notifications/message', params: { data: 'busy' } }), true],
    ['sends nothing', () => undefined, false],
    ['sends an invalid message', (_id, say) => say('still working\n'), false],
    ['sends an unreadable line', (id, say) => say(`{"jsonrpc":"2.0","id":${id},"result":{"a"{\n`), false],
  ])('and %s: shows life %s', async (_what, onPing, alive) => {
    const { client } = await connected(onPing);
    expect(await showsLife(client, 100)).toBe(alive);
    await client.close();
  });

  it('and has already closed needs no check', async () => {
    const { client, input } = await connected(() => undefined);
    const verdict = showsLife(client, 5_000);
    input.end();
    expect(await verdict).toBe(true);
  });
});

describe('an ended request', () => {
  const error = (failure: 'timeout' | 'error' | 'aborted'): Error => new UpstreamRequestError(failure, 'x');
  const named = (name: string): AbortSignal => AbortSignal.abort(Object.assign(new Error('x'), { name }));

  it("timed out by its own limit or by its caller's deadline, not by a cancellation", () => {
    expect(ranOutOfTime(error('timeout'), undefined)).toBe(true);
    expect(ranOutOfTime(error('error'), named('DeadlineError'))).toBe(true);
    expect(ranOutOfTime(error('aborted'), named('TimeoutError'))).toBe(true);
    expect(ranOutOfTime(error('aborted'), named('CancelledError'))).toBe(false);
    expect(ranOutOfTime(error('error'), new AbortController().signal)).toBe(false);
    expect(ranOutOfTime(new Error('x'), undefined)).toBe(false);
  });
});
