import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { StdioUpstream } from '../../src/mcp/wire/stdioUpstream.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';

interface Asked {
  id: number;
  method: string;
  params: { protocolVersion?: string; _meta?: { progressToken?: number } };
}
type Answer = (asked: Asked, say: (message: object) => void, input: PassThrough) => void;

/** Makes a client of a server over streams with the given answers; `initialize` gets a valid one by default. */
function clientOf(answer: Answer) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  output.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) {
      const asked = JSON.parse(line) as Asked;
      if (asked.id !== undefined) answer(asked, say, input);
    }
  });
  const client = new UpstreamClient();
  const connect = () =>
    client.connect(new StdioUpstream({ input, output }), { onClose: () => undefined }, 2_000).catch((error) => error);
  return { client, connect, input };
}

async function connected(onCall: Answer) {
  const { client, connect, input } = clientOf((asked, say, stream) => {
    const { id, method, params } = asked;
    const serverInfo = { name: 'x', version: '1' };
    if (method !== 'initialize') onCall(asked, say, stream);
    else say({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
  });
  expect(await connect()).toBeUndefined();
  const call = (more = {}) =>
    client.callTool('x', {}, { timeoutMs: 2_000, ...more }).catch((error: unknown) => error) as Promise<unknown>;
  return { client, call, input };
}

/** Codes and messages that the SDK itself uses for a lost connection and a timeout. */
const SDK_LIKE: [string, { code: number; message: string; data?: unknown }][] = [
  ['-32000', { code: -32000, message: 'login failed' }],
  ["-32000, with the SDK's message", { code: -32000, message: 'Connection closed' }],
  ['-32001', { code: -32001, message: 'slow' }],
  ["-32001, like the SDK's own", { code: -32001, message: 'Request timed out', data: { timeout: 2_000 } }],
  ['-32603', { code: -32603, message: 'no', data: { why: ['a', 1] } }],
];

describe('an error answer of a server', () => {
  it.each(SDK_LIKE)('to a call is an answer, whatever its code: %s', async (_what, error) => {
    const { client, call } = await connected(({ id }, say) => say({ id, error }));
    const { code, message, data } = error;
    expect(await call()).toMatchObject({ failure: 'error', code, message, data });
    expect(client.closed).toBe(false);
    await client.close();
  });

  it.each(SDK_LIKE)('counts even if the server ends with it: %s', async (_what, error) => {
    const { call } = await connected(({ id }, say, input) => {
      say({ id, error });
      input.end();
    });
    expect(await call()).toMatchObject({ failure: 'error', code: error.code });
  });

  it.each(SDK_LIKE)('to initialize is a refusal, though the client closes: %s', async (_what, error) => {
    const { client, connect } = clientOf(({ id }, say) => say({ id, error }));
    expect(await connect()).toMatchObject({ failure: 'error', code: error.code, message: error.message });
    expect(client.closed).toBe(true);
  });
});

describe('a request', () => {
  it('fails as closed with its connection, including initialize', async () => {
    const { call } = await connected((_asked, _say, input) => input.end());
    expect(await call()).toMatchObject({ failure: 'closed' });
    expect(await call()).toMatchObject({ failure: 'closed' });
    const { connect } = clientOf((_asked, _say, input) => input.end());
    expect(await connect()).toMatchObject({ failure: 'closed' });
  });

  it('that times out is distinguished from a cancelled one', async () => {
    const { client, call } = await connected(() => undefined);
    expect(await call({ timeoutMs: 20 })).toMatchObject({ failure: 'timeout' });
    expect(await call({ signal: AbortSignal.timeout(20) })).not.toMatchObject({ failure: 'timeout' });
    await client.close();
  });
});

describe('a message that its listener cannot take', () => {
  it('ends neither the connection nor the call beside it', async () => {
    const throwing = (): never => {
      throw new Error('it cannot be read');
    };
    const [input, output] = [new PassThrough(), new PassThrough()];
    const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    output.on('data', (chunk: Buffer) => {
      const { id, method, params } = JSON.parse(chunk.toString()) as Asked;
      if (method === 'initialize') {
        const serverInfo = { name: 'x', version: '1' };
        say({ id, result: { protocolVersion: params.protocolVersion, capabilities: {}, serverInfo } });
      } else if (id !== undefined) {
        say({ method: 'notifications/message', params: { data: 7 } });
        say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
        say({ id, result: { content: [] } });
      }
    });
    const client = new UpstreamClient({ onNotification: throwing });
    await client.connect(new StdioUpstream({ input, output }), { onClose: () => undefined }, 2_000);
    expect(await client.callTool('x', {}, { timeoutMs: 2_000, onProgress: throwing })).toEqual({ content: [] });
    expect(client.closed).toBe(false);
    await client.close();
  });
});

describe('a connection', () => {
  const answering = (result: object) => clientOf(({ id }, say) => say({ id, result }));
  const serverInfo = { name: 'x', version: '1' };

  it('to a server with an unknown protocol version fails with that version', async () => {
    const { connect } = answering({ protocolVersion: '1999-12-31', capabilities: {}, serverInfo });
    expect(await connect()).toMatchObject({ failure: 'version', message: '1999-12-31' });
  });

  it('knows the name and the version that the server gives itself, if it gives any', async () => {
    const named = answering({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo });
    expect(named.client.implementation).toBeUndefined();
    await named.connect();
    expect(named.client.implementation).toEqual(serverInfo);
    const nameless = { name: '', version: '' };
    const other = answering({ protocolVersion: '2025-06-18', capabilities: {}, serverInfo: nameless });
    await other.connect();
    expect(other.client.implementation).toBeUndefined();
    for (const { client } of [named, other]) await client.close();
  });

  it('with an invalid greeting fails as a protocol error', async () => {
    const { connect } = answering({ protocolVersion: '2025-06-18', capabilities: 7, serverInfo });
    expect(await connect()).toMatchObject({ failure: 'protocol' });
  });

  it('that is closed, or was never open, takes no request and no notification', async () => {
    const { client, call } = await connected(() => undefined);
    await client.close();
    expect(await call()).toMatchObject({ failure: 'closed' });
    await expect(client.notify('notifications/x')).rejects.toMatchObject({ failure: 'closed' });
    await expect(new UpstreamClient().notify('notifications/x')).rejects.toMatchObject({ failure: 'closed' });
  });
});
