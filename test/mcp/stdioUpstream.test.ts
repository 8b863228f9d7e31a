import { PassThrough, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { StdioUpstream } from '../../src/mcp/wire/stdioUpstream.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';

function open(frameLimit?: number, output: Writable = new PassThrough()) {
  const input = new PassThrough();
  const oddities = new Oddities();
  const garbage: string[] = [];
  const heard: JSONRPCMessage[] = [];
  const errors: string[] = [];
  let closes = 0;
  const transport = new StdioUpstream({
    input,
    output,
    oddities,
    onGarbage: (sample) => void garbage.push(sample),
    ...(frameLimit === undefined ? {} : { frameLimit }),
  });
  transport.onmessage = (message) => void heard.push(message);
  transport.onerror = (error) => void errors.push(error.message);
  transport.onclose = () => {
    closes += 1;
  };
  void transport.start();
  const feed = async (bytes: string | Buffer): Promise<void> => {
    input.write(bytes);
    await new Promise((done) => setImmediate(done));
  };
  return { transport, input, output, oddities, garbage, heard, errors, feed, closes: () => closes };
}

const ask = (id: number, method = 'tools/call'): JSONRPCMessage => ({ jsonrpc: '2.0', id, method });

describe('the transport to a server over its streams', () => {
  it('skips lines that are not messages, reports their beginning, and counts them', async () => {
    const { feed, heard, garbage, oddities } = open();
    await feed(`\ufeffWelcome ${'x'.repeat(5_000)}\n\n\ufeff{"jsonrpc":"2.0","id":1,"result":{}}\r\n`);
    expect(heard).toMatchObject([{ id: 1 }]);
    expect(garbage).toEqual([`Welcome ${'x'.repeat(4_096 - 8)}`]);
    expect(oddities.toJSON()).toEqual({ byte_order_mark: 2, garbage_line: 1 });
  });

  it.each([
    ['first', `{"jsonrpc":"2.0","id":5,"result":{"id":9,"x":"${'y'.repeat(5_000)}"}}\n`],
    ['last', `{"result":{"id":9,"x":"${'y'.repeat(5_000)}"},"jsonrpc":"2.0","id":5}\n`],
    ['second to last', `{"result":{"x":"${'y'.repeat(5_000)}"},"id":5,"jsonrpc":"2.0"}\n`],
  ])('fails the call with an oversized answer, its id %s', async (_where, frame) => {
    const { feed, heard, errors, oddities } = open(1_000);
    await feed(frame);
    expect(heard).toMatchObject([{ id: 5, error: { message: expect.stringContaining('beyond the limit of 1000') } }]);
    expect(errors).toEqual([]);
    expect(oddities.toJSON()).toEqual({ frame_too_large: 1 });
  });

  it.each([
    [
      'a request of the server',
      `{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":"${'y'.repeat(5_000)}"}\n`,
    ],
    [
      'a request of the server with the id at the end',
      `{"method":"sampling/createMessage","params":"${'y'.repeat(5_000)}","jsonrpc":"2.0","id":5}\n`,
    ],
    ['an id within the result', `{"jsonrpc":"2.0","result":{"x":"${'y'.repeat(5_000)}","id":5}}\n`],
    ['an id within a text', `{"jsonrpc":"2.0","result":"${'y'.repeat(5_000)},\\"id\\":5}"}\n`],
  ])('fails no call for %s that is too long', async (_what, frame) => {
    const { feed, heard, errors } = open(1_000);
    await feed(frame);
    expect(heard).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  it('keeps a list with one tool that nests too deep, but no other answer', async () => {
    const { transport, feed, heard } = open();
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
    await transport.send(ask(1, 'tools/list'));
    await transport.send(ask(2));
    await feed(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"x":${deep}}]}}\n`);
    await feed(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"},{"x":${deep}}]}}\n`);
    expect(heard).toMatchObject([
      { id: 1, result: { tools: [{ name: 'a' }, {}] } },
      { id: 2, error: {} },
    ]);
  });

  it('answers a request of the server that is too large with an error', async () => {
    const { feed, output } = open();
    await feed('{"jsonrpc":"2.0","id":"a","method":"x","params":7}\n');
    expect(JSON.parse(String((output as PassThrough).read()))).toMatchObject({ id: 'a', error: { code: -32600 } });
  });

  it('counts a cut line, closes once, and reports which stream closed', async () => {
    const { transport, input, feed, oddities, closes } = open();
    await feed('{"jsonrpc":"2.0","id":1,');
    input.end();
    await new Promise((done) => input.once('close', done));
    expect(transport.closedBy).toBe('output');
    expect(oddities.toJSON()).toEqual({ cut_line: 1 });
    await transport.close();
    expect(closes()).toBe(1);
  });

  it('reads answers from before the input broke', async () => {
    const broken = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    const { transport, feed, heard } = open(undefined, broken);
    await transport.send(ask(1));
    await feed('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    expect(heard).toHaveLength(1);
    await new Promise<void>((done) => {
      transport.onclose = done;
    });
    expect(transport.closedBy).toBe('input');
    await expect(transport.send(ask(2))).rejects.toMatchObject({ failure: 'gone' });
  });

  it('pauses during a flood, loses nothing and keeps the order', async () => {
    const { feed, heard, transport, input } = open();
    const lines = Array.from(
      { length: 3_000 },
      (_, i) => `{"jsonrpc":"2.0","id":${i},"result":{"n":"${'x'.repeat(100)}"}}\n`,
    );
    let turns = 0;
    const counting = setInterval(() => {
      turns += 1;
    }, 0);
    await feed(lines.join(''));
    while (heard.length < lines.length) await sleep(1);
    clearInterval(counting);
    expect(heard.map((message) => (message as { id: number }).id)).toEqual(lines.map((_, i) => i));
    expect(turns).toBeGreaterThan(0);
    input.end();
    await transport.close();
  });

  it('delivers everything that was read before the pipe closed', async () => {
    const { feed, heard, input, closes } = open();
    await feed(Array.from({ length: 3_000 }, (_, i) => `{"jsonrpc":"2.0","id":${i},"result":{}}\n`).join(''));
    expect(heard.length).toBeLessThan(3_000);
    input.destroy();
    await new Promise((done) => input.once('close', done));
    expect(heard).toHaveLength(3_000);
    expect(closes()).toBe(1);
  });

  it('delivers the last progress of a call before its answer', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const client = new UpstreamClient();
    output.on('data', (chunk: Buffer) => {
      const { id, method, params } = JSON.parse(chunk.toString());
      const serverInfo = { name: 'x', version: '1' };
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
      if (method === 'initialize') input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
      if (method !== 'work') return;
      const progress = (n: number): string => {
        const progressOf = { progressToken: params._meta.progressToken, progress: n };
        return `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: progressOf })}\n`;
      };
      input.write(`${progress(1)}${progress(2)}${progress(3)}${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`);
    });
    await client.connect(new StdioUpstream({ input, output }), { onClose: () => undefined }, 5_000);
    const progresses: number[] = [];
    await client.request(
      'work',
      {},
      { timeoutMs: 5_000, onProgress: ({ progress }) => void progresses.push(progress) },
    );
    expect(progresses).toEqual([1, 2, 3]);
    await client.close();
  });

  it('reads a flooding server more slowly, and its end at once', async () => {
    const { feed, heard, oddities, input, transport } = open();
    const noise = '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n';
    // Flood until reading pauses, whatever the speed of the machine; far more than the read part is then waiting.
    let written = 0;
    while (oddities.count('throttled') === 0) {
      input.write(noise.repeat(20_000));
      written += 20_000;
      await sleep(20);
    }
    expect(heard.length).toBeLessThan(written * 0.75);
    await feed('');
    await transport.close();
    // The transport drains the pipe and drops the rest.
    input.end();
    await new Promise((done) => input.once('close', done));
  });
});
